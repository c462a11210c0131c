//! What an attempt left.

use std::ops::Range;

use collectives::Finding;
use device::Measured;
use simt::{Recorded, ThreadId, Unexplored, Write};
use verdict::Effective;

/// What happened in an attempt. What is wrong is in the findings; whether that is a verdict is for others
/// to say.
#[derive(Debug, Default)]
pub struct Ran {
    /// What is wrong, up to the first call in which something is.
    pub findings: Vec<Finding>,
    /// Kernel launches, added up over ranks and calls.
    pub launches: u64,
    /// The calls that were launched, in order.
    pub calls: Vec<CallRan>,
    /// A hash of the interleavings of all calls.
    pub schedule_hash: u64,
    /// How they went, where the knobs ask for it: the first of the calls that ran together, and the record.
    pub recorded: Vec<(usize, Recorded)>,
    /// Waits that may end by themselves, of which not every end was tried, in words; with what was not.
    pub open_waits: Vec<(Unexplored, String)>,
    /// The threads that the findings of the last launch are about.
    pub involved: Vec<ThreadId>,
    /// The last write of each watched byte in the last launch.
    pub writes: Vec<Option<Write>>,
}

/// A call that was launched.
#[derive(Debug, Clone, Default)]
pub struct CallRan {
    /// What ran; absent where no launch ended well.
    pub effective: Option<Effective>,
    /// By process of the call, when it entered and left the kernel, in nanoseconds of the monotonic clock.
    pub inside: Vec<Range<u64>>,
    /// Whether all processes were inside at one time; absent where one process hosts all ranks or a launch
    /// did not end well.
    pub overlapped: Option<bool>,
    /// What it took, by process of the call; empty where it was not timed or a launch did not end well.
    pub measured: Vec<Measured>,
}

impl CallRan {
    /// Seconds that the slowest process spent inside the kernel.
    pub fn kernel_seconds(&self) -> f64 {
        let spent = self.inside.iter().map(|inside| inside.end.saturating_sub(inside.start));
        spent.max().unwrap_or(0) as f64 / 1e9
    }
}

impl Ran {
    /// Whether nothing is wrong.
    pub fn is_right(&self) -> bool {
        self.findings.is_empty()
    }

    /// Seconds inside kernels: the slowest process of each call, added up.
    pub fn kernel_seconds(&self) -> f64 {
        self.calls.iter().map(CallRan::kernel_seconds).sum()
    }

    /// Whether all processes were inside the kernel at one time in every call that says so; absent where
    /// none does.
    pub fn overlapped(&self) -> Option<bool> {
        self.calls.iter().filter_map(|call| call.overlapped).reduce(|all, one| all && one)
    }
}
