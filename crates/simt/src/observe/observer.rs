//! What an observer sees: every event of every thread, before it takes effect.

use std::ops::Range;

use collectives::Rank;

use super::access::{Access, Order, Scope, ThreadId};

/// Watches a run. Each method is called before the event takes effect, on the OS thread of the run;
/// threads are switched before an event is reported, never between the report and the event.
pub trait Observer {
    /// The addresses whose plain accesses it wants to see. Asked once, before the run.
    fn watches(&self) -> Range<usize>;
    /// Whether it wants to see accesses of block-shared memory too. Asked once, before the run.
    fn watches_shared_memory(&self) -> bool;
    /// A thread is about to make a plain or volatile access. Only objects built as observed report
    /// these.
    fn access(&mut self, access: &Access);
    /// A thread is about to make an atomic access or one of a packet.
    fn atomic(&mut self, access: &Access);
    /// A thread is about to execute a fence. `site` is its offset in the object.
    fn fence(&mut self, thread: ThreadId, order: Order, scope: Scope, site: usize);
    /// Threads of a block have met at a barrier: those of `threads`, the whole block or one wave of
    /// it, that have not returned.
    fn barrier(&mut self, rank: Rank, call: u32, block: u32, threads: Range<u32>);
    /// A thread has returned.
    fn exit(&mut self, thread: ThreadId);
    /// A rank's call has ended, and its host is about to read these addresses: whatever the call's threads
    /// stored must be visible.
    fn call_ends(&mut self, _rank: Rank, _call: u32, _read: &[Range<usize>]) {}
    /// A rank's call that follows another one is about to begin, and its host to write these addresses.
    fn call_begins(&mut self, _rank: Rank, _call: u32, _written: &[Range<usize>]) {}
    /// A thread is about to begin or to go on.
    fn enters(&mut self, thread: ThreadId);
    /// The running thread has given way. An observer that delays stores returns the address of one
    /// that it makes visible now, if it does.
    fn leaves(&mut self) -> Option<usize>;
    /// No thread can go on, or all have returned: every delayed store must become visible. Returns
    /// whether there was one.
    fn settle(&mut self) -> bool;
}

/// An observer that sees nothing: for runs of which only the memory matters.
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
    fn barrier(&mut self, _: Rank, _: u32, _: u32, _: Range<u32>) {}
    fn exit(&mut self, _: ThreadId) {}
    fn enters(&mut self, _: ThreadId) {}
    fn leaves(&mut self) -> Option<usize> {
        None
    }
    fn settle(&mut self) -> bool {
        false
    }
}
