//! An access of memory: by which thread, of what kind, in what order, at what scope.

use std::fmt;

use collectives::Rank;
use serde::{Deserialize, Serialize};

/// A GPU thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ThreadId {
    /// Its rank.
    pub rank: Rank,
    /// Its block.
    pub block: u32,
    /// Its index in the block.
    pub thread: u32,
}

impl ThreadId {
    /// A number of its own.
    pub(crate) fn key(self) -> u64 {
        u64::from(self.rank.0) << 56 | u64::from(self.block) << 24 | u64::from(self.thread)
    }
}

/// `r1b0t3`: rank 1, block 0, thread 3.
impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ThreadId { rank, block, thread } = self;
        write!(f, "r{rank}b{block}t{thread}")
    }
}

/// What a thread does to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    /// A plain load.
    Read,
    /// A plain store.
    Write,
    /// A volatile load.
    VolatileRead,
    /// A volatile store.
    VolatileWrite,
    /// An atomic load.
    AtomicLoad,
    /// An atomic store.
    AtomicStore,
    /// An atomic read-modify-write.
    AtomicUpdate,
    /// A store of data and flag in one unit.
    PacketStore,
    /// A load of such a unit.
    PacketLoad,
    /// The unit just loaded is the one that the thread waited for.
    PacketMatch,
}

impl Operation {
    /// Whether memory is changed.
    pub fn writes(self) -> bool {
        match self {
            Operation::Read
            | Operation::VolatileRead
            | Operation::AtomicLoad
            | Operation::PacketLoad
            | Operation::PacketMatch => false,
            Operation::Write
            | Operation::VolatileWrite
            | Operation::AtomicStore
            | Operation::AtomicUpdate
            | Operation::PacketStore => true,
        }
    }
}

/// Memory order of an atomic or a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// No order.
    Relaxed,
    /// Loads acquire.
    Acquire,
    /// Stores release.
    Release,
    /// Both.
    AcquireRelease,
    /// Both, and one total order.
    SequentiallyConsistent,
}

impl Order {
    /// Whether what others released before is visible after it.
    pub fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcquireRelease | Order::SequentiallyConsistent)
    }

    /// Whether what came before it is visible to those who acquire it.
    pub fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcquireRelease | Order::SequentiallyConsistent)
    }
}

/// Which threads an atomic or a fence takes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Scope {
    /// The wave.
    Wave,
    /// The block.
    Block,
    /// The rank's GPU.
    Agent,
    /// Every rank.
    System,
}

/// One access of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// Who.
    pub thread: ThreadId,
    /// What.
    pub operation: Operation,
    /// Order; relaxed for plain accesses.
    pub order: Order,
    /// Scope; system for plain accesses.
    pub scope: Scope,
    /// First byte.
    pub address: usize,
    /// Bytes.
    pub size: u32,
    /// Offset of the instruction in its object.
    pub site: usize,
}
