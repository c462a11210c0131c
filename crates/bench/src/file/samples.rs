//! Samples, in the order in which they were taken.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One start of the processes that were measured: what differs from start to start (addresses, placement,
/// clocks) is the same for all samples of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FreshLaunch {
    /// The launch's number in its row, from 0.
    pub number: u32,
    /// The blocks, in order of time.
    pub blocks: Vec<Block>,
}

/// Runs of the arms side by side, such as A B B A: the unit that is paired.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// The runs, in order of time. An arm may be missing where it failed.
    pub runs: Vec<Run>,
}

/// Iterations of one arm, one behind the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The arm's index in the row's list, from 0.
    pub arm: usize,
    /// When the run began, in nanoseconds since the benchmark did; absent where nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ns: Option<f64>,
    /// By iteration, by rank: the time of the operation in nanoseconds. Where only one number an iteration is
    /// known, each list has one element.
    pub samples: Vec<Vec<f64>>,
}
