//! What an observer sees: every event of every thread, before it takes effect.

use std::ops::Range;

use collectives::Rank;

use super::access::{Access, Order, Scope, ThreadId};

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
