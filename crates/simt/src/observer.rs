//! What an observer sees: every event of every thread, before it takes effect.

use std::fmt;
use std::ops::Range;

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

/// Watches a run. Called before the event takes effect and never between it and its check.
pub trait Observer {
    /// The addresses whose plain accesses it wants to see.
    fn watches(&self) -> Range<usize>;
    /// Whether it wants to see block-shared memory too, at addresses of its own.
    fn watches_shared_memory(&self) -> bool;
    /// A plain or volatile access. Only objects built as observed report these.
    fn access(&mut self, access: &Access);
    /// An atomic access.
    fn atomic(&mut self, access: &Access);
    /// A fence.
    fn fence(&mut self, thread: ThreadId, order: Order, scope: Scope, site: usize);
    /// Those of these threads of a block that still run met: the whole block, or a wave of it.
    fn barrier(&mut self, rank: Rank, block: u32, threads: Range<u32>);
    /// A thread ended.
    fn exit(&mut self, thread: ThreadId);
    /// A thread begins or goes on.
    fn enters(&mut self, thread: ThreadId);
    /// The running thread gives way. Answers the address of a store that now shows, if one does.
    fn leaves(&mut self) -> Option<usize>;
    /// Nobody can go on, or all have ended: every store shows. Answers whether one did not before.
    fn settle(&mut self) -> bool;
}

/// Sees nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn watches(&self) -> Range<usize> {
        0..0
    }
    fn watches_shared_memory(&self) -> bool {
        false
    }
    fn access(&mut self, _: &Access) {}
    fn atomic(&mut self, _: &Access) {}
    fn fence(&mut self, _: ThreadId, _: Order, _: Scope, _: usize) {}
    fn barrier(&mut self, _: Rank, _: u32, _: Range<u32>) {}
    fn exit(&mut self, _: ThreadId) {}
    fn enters(&mut self, _: ThreadId) {}
    fn leaves(&mut self) -> Option<usize> {
        None
    }
    fn settle(&mut self) -> bool {
        false
    }
}
