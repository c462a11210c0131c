//! The closed sets of the format: dialects, collectives, algorithms, protocols.
//!
//! Spellings and indices are those of NCCL's `plugins/tuner/example/plugin.c` and RCCL's
//! `src/plugin/tuner/csv_tuner.cc`; both compare them with `strcmp`, so letter case counts.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// A name that is not in its closed set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{got}` (accepted: {accepted})")]
pub struct UnknownName {
    what: &'static str,
    got: String,
    accepted: String,
}

impl UnknownName {
    /// The names that would have been accepted, in one line.
    pub fn accepted(&self) -> &str {
        &self.accepted
    }
}

/// Which reader of the file is modelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// NVIDIA's example tuner plugin, loaded with `NCCL_TUNER_PLUGIN`.
    NcclExample,
    /// The CSV tuner built into RCCL.
    RcclBuiltin,
}

/// The collectives that a row can name; the format has no others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Collective {
    /// One rank's buffer to all.
    Broadcast,
    /// All ranks' buffers combined on one.
    Reduce,
    /// Every rank's part to all.
    AllGather,
    /// All ranks' buffers combined, one part a rank.
    ReduceScatter,
    /// All ranks' buffers combined on all.
    AllReduce,
}

/// How data travels between ranks; the order is the library's own index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Algorithm {
    /// A tree between nodes.
    Tree,
    /// A ring through all ranks.
    Ring,
    /// In-network reduction, all ranks of a node connected.
    CollnetDirect,
    /// In-network reduction behind a chain.
    CollnetChain,
    /// NVLink multicast and reduction.
    Nvls,
    /// NVLink inside a node, a tree between nodes.
    NvlsTree,
    /// Parallel aggregated trees.
    Pat,
}

/// How a message is flagged on the wire; the order is the library's own index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// 8-byte stores, half of them flags.
    Ll,
    /// 128-byte lines, 8 bytes of them flags.
    Ll128,
    /// Plain stores and a fence.
    Simple,
}

impl Dialect {
    /// Both dialects, in the order in which reports name them.
    pub const ALL: [Self; 2] = [Self::NcclExample, Self::RcclBuiltin];

    /// The spelling on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NcclExample => "nccl-example",
            Self::RcclBuiltin => "rccl-builtin",
        }
    }
}

impl Collective {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Broadcast, Self::Reduce, Self::AllGather, Self::ReduceScatter, Self::AllReduce];

    /// The spelling in the CSV.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::AllGather => "allgather",
            Self::ReduceScatter => "reducescatter",
            Self::AllReduce => "allreduce",
        }
    }

    /// The spelling in scenarios; the perf tools are this with `_perf` behind it.
    pub const fn snake_name(self) -> &'static str {
        match self {
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::AllGather => "all_gather",
            Self::ReduceScatter => "reduce_scatter",
            Self::AllReduce => "all_reduce",
        }
    }

    /// Whether the operation's bytes are split into one part a rank.
    pub const fn is_split(self) -> bool {
        match self {
            Self::AllGather | Self::ReduceScatter => true,
            Self::Broadcast | Self::Reduce | Self::AllReduce => false,
        }
    }
}

impl Algorithm {
    /// All of them, by index.
    pub const ALL: [Self; 7] = [
        Self::Tree,
        Self::Ring,
        Self::CollnetDirect,
        Self::CollnetChain,
        Self::Nvls,
        Self::NvlsTree,
        Self::Pat,
    ];

    /// The spelling in the CSV.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Ring => "ring",
            Self::CollnetDirect => "collnet_direct",
            Self::CollnetChain => "collnet_chain",
            Self::Nvls => "nvls",
            Self::NvlsTree => "nvls_tree",
            Self::Pat => "pat",
        }
    }

    /// Whether the library ever offers this algorithm for a collective (NCCL
    /// `src/graph/tuning.cc`, `ncclTopoTuneModel`). Where it does not, the cost table says IGNORE
    /// and a row that names it never applies.
    pub const fn serves(self, collective: Collective) -> bool {
        match collective {
            Collective::Broadcast | Collective::Reduce => matches!(self, Self::Ring),
            Collective::AllGather | Collective::ReduceScatter => {
                matches!(self, Self::Ring | Self::Pat | Self::Nvls | Self::CollnetDirect)
            }
            Collective::AllReduce => !matches!(self, Self::Pat),
        }
    }

    /// Whether the library ever offers this algorithm with a protocol: all but tree and ring are
    /// `simple` only (same source).
    pub const fn speaks(self, protocol: Protocol) -> bool {
        matches!(self, Self::Tree | Self::Ring) || matches!(protocol, Protocol::Simple)
    }
}

impl Protocol {
    /// All of them, by index.
    pub const ALL: [Self; 3] = [Self::Ll, Self::Ll128, Self::Simple];

    /// The spelling in the CSV.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ll => "ll",
            Self::Ll128 => "ll128",
            Self::Simple => "simple",
        }
    }
}

fn lookup<T: Copy>(
    what: &'static str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
    got: &str,
) -> Result<T, UnknownName> {
    all.iter().copied().find(|&value| name(value) == got).ok_or_else(|| UnknownName {
        what,
        got: got.to_owned(),
        accepted: all.iter().map(|&value| name(value)).collect::<Vec<_>>().join(", "),
    })
}

impl FromStr for Dialect {
    type Err = UnknownName;
    fn from_str(got: &str) -> Result<Self, UnknownName> {
        lookup("dialect", &Self::ALL, Self::name, got)
    }
}

impl FromStr for Collective {
    type Err = UnknownName;
    fn from_str(got: &str) -> Result<Self, UnknownName> {
        lookup("collective", &Self::ALL, Self::name, got)
    }
}

impl FromStr for Algorithm {
    type Err = UnknownName;
    fn from_str(got: &str) -> Result<Self, UnknownName> {
        lookup("algorithm", &Self::ALL, Self::name, got)
    }
}

impl FromStr for Protocol {
    type Err = UnknownName;
    fn from_str(got: &str) -> Result<Self, UnknownName> {
        lookup("protocol", &Self::ALL, Self::name, got)
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Collective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
