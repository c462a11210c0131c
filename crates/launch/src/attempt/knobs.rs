//! All that may differ from one attempt of a case to the next.

use std::collections::BTreeSet;

use collectives::Rank;
use device::{Caches, WatchedByte};

use crate::schedules::Interleaves;

/// How to attempt a case.
#[derive(Debug, Clone)]
pub struct Knobs {
    /// The ranks that take part in some call, in the order in which they run where they run one after
    /// another.
    pub order: Vec<Rank>,
    /// The seed of the schedule, where ranks run at once.
    pub seed: u64,
    /// Which of the interleavings that the seed leaves open.
    pub interleaves: Interleaves,
    /// Whether a rank's next call begins when its own has ended, where the kernel bears that.
    pub overlap: bool,
    /// Whose writers are wanted.
    pub watch: Watch,
    /// How launches are timed; absent where they are not.
    pub timing: Option<Timing>,
}

/// How launches are timed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// What caches hold when a launch begins.
    pub caches: Caches,
    /// The calls whose heaps are compared; the last one always is.
    pub compared: BTreeSet<usize>,
}

/// Bytes whose writers are wanted; for observed objects and one process only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Watch {
    /// No byte is watched.
    #[default]
    Nothing,
    /// These bytes are watched.
    Bytes(Vec<WatchedByte>),
    /// The first byte of every element of every output: none may be written twice.
    EveryOutput,
}

impl Knobs {
    /// The first seed's own schedule of ranks in this order; nothing is watched.
    pub fn new(order: Vec<Rank>) -> Knobs {
        let (interleaves, watch) = (Interleaves::seed(), Watch::Nothing);
        Knobs { order, seed: 0, interleaves, overlap: true, watch, timing: None }
    }

    /// Whether heaps are compared after call number `call` of so many.
    pub(super) fn compares(&self, call: usize, calls: usize) -> bool {
        let timing = self.timing.as_ref();
        call + 1 == calls || timing.is_none_or(|timing| timing.compared.contains(&call))
    }
}
