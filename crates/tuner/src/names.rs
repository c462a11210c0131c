//! The closed sets of the format: dialects, collectives, algorithms, protocols.
//!
//! Spellings and indices are those of NCCL's `plugins/tuner/example/plugin.c` and RCCL's
//! `src/plugin/tuner/csv_tuner.cc`; all compare them with `strcmp`, so letter case counts.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// NVIDIA's example tuner plugin, loaded with `NCCL_TUNER_PLUGIN`.
    NcclExample,
    /// ROCm's copy of it (RCCL `ext-tuner/example`): the same reader, but the library's own
    /// channels where the file names none.
    RcclExample,
    /// The CSV tuner built into RCCL, which reads the file whole.
    RcclBuiltin,
    /// The same, before it could read configurations that are compiled in: it reads line by line,
    /// keeps carriage returns and goes on behind a NUL byte.
    RcclBuiltinV2,
    /// The first one built into RCCL: it takes unknown names for defaults, as the examples do, and
    /// has room for as many rows as it counts lines that are no comments, indented or not.
    RcclBuiltinV1,
}

/// The collectives that a row can name; the format has no others.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
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
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
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
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
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
    /// All dialects, in the order in which reports name them.
    pub const ALL: [Self; 5] = [
        Self::NcclExample,
        Self::RcclExample,
        Self::RcclBuiltin,
        Self::RcclBuiltinV2,
        Self::RcclBuiltinV1,
    ];

    /// The spelling on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NcclExample => "nccl-example",
            Self::RcclExample => "rccl-example",
            Self::RcclBuiltin => "rccl-builtin",
            Self::RcclBuiltinV2 => "rccl-builtin-v2",
            Self::RcclBuiltinV1 => "rccl-builtin-v1",
        }
    }

    /// Whether a row with an unknown name is skipped; otherwise it is loaded with a default name.
    pub const fn skips_unknown_names(self) -> bool {
        match self {
            Self::NcclExample | Self::RcclExample | Self::RcclBuiltinV1 => false,
            Self::RcclBuiltin | Self::RcclBuiltinV2 => true,
        }
    }

    /// What `*nChannels` is before a row is looked for: 0 leaves the count to the library.
    pub const fn preset_channels(self) -> i32 {
        match self {
            Self::NcclExample => 1,
            Self::RcclExample | Self::RcclBuiltin | Self::RcclBuiltinV2 | Self::RcclBuiltinV1 => 0,
        }
    }

    /// How the reader names itself in the library's log.
    pub const fn log_name(self) -> &'static str {
        match self {
            Self::NcclExample | Self::RcclExample => "TUNER/ExamplePlugin",
            Self::RcclBuiltin | Self::RcclBuiltinV2 | Self::RcclBuiltinV1 => "TUNER/CsvTuner",
        }
    }

    /// What loading this reader changes besides what the file says, for people.
    pub const fn caveat(self) -> Option<&'static str> {
        match self {
            Self::NcclExample => Some(
                "nccl-example sets 1 channel wherever no row applies or a row says -1, and changes \
                 the library's cost-model constants and smallest chunk sizes: `library default` is \
                 the model's choice under these, not what the library does without the plugin",
            ),
            Self::RcclExample | Self::RcclBuiltin | Self::RcclBuiltinV2 | Self::RcclBuiltinV1 => {
                None
            }
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
