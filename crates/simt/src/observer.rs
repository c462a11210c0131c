//! What an observer sees: every event of every thread, before it takes effect.

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

/// What a thread does to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
}

/// Memory order of an atomic or a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// Which threads an atomic or a fence takes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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
#[derive(Debug, Clone, Copy)]
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
    /// A plain or volatile access. Only objects built as observed report these.
    fn access(&mut self, access: &Access);
    /// An atomic access.
    fn atomic(&mut self, access: &Access);
    /// A fence.
    fn fence(&mut self, thread: ThreadId, order: Order, scope: Scope, site: usize);
    /// All threads of a block met at a barrier.
    fn barrier(&mut self, rank: Rank, block: u32);
    /// A thread ended.
    fn exit(&mut self, thread: ThreadId);
}

/// Sees nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn watches(&self) -> Range<usize> {
        0..0
    }
    fn access(&mut self, _: &Access) {}
    fn atomic(&mut self, _: &Access) {}
    fn fence(&mut self, _: ThreadId, _: Order, _: Scope, _: usize) {}
    fn barrier(&mut self, _: Rank, _: u32) {}
    fn exit(&mut self, _: ThreadId) {}
}
