//! A case's result.

use collectives::{Collective, DType, Finding, Tile};
use kernels::DeviceName;
use scenario::{Case, Mode, Reason};
use serde::{Deserialize, Serialize};

use crate::{How, NotProved, Replay};

/// The judgement on a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every byte of every rank's heap is right, in every order and schedule that ran.
    Pass,
    /// Something is wrong; the findings say what.
    Fail,
    /// The case cannot run here; the reason says what it needs.
    Unsupported,
    /// The run ended before the case, or its machine failed.
    NotRun,
}

/// A judged case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseResult {
    /// The case's id, unique and stable.
    pub id: String,
    /// The scenario's name.
    pub scenario: String,
    /// Where the scenario stands.
    pub location: Location,
    /// The collective that the kernel claims to be.
    pub collective: Collective,
    /// The kernel's name.
    pub kernel: String,
    /// The kernel's variant.
    pub variant: String,
    /// The identity of what was judged.
    pub source: Source,
    /// How ranks existed.
    pub mode: Mode,
    /// The device that ran the kernel.
    pub device: DeviceName,
    /// By rank, the number of the GPU that it ran on; several ranks may share one. Empty on a CPU.
    pub gpus: Vec<u32>,
    /// How many ranks existed.
    pub ranks: u32,
    /// The key of the fill.
    pub seed: u64,
    /// How ranks ran, and what belongs to that way alone.
    pub how: How,
    /// The judgement.
    pub verdict: Verdict,
    /// Why the case did not run; present where the verdict is unsupported or not run.
    pub reason: Option<Reason>,
    /// The case's calls, in order.
    pub calls: Vec<CallResult>,
    /// Kernel launches, added up over all ranks, calls, orders and schedules.
    pub launches: u64,
    /// Wall time of the case, in seconds.
    pub duration_s: f64,
    /// The part of it inside kernels, in seconds: the longest of the processes, added up over calls and orders.
    pub kernel_s: f64,
    /// How to run the case again.
    pub replay: Replay,
    /// What a pass of the case does not prove.
    pub not_proved: Vec<NotProved>,
    /// What is wrong, the most telling first.
    pub findings: Vec<Finding>,
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// The file's path as it was given.
    pub file: String,
    /// The line's number, from 1.
    pub line: u64,
}

/// The identity of what was judged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The source file's path as people know it.
    pub path: String,
    /// The commit of the working tree, where there is one.
    pub commit: Option<String>,
    /// Whether the working tree differs from its commit, where there is one.
    pub dirty: Option<bool>,
    /// The SHA-256 of the source, in hexadecimal; empty where it was not read.
    pub sha256: String,
}

/// A call: what was asked for, and what ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallResult {
    /// The ranks that take part, as ids spell them.
    pub group: String,
    /// The element type.
    pub dtype: DType,
    /// The reduction's operation; absent where nothing is reduced.
    pub op: Option<String>,
    /// Rows and columns a rank.
    pub shape: [u64; 2],
    /// What the scenario asked for.
    pub requested: RequestedLaunch,
    /// What ran; absent where nothing did.
    pub effective: Option<Effective>,
}

/// What a scenario asked for; absent values leave the choice to the variant or the manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestedLaunch {
    /// The tile, in rows and columns.
    pub tile: Option<Tile>,
    /// The number of blocks.
    pub blocks: Option<u32>,
    /// The number of threads a block.
    pub threads: Option<u32>,
}

/// What ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effective {
    /// The entry's name.
    pub entry: String,
    /// The tile, in rows and columns.
    pub tile: Tile,
    /// The number of blocks.
    pub blocks: u32,
    /// The number of threads a block.
    pub threads: u32,
    /// The number of ranks in the group.
    pub group_size: u32,
    /// Who says so.
    pub source: LaunchWitness,
}

/// Who says what a launch was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaunchWitness {
    /// The kernel itself: it wrote a launch record.
    Kernel,
    /// The CPU's executor, which ran each of its threads.
    Executor,
    /// The driver that launched it.
    Driver,
    /// A host program.
    Program,
}

/// What is judged, and how to do it again.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The source that is judged.
    pub source: Source,
    /// How to run the case again.
    pub replay: Replay,
}

impl CaseResult {
    /// The result of a case in which nothing has run yet, on a CPU: a pass so far.
    pub fn new(case: &Case, mode: Mode, identity: Identity) -> CaseResult {
        let calls =
            case.problem.calls.iter().zip(&case.requested).map(|(call, requested)| CallResult {
                group: call.group.to_string(),
                dtype: case.problem.dtype,
                op: case.problem.collective.reduces().then(|| call.details.op.to_string()),
                shape: [call.shape.m, call.shape.n],
                requested: RequestedLaunch {
                    tile: requested.tile,
                    blocks: requested.blocks,
                    threads: case.threads,
                },
                effective: None,
            });
        CaseResult {
            id: case.id.clone(),
            scenario: case.scenario.clone(),
            location: Location { file: case.file.display().to_string(), line: case.line },
            collective: case.problem.collective,
            kernel: case.kernel.manifest.kernel.clone(),
            variant: case.variant.clone(),
            source: identity.source,
            mode,
            device: DeviceName::Cpu,
            gpus: Vec::new(),
            ranks: case.problem.world,
            seed: case.problem.seed,
            how: How::Nothing,
            verdict: Verdict::Pass,
            reason: None,
            calls: calls.collect(),
            launches: 0,
            duration_s: 0.0,
            kernel_s: 0.0,
            replay: identity.replay,
            not_proved: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// The same, with a verdict that the case did not run, and why.
    pub fn without_a_run(self, verdict: Verdict, reason: Reason) -> CaseResult {
        CaseResult { verdict, reason: Some(reason), ..self }
    }

    /// The result's name: device, mode and id, as tests are called.
    pub fn name(&self) -> String {
        format!("{}-{}::{}", self.device, self.mode, self.id)
    }
}
