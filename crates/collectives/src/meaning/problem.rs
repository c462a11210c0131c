//! The pure part of a case: what must happen, on which heaps. No device, no mode, no kernel.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::meaning::dtype::DType;
use crate::meaning::group::Group;
use crate::meaning::op::{Numerics, Op};
use crate::meaning::rank::{GroupRank, Rank};
use crate::meaning::shape::{Shape, Tile};

/// What must happen, as pure semantics. Shapes are per rank, W is the group's size, and
/// `shape` is the (M, N) that a scenario gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Collective {
    /// Input (M, N), output (W*M, N): the inputs stacked in group order, on every member.
    AllGather,
    /// Input (M, N), output (M, N): the root's input, on every member.
    Broadcast,
    /// Input (M, N), output (W*M, N): as all_gather, on the root alone.
    Gather,
    /// Input (W*M, N), output (M, N): the root's rows `g*M..` arrive at group rank g.
    Scatter,
    /// Input (W*M, N), output (W*M, N): rows `d*M..` of source s arrive as rows `s*M..` of d. With
    /// [`Details::counts`] the parts are of so many rows each, packed on both sides.
    AllToAll,
    /// Input (M, W*N), output (M, W*N): columns `d*N..` of source s arrive as columns `s*N..` of d.
    AllToAllColumns,
    /// Input (M, N), output (M, N): the inputs combined element by element, on every member.
    AllReduce,
    /// Input (M, N), output (M, N): as all_reduce, on the root alone.
    Reduce,
    /// Input (W*M, N), output (M, N): rows `g*M..` of the combined inputs on group rank g.
    ReduceScatter,
    /// Input (M, N), output (M, N): of the combined inputs a member has the tiles that it owns
    /// ([`Details::owners`]); the rest of its output stays as it was.
    ReduceScatterTiles,
    /// No data moves; every byte of input and output stays as it was.
    Barrier,
}

impl Collective {
    /// Every collective, in the order in which they are listed to users.
    pub const ALL: [Collective; 11] = [
        Collective::AllGather,
        Collective::Broadcast,
        Collective::Gather,
        Collective::Scatter,
        Collective::AllToAll,
        Collective::AllToAllColumns,
        Collective::AllReduce,
        Collective::Reduce,
        Collective::ReduceScatter,
        Collective::ReduceScatterTiles,
        Collective::Barrier,
    ];

    /// The one spelling that is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Collective::AllGather => "all_gather",
            Collective::Broadcast => "broadcast",
            Collective::Gather => "gather",
            Collective::Scatter => "scatter",
            Collective::AllToAll => "all_to_all",
            Collective::AllToAllColumns => "all_to_all_columns",
            Collective::AllReduce => "all_reduce",
            Collective::Reduce => "reduce",
            Collective::ReduceScatter => "reduce_scatter",
            Collective::ReduceScatterTiles => "reduce_scatter_tiles",
            Collective::Barrier => "barrier",
        }
    }

    /// Whether one member is told apart from the others.
    pub const fn is_rooted(self) -> bool {
        matches!(
            self,
            Collective::Broadcast | Collective::Gather | Collective::Scatter | Collective::Reduce
        )
    }

    /// Whether elements are combined rather than moved.
    pub const fn reduces(self) -> bool {
        matches!(
            self,
            Collective::AllReduce
                | Collective::Reduce
                | Collective::ReduceScatter
                | Collective::ReduceScatterTiles
        )
    }

    /// Why input and output may not share memory; `None` where they may. As with NCCL and MPI, the
    /// smaller of the two is then the rank's own part of the larger one.
    pub const fn in_place_refusal(self) -> Option<&'static str> {
        match self {
            Collective::AllGather
            | Collective::Gather
            | Collective::AllReduce
            | Collective::Broadcast
            | Collective::Reduce
            | Collective::Scatter
            | Collective::ReduceScatter => None,
            Collective::ReduceScatterTiles => {
                Some("a tile that others still read would be overwritten by its owner")
            }
            Collective::AllToAll | Collective::AllToAllColumns => {
                Some("a part that arrives would overwrite one that has not been sent")
            }
            Collective::Barrier => Some("no data moves"),
        }
    }

    /// Rows and columns of the input that a rank owns, whatever its role.
    pub const fn input_shape(self, shape: Shape, group_size: u64) -> Shape {
        match self {
            Collective::AllGather
            | Collective::Broadcast
            | Collective::Gather
            | Collective::AllReduce
            | Collective::Reduce
            | Collective::ReduceScatterTiles
            | Collective::Barrier => shape,
            Collective::Scatter | Collective::AllToAll | Collective::ReduceScatter => {
                Shape { m: shape.m * group_size, n: shape.n }
            }
            Collective::AllToAllColumns => Shape { m: shape.m, n: shape.n * group_size },
        }
    }

    /// Rows and columns of the output that a rank owns, whatever its role.
    pub const fn output_shape(self, shape: Shape, group_size: u64) -> Shape {
        match self {
            Collective::AllGather | Collective::Gather | Collective::AllToAll => {
                Shape { m: shape.m * group_size, n: shape.n }
            }
            Collective::AllToAllColumns => Shape { m: shape.m, n: shape.n * group_size },
            Collective::Broadcast
            | Collective::Scatter
            | Collective::AllReduce
            | Collective::Reduce
            | Collective::ReduceScatter
            | Collective::ReduceScatterTiles
            | Collective::Barrier => shape,
        }
    }
}

impl fmt::Display for Collective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Collective {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Collective::ALL.into_iter().find(|c| c.name() == text).ok_or_else(|| {
            let accepted: Vec<_> = Collective::ALL.iter().map(|c| c.name()).collect();
            format!("unknown collective `{text}`, expected one of {}", accepted.join(", "))
        })
    }
}

/// Where a region's matrix lies in its storage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RegionLayout {
    /// Elements between the end of a row and the start of the next: row stride is N + this.
    pub pad_columns: u64,
    /// Elements between the region's start and element (0, 0).
    pub offset_elements: u64,
}

/// The layouts of the two regions that every rank owns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Layout {
    /// Of the input.
    pub input: RegionLayout,
    /// Of the output. In place, the input lies in it and takes its stride.
    pub output: RegionLayout,
}

/// What the inputs hold. For reductions see [`crate::data::exact`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Data {
    /// The keyed fill: a word names its owner.
    #[default]
    Keyed,
    /// Every other element is a special value (zeros, infinities, NaN payloads, subnormals).
    BitPatterns,
    /// Random floats, whose sums round; for reductions with a declared order.
    Random,
}

/// What only some collectives need to know about a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Details {
    /// How a reduction combines.
    pub op: Op,
    /// By tile, row by row: the group rank that computes it. Empty where every member computes
    /// what it receives.
    pub owners: Vec<u32>,
    /// By tile: the group rank whose element comes first, for [`crate::meaning::op::Order::ByTile`].
    pub starts: Vec<u32>,
    /// By source and destination group rank: rows sent, at most M. Empty: M each.
    pub counts: Vec<Vec<u64>>,
    /// By group rank: the factors of a premultiplied sum, none of them zero. Empty: 2, 1, 2, 1, ..
    pub scalars: Vec<i32>,
    /// The epoch of the case's first call; those of the next ones follow.
    pub first_epoch: u32,
    /// Strides and offsets, where they are not the problem's.
    pub layout: Option<Layout>,
}

/// One collective operation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Call {
    /// The scenario's (M, N); see [`Collective`] for what it means.
    pub shape: Shape,
    /// Who takes part.
    pub group: Group,
    /// The tile that the kernel is asked to use (the variant's default where none was given).
    pub tile: Tile,
    /// Persistent thread blocks a rank.
    pub blocks: u32,
    /// The member told apart, for rooted collectives.
    pub root: GroupRank,
    /// The rest.
    pub details: Details,
}

impl Call {
    /// A member's factor in a premultiplied sum.
    pub fn scalar(&self, GroupRank(member): GroupRank) -> i32 {
        let stated = self.details.scalars.get(member as usize).copied();
        stated.unwrap_or(2 - member as i32 % 2)
    }
}

/// What a workspace holds when a case begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Init {
    /// Every byte zero.
    Zero,
    /// Poison: the kernel must write before it reads.
    Poison,
}

/// What happens to a workspace between two calls of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BetweenCalls {
    /// It stays as the kernel left it.
    Keep,
    /// It is initialised again.
    Reset,
}

/// How a workspace is judged after a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    /// Its contents are the kernel's own business (the guards around it are not).
    Ignore,
    /// It must hold what it held before the call.
    Unchanged,
    /// Every byte must be zero.
    Zero,
}

/// Extra memory that a kernel declares, sized for its largest call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Workspace {
    /// As in the manifest.
    pub name: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Contents before the first call.
    pub init: Init,
    /// Contents before the next calls.
    pub between_calls: BetweenCalls,
    /// What is checked after each call.
    pub judge: Judge,
}

/// How a workspace's bytes are known at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Contents {
    /// Every byte zero.
    Zero,
    /// The poison of a call.
    Poison,
    /// Whatever the kernel left: neither written nor compared.
    Free,
}

/// The pure part of a case.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Problem {
    /// What must happen.
    pub collective: Collective,
    /// How many ranks exist, taking part or not. At most [`crate::meaning::rank::MAX_WORLD`].
    pub world: u32,
    /// Element type of input and output.
    pub dtype: DType,
    /// Strides and offsets.
    pub layout: Layout,
    /// Input is the rank's own part of output, or output its own part of input.
    pub in_place: bool,
    /// Bytes of poison before, between and behind regions.
    pub guard_bytes: u64,
    /// What inputs hold.
    pub data: Data,
    /// Declared extra memory.
    pub workspaces: Vec<Workspace>,
    /// What the kernel declares about a reduction's arithmetic.
    pub numerics: Numerics,
    /// What the members' outputs hold before each call.
    pub output_init: Init,
    /// The sequence, on the same heaps. Never empty.
    pub calls: Vec<Call>,
    /// Key of the fill.
    pub seed: u64,
}

impl Problem {
    /// The world's ranks, in order.
    pub fn ranks(&self) -> impl Iterator<Item = Rank> + use<> {
        (0..self.world).map(Rank)
    }

    /// Strides and offsets of a call.
    pub fn layout_of(&self, call: &Call) -> Layout {
        call.details.layout.unwrap_or(self.layout)
    }

    /// In place, the rows of the shared matrix at which a rank's input and its output begin. An idle
    /// rank's stand where group rank 0's would.
    pub fn in_place_rows(&self, call: &Call, rank: Rank) -> [u64; 2] {
        let GroupRank(group_rank) = call.group.group_rank(rank).unwrap_or(GroupRank(0));
        let own = u64::from(group_rank) * call.shape.m;
        match self.collective {
            Collective::AllGather | Collective::Gather => [own, 0],
            Collective::Scatter | Collective::ReduceScatter => [0, own],
            _ => [0, 0],
        }
    }

    /// Rows and columns of tiles of a call's (M, N).
    pub fn tiles(call: &Call) -> [u64; 2] {
        let Shape { m, n } = call.shape;
        [m.div_ceil(call.tile.m.max(1)), n.div_ceil(call.tile.n.max(1))]
    }
}
