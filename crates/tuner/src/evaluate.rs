//! What the library does with a message: the first applicable row, or its own defaults.
//!
//! Source: `pluginGetCollInfo` (NCCL example plugin) and `csvTunerGetCollInfo` (RCCL). Both bounds
//! are inclusive; a row whose algorithm and protocol are unavailable (cost IGNORE) falls through
//! to the next one.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::csv::{Row, Rule, Table, WILDCARD};
use crate::names::{Algorithm, Collective, Dialect, Protocol, UnknownName};

/// Everything the library tells the tuner except the size.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Situation {
    /// The operation.
    pub collective: Collective,
    /// Nodes of the communicator.
    pub nodes: i32,
    /// Ranks of the communicator.
    pub ranks: i32,
    /// Estimated operations in the pipeline; 1 for a single call.
    pub pipe_ops: i32,
    /// 1 where both buffers are registered (or captured in a graph with registration on), else 0.
    pub reg_buff: i32,
}

/// One question to the tuner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Query {
    /// The communicator and the operation.
    #[serde(flatten)]
    pub situation: Situation,
    /// Bytes of the whole operation: the perf tools' `size` column (all_gather and reduce_scatter:
    /// ranks times a rank's part).
    pub bytes: u64,
}

/// Why a row is not for a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mismatch {
    /// It names another collective.
    Collective,
    /// The message is smaller than its minimum.
    BelowMin,
    /// The message is larger than its maximum.
    AboveMax,
    /// It names another number of nodes.
    Nodes,
    /// It names another number of ranks.
    Ranks,
    /// It names another number of pipeline operations.
    PipeOps,
    /// It asks for the other kind of buffer.
    RegBuff,
}

impl Rule {
    /// Every reason why this row is not for the situation, sizes aside.
    pub fn mismatches_situation(&self, at: &Situation) -> Vec<Mismatch> {
        let differs = |row: i32, got: i32| row != WILDCARD && row != got;
        [
            (self.collective != at.collective, Mismatch::Collective),
            (differs(self.nodes, at.nodes), Mismatch::Nodes),
            (differs(self.ranks, at.ranks), Mismatch::Ranks),
            (differs(self.pipe_ops, at.pipe_ops), Mismatch::PipeOps),
            (differs(self.reg_buff, at.reg_buff), Mismatch::RegBuff),
        ]
        .into_iter()
        .filter_map(|(holds, reason)| holds.then_some(reason))
        .collect()
    }

    /// Every reason why this row is not for the query; empty where it matches.
    pub fn mismatches(&self, query: &Query) -> Vec<Mismatch> {
        let mut reasons = self.mismatches_situation(&query.situation);
        reasons.extend((query.bytes < self.min_bytes).then_some(Mismatch::BelowMin));
        reasons.extend((query.bytes > self.max_bytes).then_some(Mismatch::AboveMax));
        reasons
    }

    /// Whether the row is for messages of this situation at some size.
    pub fn concerns(&self, at: &Situation) -> bool {
        self.min_bytes <= self.max_bytes && self.mismatches_situation(at).is_empty()
    }
}

/// Algorithms and protocols whose cost the library marks IGNORE: off for the architecture or data
/// type, excluded by `NCCL_ALGO` or `NCCL_PROTO`, or unknown to the library's version.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unavailable([[bool; 3]; 7]);

impl Unavailable {
    /// The set with one pair more.
    #[must_use]
    pub fn with(mut self, algorithm: Algorithm, protocol: Protocol) -> Self {
        self.0[algorithm as usize][protocol as usize] = true;
        self
    }

    /// All that either set holds.
    #[must_use]
    pub fn union(mut self, other: Self) -> Self {
        for (mine, theirs) in self.0.iter_mut().flatten().zip(other.0.iter().flatten()) {
            *mine |= theirs;
        }
        self
    }

    /// Whether the pair is unavailable.
    pub fn contains(self, algorithm: Algorithm, protocol: Protocol) -> bool {
        self.0[algorithm as usize][protocol as usize]
    }
}

/// Reads `tree/ll128`, `nvls` (every protocol of it) or `ll128` (with every algorithm).
impl FromStr for Unavailable {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let (algorithms, protocols) = match text.split_once('/') {
            Some((algorithm, protocol)) => (vec![algorithm.parse()?], vec![protocol.parse()?]),
            None => match (text.parse::<Algorithm>(), text.parse::<Protocol>()) {
                (_, Ok(protocol)) => (Algorithm::ALL.to_vec(), vec![protocol]),
                (algorithm, Err(_)) => (vec![algorithm?], Protocol::ALL.to_vec()),
            },
        };
        let pairs = algorithms.iter().flat_map(|&a| protocols.iter().map(move |&p| (a, p)));
        Ok(pairs.fold(Self::default(), |set, (algorithm, protocol)| set.with(algorithm, protocol)))
    }
}

/// Channels that the library ends up with.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Channels {
    /// The library's own choice.
    Library,
    /// This many, as handed to the core; the core caps them by its own limits.
    Exactly(i32),
}

/// What the tuner makes the library do, in terms that can be compared between files.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Choice {
    /// Algorithm and protocol, or `None` where no row applies and the library's cost model decides.
    pub pick: Option<(Algorithm, Protocol)>,
    /// Channels.
    pub channels: Channels,
}

impl Choice {
    /// What the dialect does where `row` applies, or where none does.
    pub fn of(dialect: Dialect, row: Option<&Rule>) -> Self {
        let asked = row.map_or(WILDCARD, |rule| rule.channels);
        let left = match dialect {
            // Only counts of 1 and more are handed on.
            Dialect::RcclBuiltin | Dialect::RcclBuiltinV2 if asked < 1 => dialect.preset_channels(),
            _ if asked == WILDCARD => dialect.preset_channels(),
            _ => asked,
        };
        // The core reads 0 as "default".
        let channels = if left == 0 { Channels::Library } else { Channels::Exactly(left) };
        Self { pick: row.map(|rule| (rule.algorithm, rule.protocol)), channels }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pick {
            Some((algorithm, protocol)) => write!(f, "{algorithm}/{protocol}")?,
            None => f.write_str("library default")?,
        }
        match self.channels {
            Channels::Library => Ok(()),
            Channels::Exactly(1) => f.write_str(" 1 channel"),
            Channels::Exactly(count) => write!(f, " {count} channels"),
        }
    }
}

/// The index of the first applicable row, or `None`.
pub fn evaluate(table: &Table, query: &Query, unavailable: Unavailable) -> Option<usize> {
    table.rows.iter().position(|Row { rule, .. }| {
        rule.mismatches(query).is_empty() && !unavailable.contains(rule.algorithm, rule.protocol)
    })
}
