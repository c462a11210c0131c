//! What a run left, memory aside.

use collectives::Rank;
use serde::{Deserialize, Serialize};

use super::violation::Violation;
use crate::object::launch_record::LaunchRecord;
use crate::observe::access::ThreadId;

/// One rank's launch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankOutcome {
    /// Whose.
    pub rank: Rank,
    /// Threads that returned.
    pub threads_finished: u64,
    /// What the kernel wrote about itself.
    pub record: Option<LaunchRecord>,
}

/// What a thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Wait {
    /// The other threads of its block.
    Barrier,
    /// The other threads of its wave.
    Wave,
    /// Memory to change.
    Memory,
}

/// A thread that cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Who.
    pub thread: ThreadId,
    /// For what.
    pub wait: Wait,
    /// Offset of the instruction in the rank's object.
    pub site: usize,
    /// Address that it reads, where that is known.
    pub address: Option<usize>,
    /// Bytes that it reads there; 0 where that is not known.
    pub size: u32,
    /// What stands there now, where its size is known.
    pub value: Option<u64>,
    /// What it was compared with last, where that is known.
    pub awaited: Option<u64>,
}

/// Threads of one block that met at different barriers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Divergence {
    /// A thread, and the offset of its barrier in the object.
    pub one: (ThreadId, usize),
    /// Another, at another.
    pub other: (ThreadId, usize),
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// Every thread returned.
    Finished,
    /// No thread can go on; who waits where (one a rank, block and place).
    Deadlock(Vec<Waiting>),
}

/// At most this many waiting threads are listed, one a (rank, block, site).
pub(crate) const LISTED: usize = 64;

/// What a run left, memory aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// By launch.
    pub ranks: Vec<RankOutcome>,
    /// How it ended.
    pub end: End,
    /// Barriers at which threads of one block met from different places.
    pub divergences: Vec<Divergence>,
    /// What no GPU would let pass, one a place.
    pub violations: Vec<Violation>,
    /// Of the interleaving: which thread ran in which step up to which place.
    pub schedule_hash: u64,
    /// Times that a thread was picked.
    pub steps: u64,
}
