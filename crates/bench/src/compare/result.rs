//! `rankcheck.compare/1`: what a comparison says, row by row.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::estimate::Method;

/// The name of the format.
pub const SCHEMA: &str = "rankcheck.compare/1";

/// A comparison of arms. Ratios are of times: below 1 the arm is faster than the base.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// The name of the format, `rankcheck.compare/1`.
    pub schema: String,
    /// The version of rankcheck that compared.
    pub rankcheck: String,
    /// The files that were compared, the base's first.
    pub sources: Vec<Source>,
    /// The smallest difference that matters, as a share of the base's time.
    pub margin: f64,
    /// Against what many rows at once are guarded.
    pub family: Family,
    /// How many rows were tested: p-values are adjusted for all of them.
    pub tested: usize,
    /// The rows, in the order of the base's file, arms of a row one behind the other.
    pub rows: Vec<Compared>,
    /// Rows taken together, by arm.
    pub slices: Vec<Slice>,
    /// Sentences that a reader must know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A file that was compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// What it is called.
    pub name: String,
    /// The files' paths as they were given.
    pub paths: Vec<String>,
    /// The hardware that measured, in words; empty where nobody said.
    #[serde(default)]
    pub hardware: String,
    /// The seed of the order of arms; absent in imported files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// What p-values are adjusted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Any false verdict among all rows is unlikely (Holm): for gates.
    AnyFalse,
    /// Few of the verdicts are false (Benjamini and Hochberg): for sweeps.
    FewFalse,
}

/// A row and one of its arms, against the base.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Compared {
    /// The row's id.
    pub id: String,
    /// The collective.
    pub collective: String,
    /// What the row is on each axis.
    #[serde(default)]
    pub axes: BTreeMap<String, String>,
    /// How many ranks take part.
    pub ranks: u32,
    /// How ranks exist; empty where nobody knows.
    #[serde(default)]
    pub mode: String,
    /// The bytes of the operation as perf tools count them.
    pub bytes: u64,
    /// The base.
    pub base: Side,
    /// The arm.
    pub arm: Side,
    /// How the arm's layout differs from the base's, where bytes are the same and places are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<String>,
    /// The arm's time over the base's; absent where there is none, and `why` says the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Ratio>,
    /// The base against itself; absent where it was not measured again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<Control>,
    /// The verdict; absent where there is no ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// The reason for the verdict, or for there being none, in words.
    pub why: String,
    /// Whether there is no ratio because the arm was wrong or proves nothing: a gate says no to it.
    #[serde(default)]
    pub invalid: bool,
}

/// One side of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Side {
    /// The arm's name.
    pub arm: String,
    /// The median over iterations of the slowest rank's time, in nanoseconds; absent where there are no samples.
    pub median_ns: Option<f64>,
    /// The bus bandwidth at that time, in 1e9 bytes a second.
    pub busbw_gbs: Option<f64>,
    /// That bandwidth as a share of what was measured to be possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_of_ceiling: Option<f64>,
    /// The median over iterations of (slowest - first) / slowest rank; absent where only one number is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skew: Option<f64>,
    /// How many iterations.
    pub samples: usize,
}

/// A ratio of times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    /// The estimate.
    pub estimate: f64,
    /// The lower bound of its interval; absent where there is too little to say.
    pub low: Option<f64>,
    /// The upper bound.
    pub high: Option<f64>,
    /// The p-value of "as fast", of this row alone.
    pub p: f64,
    /// The p-value adjusted for all rows.
    pub p_adjusted: f64,
    /// The smallest change that would be found four times of five, as a share of the base's time.
    pub detectable: Option<f64>,
    /// How it was found.
    pub method: Method,
    /// How many fresh launches it stands on.
    pub launches: usize,
}

/// The base against itself, as if it were an arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Control {
    /// The ratio.
    pub estimate: f64,
    /// The lower bound of its interval.
    pub low: Option<f64>,
    /// The upper bound.
    pub high: Option<f64>,
    /// A difference up to this share is what the base shows against itself.
    pub spread: f64,
}

/// What is said of an arm.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It takes less time, by at least the margin.
    Faster,
    /// It takes more time, by at least the margin.
    Slower,
    /// It takes as much time, within the margin.
    Same,
    /// The measurements do not say.
    CannotTell,
}

impl Verdict {
    /// All of them, the most urgent first.
    pub const ALL: [Verdict; 4] =
        [Verdict::Slower, Verdict::Faster, Verdict::Same, Verdict::CannotTell];

    /// As people read it.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Same => "same",
            Verdict::CannotTell => "cannot tell",
        }
    }
}

/// Rows taken together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Slice {
    /// The arm.
    pub arm: String,
    /// What the rows have in common: `all`, or an axis with its value, such as `ranks 8`.
    pub of: String,
    /// How many rows have a ratio.
    pub rows: usize,
    /// Over the rows' ratios; absent where there is none.
    pub ratios: Option<Spread>,
    /// How many rows have which verdict.
    pub verdicts: BTreeMap<Verdict, usize>,
    /// How many rows have no ratio.
    pub without: usize,
}

/// How ratios are spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The geometric mean: that of ratios.
    pub mean: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
}
