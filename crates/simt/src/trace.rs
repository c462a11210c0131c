//! What happened in a run: who went on when, and what each thread did.

use std::collections::VecDeque;
use std::ops::Range;

use collectives::Rank;
use serde::{Deserialize, Serialize};

use crate::next::{Act, Next};
use crate::observer::{Access, Observer, Order, Scope, ThreadId};
use crate::schedule::{Idle, Live, Look, Ready, Schedule, Switches};
use crate::turns::{Steps, Turn, by_itself};

/// No more events than this are kept, the last ones.
const KEPT: usize = 20_000;

/// A thread that was picked, and what it did first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Who.
    pub thread: ThreadId,
    /// What.
    pub next: Next,
    /// Who else could have been picked, and would have done what.
    pub others: Vec<(ThreadId, Next)>,
}

/// How a run went.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// Step by step, where the run is one of an exploration.
    pub steps: Vec<Step>,
    /// The step from which on nobody was left to pick whose steps had not come here already in
    /// another interleaving.
    pub redundant: Option<usize>,
    /// Where somebody else went on than would have by himself.
    pub turns: Vec<Turn>,
    /// What the threads did, the last of it.
    pub events: Vec<(ThreadId, Next)>,
}

/// A schedule whose turns are noted.
#[expect(missing_debug_implementations, reason = "it borrows any schedule")]
pub struct Recorder<'a> {
    schedule: &'a mut dyn Schedule,
    steps: Steps,
    turns: Vec<Turn>,
}

impl<'a> Recorder<'a> {
    /// Records `schedule`.
    pub fn new(schedule: &'a mut dyn Schedule) -> Recorder<'a> {
        Recorder { schedule, steps: Steps::default(), turns: Vec::new() }
    }

    /// Where somebody else went on than would have by himself.
    pub fn into_turns(self) -> Vec<Turn> {
        self.turns
    }
}

impl Schedule for Recorder<'_> {
    fn live(&self) -> Live {
        self.schedule.live()
    }
    fn resident_blocks(&self) -> u32 {
        self.schedule.resident_blocks()
    }
    fn admits_when_stuck(&self) -> bool {
        self.schedule.admits_when_stuck()
    }
    fn idle(&self) -> Idle {
        self.schedule.idle()
    }
    fn switches(&self) -> Switches {
        self.schedule.switches()
    }
    fn pick(&mut self, ready: &VecDeque<Ready>, going: Option<usize>, look: Look<'_>) -> usize {
        let pick = self.schedule.pick(ready, going, look);
        let to = ready[pick].thread;
        if pick != by_itself(going) {
            self.turns.push(Turn { after: self.steps.last(), to });
        }
        self.steps.count(to);
        pick
    }
}

/// An observer whose events are noted.
#[expect(missing_debug_implementations, reason = "it borrows any observer")]
pub struct Log<'a> {
    observer: &'a mut dyn Observer,
    watched: Range<usize>,
    events: VecDeque<(ThreadId, Next)>,
}

impl<'a> Log<'a> {
    /// Notes what `observer` sees, and every access to these addresses, which hold all that it
    /// watches.
    pub fn new(observer: &'a mut dyn Observer, watched: Range<usize>) -> Log<'a> {
        Log { observer, watched, events: VecDeque::new() }
    }

    /// What it saw.
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
    fn barrier(&mut self, rank: Rank, block: u32, threads: Range<u32>) {
        for thread in threads.clone() {
            self.note(ThreadId { rank, block, thread }, Act::Barrier, 0, 0, 0);
        }
        self.observer.barrier(rank, block, threads);
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
