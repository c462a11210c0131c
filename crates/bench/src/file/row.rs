//! The file and its rows.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arm::Arm;
use super::machine::Machine;
use super::samples::FreshLaunch;

/// A benchmark's measurements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BenchFile {
    /// The name of the format, `rankcheck.bench/1`.
    pub schema: String,
    /// The version of rankcheck that wrote the file.
    pub rankcheck: String,
    /// The machine that measured.
    #[serde(default)]
    pub machine: Machine,
    /// The command line that measured, without the program's own name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The seed of the fill and of the order of arms; absent in imported files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The scenario; absent in imported files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<Scenario>,
    /// How was measured.
    #[serde(default)]
    pub protocol: Protocol,
    /// Where samples come from, where rankcheck did not take them itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provenance: Vec<Provenance>,
    /// Sentences that a reader must know, such as in what the arms differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Whether the user stopped the benchmark before its end.
    #[serde(default)]
    pub interrupted: bool,
    /// What was measured, in order.
    pub rows: Vec<Row>,
}

/// The scenario that was measured.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The scenario's name.
    pub name: String,
    /// The file's path as it was given.
    pub path: String,
    /// The SHA-256 of the file, in hexadecimal.
    pub sha256: String,
}

/// How was measured.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// Iterations before the first sample of a run; they are not in the file.
    #[serde(default)]
    pub warmup: u32,
    /// Samples a run.
    #[serde(default)]
    pub iterations: u32,
    /// Blocks a fresh launch.
    #[serde(default)]
    pub blocks: u32,
    /// Fresh launches a row.
    #[serde(default)]
    pub launches: u32,
    /// How ranks start together, and which clock measures, in words.
    #[serde(default)]
    pub clock: String,
}

/// A file that samples were taken over from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The file's path as it was given.
    pub path: String,
    /// The SHA-256 of the file, in hexadecimal; empty where nobody knows it.
    #[serde(default)]
    pub sha256: String,
    /// What it is: `iris.bench csv`, `perf-tool log`, `samples`.
    pub kind: String,
    /// Whether it has only summaries, not samples.
    #[serde(default)]
    pub summary_only: bool,
}

/// One thing that was measured: an operation with everything resolved, by several arms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The row's id, unique in its file and the same in other files that measure the same.
    pub id: String,
    /// The collective, as scenarios spell it.
    pub collective: String,
    /// The kernel's name; empty where it is a library's or nobody's.
    #[serde(default)]
    pub kernel: String,
    /// What the row is on each axis, such as `dtype`, `m`, `n`, `tile`, `blocks`.
    #[serde(default)]
    pub axes: BTreeMap<String, String>,
    /// How many ranks take part.
    pub ranks: u32,
    /// How ranks exist: `logical`, `process`, `mpi`, `host`; empty where nobody knows.
    #[serde(default)]
    pub mode: String,
    /// The device that ran it: `cpu`, `cuda`, `hip`; empty where nobody knows.
    #[serde(default)]
    pub device: String,
    /// The bytes of the operation as perf tools count them: algorithm bandwidth is this over time.
    pub bytes: u64,
    /// What algorithm bandwidth is multiplied by to get bus bandwidth.
    pub bus_factor: f64,
    /// What no right measurement can exceed, where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<Ceiling>,
    /// What the caches hold when an iteration begins.
    #[serde(default)]
    pub cache: Cache,
    /// The arms; the first is the base.
    pub arms: Vec<Arm>,
    /// The samples.
    #[serde(default)]
    pub launches: Vec<FreshLaunch>,
    /// Why the row, or one of its arms, proves nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invalid: Vec<Invalid>,
    /// Why nothing was measured; absent where something was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
}

/// A bound of physics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ceiling {
    /// The highest bus bandwidth, in 1e9 bytes a second.
    pub busbw_gbs: f64,
    /// What was measured to know it, in words.
    pub what: String,
}

/// What the caches hold when an iteration begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// Nothing of the operation: something larger was written in between.
    Cold,
    /// What the iteration before left.
    Warm,
    /// Nobody knows.
    #[default]
    Undeclared,
}

/// Why something proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Invalid {
    /// The arm's index; absent where it is the whole row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<usize>,
    /// What kind of reason it is.
    pub kind: InvalidKind,
    /// The reason in words.
    pub reason: String,
}

/// The kinds of reasons why something proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InvalidKind {
    /// Bytes were wrong before anything was timed.
    WrongBefore,
    /// Bytes were wrong after the last timed iteration.
    WrongAfter,
    /// The kernel behaved otherwise because it was timed.
    Cheating,
    /// A bandwidth above what is possible.
    AboveCeiling,
    /// What ran is not what was asked for.
    LaunchDiffers,
    /// Arms mean different things.
    SemanticsDiffer,
    /// A process was lost, or samples of it are.
    Lost,
    /// The program that measures left it out, and says why.
    Skipped,
}
