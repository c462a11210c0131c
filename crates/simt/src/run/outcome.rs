//! What a run left, memory aside.

use collectives::Rank;
use collectives::draw::mix;
use serde::{Deserialize, Serialize};

use super::violation::Violation;
use crate::object::launch_record::LaunchRecord;
use crate::observe::access::ThreadId;

/// What one rank's launch left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankOutcome {
    /// The rank.
    pub rank: Rank,
    /// The number of its call among those of the run, from 0.
    pub call: u32,
    /// The number of threads that returned.
    pub threads_finished: u64,
    /// What the kernel wrote about its launch; absent where it wrote nothing.
    pub record: Option<LaunchRecord>,
}

/// The kinds of things that a thread can wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Wait {
    /// It waits for the other threads of its block at a barrier.
    Barrier,
    /// It waits for the other threads of its wave.
    Wave,
    /// It waits for memory to change.
    Memory,
}

/// A thread that cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// The thread.
    pub thread: ThreadId,
    /// What it waits for.
    pub wait: Wait,
    /// The offset of the instruction in the rank's object, in bytes.
    pub site: usize,
    /// The address that it reads; absent at barriers and where it is not known.
    pub address: Option<usize>,
    /// The number of bytes that it reads there; 0 where that is not known.
    pub size: u32,
    /// The value that stands there now; absent where the address or the size is not known.
    pub value: Option<u64>,
    /// The value that it was compared with last; absent where that is not known.
    pub awaited: Option<u64>,
}

/// Threads of one block that met at different barriers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Divergence {
    /// One of the threads, and the offset of its barrier in the object.
    pub one: (ThreadId, usize),
    /// Another one, and the offset of its barrier.
    pub other: (ThreadId, usize),
}

/// Why it is not known how a wait could have gone on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unexplored {
    /// It counts, and still waited after as many looks as it was given.
    GivesUpLate,
    /// It gave up in the looks that tell whether it does.
    GivesUpEarly,
    /// Looking changes memory.
    Writes,
}

/// A wait that may end by itself, of which not every end was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenWait {
    /// The thread that waits.
    pub thread: ThreadId,
    /// The offset of the instruction in the rank's object, in bytes.
    pub site: usize,
    /// What was not tried.
    pub why: Unexplored,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// Every thread has returned.
    Finished,
    /// No thread can go on. Listed is one waiting thread for each rank, block and place, at most 64.
    Deadlock(Vec<Waiting>),
}

/// At most this many waiting threads are listed, one a (rank, block, site).
pub(crate) const LISTED: usize = 64;

/// What a run left, apart from what stands in memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// What each launch left, in the order of the launches.
    pub ranks: Vec<RankOutcome>,
    /// How the run ended.
    pub end: End,
    /// Barriers at which threads of one block met from different places in the code, at most 64.
    pub divergences: Vec<Divergence>,
    /// What no GPU would have let pass, one for each place in the code.
    pub violations: Vec<Violation>,
    /// Waits that may end by themselves, of which not every end was tried, one for each place, at most 64.
    pub open_waits: Vec<OpenWait>,
    /// The hash of the interleaving: which thread ran in which step up to which place.
    pub schedule_hash: u64,
    /// The number of times that a thread was picked.
    pub steps: u64,
}

impl Outcome {
    /// Adds what launches left that ran behind these.
    pub fn append(&mut self, next: Outcome) {
        let Outcome { ranks, end, divergences, violations, open_waits, schedule_hash, steps } =
            next;
        self.ranks.extend(ranks);
        if self.end == End::Finished {
            self.end = end;
        }
        self.divergences.extend(divergences);
        self.violations.extend(violations);
        self.open_waits.extend(open_waits);
        self.schedule_hash = mix(self.schedule_hash ^ schedule_hash);
        self.steps += steps;
    }
}
