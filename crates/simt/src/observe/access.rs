//! An access of memory: by which thread, of what kind, in what order, at what scope.

use std::fmt;

use collectives::Rank;
use serde::{Deserialize, Serialize};

/// A GPU thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ThreadId {
    /// The rank that launched it.
    pub rank: Rank,
    /// The index of its block in the grid.
    pub block: u32,
    /// Its index in the block, from 0.
    pub thread: u32,
}

impl ThreadId {
    /// A number that no other thread of a run has.
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

/// The ways in which a thread accesses memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    /// A plain load, neither atomic nor volatile.
    Read,
    /// A plain store, neither atomic nor volatile.
    Write,
    /// A load through a volatile pointer.
    VolatileRead,
    /// A store through a volatile pointer.
    VolatileWrite,
    /// An atomic load of any order and scope.
    AtomicLoad,
    /// An atomic store of any order and scope.
    AtomicStore,
    /// An atomic read-modify-write, such as a fetch-and-add or a compare-and-swap.
    AtomicUpdate,
    /// A store of data and flag as one unit that is never seen in part (a packet).
    PacketStore,
    /// A load of a packet.
    PacketLoad,
    /// Not an access by itself: the packet just loaded is the one that the thread waited for.
    PacketMatch,
}

impl Operation {
    /// Whether it may change memory.
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

/// The memory order of an atomic or a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// It orders no other access.
    Relaxed,
    /// What the writer had released is visible behind it.
    Acquire,
    /// What came before it is visible to those who acquire it.
    Release,
    /// Both acquire and release.
    AcquireRelease,
    /// Both, and all such operations have one total order.
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

/// The set of threads for which an atomic or a fence orders accesses, seen from its own thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Scope {
    /// The threads of its wave.
    Wave,
    /// The threads of its block.
    Block,
    /// The threads of its rank: a rank is one GPU.
    Agent,
    /// The threads of all ranks.
    System,
}

/// One access of memory by one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// The thread that accesses memory.
    pub thread: ThreadId,
    /// How it does.
    pub operation: Operation,
    /// The memory order; relaxed for plain accesses.
    pub order: Order,
    /// The scope; system for plain accesses.
    pub scope: Scope,
    /// The address of the first byte. That of block-shared memory is made up, see
    /// [`shared_memory_at`](crate::shared_memory_at).
    pub address: usize,
    /// The number of bytes.
    pub size: u32,
    /// The offset of the instruction in the object, in bytes.
    pub site: usize,
}
