//! What happens in a run: one stream of events, which reporters fold.

use serde::{Deserialize, Serialize};

use crate::{CaseResult, Verdict};

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The first event of a run.
    RunStarted {
        /// Where the run takes place.
        environment: Environment,
        /// How many cases follow.
        selected: usize,
    },
    /// A case has its verdict.
    CaseFinished(Box<CaseResult>),
    /// The last event of a run.
    RunFinished(Summary),
}

/// Where a run takes place: hardware, versions, commit. Nothing about the user or the host's name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// The version of rankcheck.
    pub rankcheck: String,
    /// The operating system and its kernel's version.
    pub system: String,
    /// The processor and the number of its cores, or the GPU.
    pub hardware: String,
    /// The machine's memory, in bytes.
    pub memory_bytes: u64,
    /// The compiler that kernels are built with; absent where nothing is built.
    pub compiler: Option<String>,
    /// The commit of the working tree, where there is one.
    pub commit: Option<String>,
    /// Whether the working tree differs from its commit, where there is one.
    pub dirty: Option<bool>,
}

/// How a run went, in numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// How many cases were selected.
    pub selected: usize,
    /// How many of them passed.
    pub passed: usize,
    /// How many of them failed.
    pub failed: usize,
    /// How many of them cannot run here.
    pub unsupported: usize,
    /// How many of them the run ended before.
    pub not_run: usize,
    /// How many distinct problems there are among the cases.
    pub problems: usize,
    /// Calls that were judged, added up over all orders and schedules.
    pub calls: u64,
    /// Kernel launches, added up over all ranks, calls, orders and schedules.
    pub launches: u64,
    /// Objects that were compiled in this run rather than found in the cache.
    pub compiled: usize,
    /// Wall time of the run, in seconds.
    pub duration_s: f64,
    /// Whether the user interrupted the run.
    pub interrupted: bool,
}

impl Summary {
    /// Counts a case.
    pub fn add(&mut self, result: &CaseResult) {
        let count = match result.verdict {
            Verdict::Pass => &mut self.passed,
            Verdict::Fail => &mut self.failed,
            Verdict::Unsupported => &mut self.unsupported,
            Verdict::NotRun => &mut self.not_run,
        };
        *count += 1;
        self.launches += result.launches;
        self.calls += result.calls.len() as u64
            * result.how.repetitions().max(1) as u64
            * u64::from(result.launches > 0);
    }
}
