//! What happens in a run: one stream of events, which reporters fold.
//!
//! The names of fields are part of the machine interface (`rankcheck.run/1`).

use collectives::{Collective, DType, Finding, Tile};
use kernels::DeviceName;
use scenario::{Mode, Reason};
use serde::{Deserialize, Serialize};

/// The judgement on a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every byte of every rank's heap is right, in every order that was run.
    Pass,
    /// Something is wrong; the findings say what.
    Fail,
    /// It cannot run here; the reason says what it needs.
    Unsupported,
    /// The run ended before it.
    NotRun,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// First of all.
    RunStarted {
        /// Where.
        environment: Environment,
        /// How many cases follow.
        selected: usize,
    },
    /// A case is judged.
    CaseFinished(Box<CaseResult>),
    /// Last of all.
    RunFinished(Summary),
}

/// Where a run takes place: hardware, versions, commit. Nothing about who.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// Of rankcheck.
    pub rankcheck: String,
    /// Operating system and kernel version.
    pub system: String,
    /// Processor and cores, or GPU.
    pub hardware: String,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// What compiles kernels.
    pub compiler: Option<String>,
    /// Commit of the working tree, where there is one.
    pub commit: Option<String>,
    /// Whether the working tree differs from its commit.
    pub dirty: Option<bool>,
}

/// How a run went.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Cases.
    pub selected: usize,
    /// Verdict pass.
    pub passed: usize,
    /// Verdict fail.
    pub failed: usize,
    /// Verdict unsupported.
    pub unsupported: usize,
    /// Verdict not_run.
    pub not_run: usize,
    /// Distinct problems among the cases.
    pub problems: usize,
    /// Calls judged, over all orders.
    pub calls: u64,
    /// Kernel launches, over all ranks, calls and orders.
    pub launches: u64,
    /// Objects compiled now rather than found in the cache.
    pub compiled: usize,
    /// Wall time.
    pub duration_s: f64,
    /// Whether it was interrupted.
    pub interrupted: bool,
}

/// A judged case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseResult {
    /// Its id.
    pub id: String,
    /// Its scenario.
    pub scenario: String,
    /// Where the scenario stands.
    pub location: Location,
    /// What it claims to do.
    pub collective: Collective,
    /// The kernel.
    pub kernel: String,
    /// Its variant.
    pub variant: String,
    /// What was judged.
    pub source: Source,
    /// How ranks existed.
    pub mode: Mode,
    /// What ran the kernel.
    pub device: DeviceName,
    /// By rank, the GPU that it ran on; several ranks may share one. Empty on a CPU.
    #[serde(default)]
    pub gpus: Vec<u32>,
    /// How many ranks existed.
    pub ranks: u32,
    /// Key of the fill.
    pub seed: u64,
    /// In how many orders of ranks it ran.
    pub orders: usize,
    /// Under how many schedules it ran co-resident (0: rank after rank, or in processes).
    pub schedules: usize,
    /// How many of them failed.
    pub schedules_failed: usize,
    /// Seed of the first schedule that failed.
    pub failing_schedule: Option<u64>,
    /// The switches that make the failing schedule, of those that its seed could make; null where
    /// it is the seed's own.
    pub switches: Option<String>,
    /// How many interleavings there are, where all of them ran.
    pub complete: Option<u64>,
    /// How many times it ran with one rank late at one place (process mode, where asked for).
    pub delays: usize,
    /// How many of them failed.
    pub delays_failed: usize,
    /// Hash of the interleavings of all calls, of the first schedule that failed or else of the
    /// last one.
    pub schedule_hash: Option<String>,
    /// Whether data races were looked for.
    pub race: bool,
    /// The judgement.
    pub verdict: Verdict,
    /// Why it did not run.
    pub reason: Option<Reason>,
    /// Its calls.
    pub calls: Vec<CallResult>,
    /// Kernel launches, over all ranks, calls and orders.
    pub launches: u64,
    /// Whether all ranks were inside the kernel at one time in every call (process mode).
    pub overlapped: Option<bool>,
    /// Wall time.
    pub duration_s: f64,
    /// Of it, inside kernels: the longest of the processes, added up over calls and orders.
    pub kernel_s: f64,
    /// A command that runs it again.
    pub replay: String,
    /// What a pass of it does not prove.
    pub not_proved: Vec<String>,
    /// What is wrong.
    pub findings: Vec<Finding>,
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// The file.
    pub file: String,
    /// From 1.
    pub line: u64,
}

/// The identity of what was judged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The source file.
    pub path: String,
    /// Commit of the working tree, where there is one.
    pub commit: Option<String>,
    /// Whether the working tree differs from its commit.
    pub dirty: Option<bool>,
    /// Hash of the source.
    pub sha256: String,
}

/// A call: what was asked for, and what ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallResult {
    /// Who takes part, as ids spell it.
    pub group: String,
    /// Element type.
    pub dtype: DType,
    /// Reduction, for those that have one.
    pub op: Option<String>,
    /// Rows x columns a rank.
    pub shape: [u64; 2],
    /// What the scenario asked for; null is the variant's default.
    pub requested: RequestedLaunch,
    /// What ran; null where it did not.
    pub effective: Option<Effective>,
}

/// What a scenario asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestedLaunch {
    /// The tile.
    pub tile: Option<Tile>,
    /// The blocks.
    pub blocks: Option<u32>,
    /// The threads a block; null leaves them to the manifest.
    pub threads: Option<u32>,
}

/// What ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effective {
    /// The entry.
    pub entry: String,
    /// The tile.
    pub tile: Tile,
    /// The blocks.
    pub blocks: u32,
    /// The threads a block.
    pub threads: u32,
    /// The group's size.
    pub group_size: u32,
    /// Who says so: `kernel` (it wrote a launch record) or `executor` (what it was launched with).
    pub source: String,
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
            * (result.orders + result.schedules).max(1) as u64
            * u64::from(result.launches > 0);
    }
}
