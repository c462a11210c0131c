//! What the threads of a run did, the last of it.

use std::collections::VecDeque;
use std::ops::Range;

use collectives::Rank;

use super::access::{Access, Order, Scope, ThreadId};
use super::next::{Act, Next};
use super::observer::Observer;

/// No more events than this are kept, the last ones.
const KEPT: usize = 20_000;

/// An observer that keeps a log of the last events of a run and passes them on to another one.
#[expect(missing_debug_implementations, reason = "it borrows any observer")]
pub struct Log<'a> {
    observer: &'a mut dyn Observer,
    watched: Range<usize>,
    events: VecDeque<(ThreadId, Next)>,
}

impl<'a> Log<'a> {
    /// Logs what `observer` sees, and every access to the addresses `watched`, which must include
    /// those that it watches.
    pub fn new(observer: &'a mut dyn Observer, watched: Range<usize>) -> Log<'a> {
        Log { observer, watched, events: VecDeque::new() }
    }

    /// The log: what each thread did, in the order of the run.
    pub fn into_events(self) -> Vec<(ThreadId, Next)> {
        self.events.into()
    }

    fn note(&mut self, thread: ThreadId, act: Act, site: usize, address: usize, size: u32) {
        if self.events.len() == KEPT {
            self.events.pop_front();
        }
        self.events.push_back((thread, Next { act, site, address, size, waits: false }));
    }

    fn note_access(&mut self, access: &Access) {
        let Access { thread, operation, order, scope, address, size, site } = *access;
        self.note(thread, Act::Access(operation, order, scope), site, address, size);
    }
}

impl Observer for Log<'_> {
    fn watches(&self) -> Range<usize> {
        self.watched.clone()
    }
    fn watches_shared_memory(&self) -> bool {
        self.observer.watches_shared_memory()
    }
    fn access(&mut self, access: &Access) {
        self.note_access(access);
        self.observer.access(access);
    }
    fn atomic(&mut self, access: &Access) {
        self.note_access(access);
        self.observer.atomic(access);
    }
    fn fence(&mut self, thread: ThreadId, order: Order, scope: Scope, site: usize) {
        self.note(thread, Act::Fence(order, scope), site, 0, 0);
        self.observer.fence(thread, order, scope, site);
    }
    fn barrier(&mut self, rank: Rank, call: u32, block: u32, threads: Range<u32>) {
        for thread in threads.clone() {
            self.note(ThreadId { rank, call, block, thread }, Act::Barrier, 0, 0, 0);
        }
        self.observer.barrier(rank, call, block, threads);
    }
    fn call_ends(&mut self, rank: Rank, call: u32, read: &[Range<usize>]) {
        self.note(ThreadId::host(rank, call), Act::CallEnds, 0, 0, 0);
        self.observer.call_ends(rank, call, read);
    }
    fn call_begins(&mut self, rank: Rank, call: u32, written: &[Range<usize>]) {
        self.note(ThreadId::host(rank, call), Act::CallBegins, 0, 0, 0);
        self.observer.call_begins(rank, call, written);
    }
    fn exit(&mut self, thread: ThreadId) {
        self.observer.exit(thread);
    }
    fn enters(&mut self, thread: ThreadId) {
        self.observer.enters(thread);
    }
    fn leaves(&mut self) -> Option<usize> {
        self.observer.leaves()
    }
    fn settle(&mut self) -> bool {
        self.observer.settle()
    }
}
