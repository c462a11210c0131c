//! The closed list of symbols that manifests may use, and their values for one rank and call.

use collectives::{Call, GroupRank, HeapPlan, Problem, Rank};

use crate::manifest::Manifest;

/// Name and meaning of every integer symbol, as `rankcheck explain args` prints them.
pub const INTEGERS: [(&str, &str); 35] = [
    ("m", "rows of the scenario's shape"),
    ("n", "columns of the scenario's shape"),
    ("input.rows", "rows of a rank's input"),
    ("input.columns", "columns of a rank's input"),
    ("input.row_stride", "elements from one row of the input to the next"),
    ("input.elements", "rows x columns of the input"),
    ("output.rows", "rows of a rank's output"),
    ("output.columns", "columns of a rank's output"),
    ("output.row_stride", "elements from one row of the output to the next"),
    ("output.elements", "rows x columns of the output"),
    ("dtype.bytes", "bytes an element"),
    ("rank", "the rank in the world"),
    ("world", "how many ranks there are"),
    ("group.rank", "the rank's index in the group"),
    ("group.size", "how many ranks take part"),
    ("group.start", "first rank of a strided group"),
    ("group.stride", "distance between the ranks of a strided group"),
    ("root", "the root, as a group rank"),
    ("call", "number of the call in its case, from 0"),
    ("epoch", "number of the call, from 0, growing over all calls on the same heaps"),
    ("blocks", "persistent thread blocks a rank"),
    ("threads", "threads a block"),
    ("tile.m", "rows of a tile"),
    ("tile.n", "columns of a tile"),
    ("op", "0 sum, 1 prod, 2 min, 3 max, 4 avg, 5 premul_sum"),
    ("scalar", "the rank's factor in a premultiplied sum"),
    ("tile", "in `reduction`: number of a tile of (m, n), row by row"),
    ("tile.row", "in `reduction`: row of the tile among tiles"),
    ("tile.column", "in `reduction`: column of the tile among tiles"),
    ("tiles", "number of tiles of (m, n)"),
    ("peer.rank", "in a struct over ranks: the rank that it is about"),
    ("peer.group_rank", "in a struct over ranks: its group rank"),
    ("peer.index", "in a struct over ranks: its place among the own rank's peers"),
    ("peer.own_index", "in a struct over ranks: the own rank's place among its peers"),
    ("pid", "in `reduction`: tile % blocks, the block of a persistent loop that has the tile"),
];

/// Accepts a symbol of the list.
///
/// # Errors
/// Says which symbol is nearest.
pub fn check(name: &str) -> Result<(), String> {
    if INTEGERS.iter().any(|(known, _)| *known == name) {
        return Ok(());
    }
    let nearest = nearest(name, INTEGERS.iter().map(|(known, _)| *known));
    Err(format!(
        "unknown symbol `{name}` (did you mean `{nearest}`? `rankcheck explain args` lists them)"
    ))
}

/// The candidate with the smallest edit distance.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> &'a str {
    candidates.min_by_key(|candidate| strsim::damerau_levenshtein(name, candidate)).unwrap_or("")
}

/// What the symbols refer to.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// The problem that the launch belongs to.
    pub problem: &'a Problem,
    /// How the problem's heaps are laid out.
    pub plan: &'a HeapPlan,
    /// The number of the call in the problem, from 0.
    pub index: usize,
    /// The rank whose launch it is; `None` where a value must not depend on it (workspace sizes).
    pub rank: Option<Rank>,
    /// Threads of a block; `None` until the manifest's `launch` is evaluated.
    pub threads: Option<u32>,
    /// The manifest whose symbols are looked up.
    pub manifest: &'a Manifest,
}

impl Scope<'_> {
    /// The call of the problem that is being looked at.
    pub fn call(&self) -> &Call {
        &self.problem.calls[self.index]
    }

    /// The value of a symbol.
    ///
    /// # Errors
    /// A symbol that means nothing here, such as `group.stride` of a group that has none.
    pub fn integer(&self, name: &str) -> Result<i64, String> {
        let call = self.call();
        let own = |what: &str| self.rank.ok_or_else(|| format!("{what} differs between ranks"));
        let view = |region: &str| match region {
            "input" => Ok(self.plan.input(self.problem, call, self.rank.unwrap_or(Rank(0)))),
            _ => Ok::<_, String>(self.plan.output_of(
                self.problem,
                call,
                self.rank.unwrap_or(Rank(0)),
            )),
        };
        let strided = || {
            call.group.stride().ok_or_else(|| {
                format!("the group {} has no stride (state `groups: strided`)", call.group)
            })
        };
        let value: u64 = match name {
            "m" => call.shape.m,
            "n" => call.shape.n,
            "dtype.bytes" => self.problem.dtype.bytes(),
            "rank" => own(name)?.0.into(),
            "world" => self.problem.world.into(),
            "group.rank" => {
                let rank = own(name)?;
                let group_rank = call.group.group_rank(rank);
                group_rank.ok_or_else(|| format!("rank {rank} is not in the group"))?.0.into()
            }
            "group.size" => call.group.size().into(),
            "group.start" => strided()?.0.into(),
            "group.stride" => strided()?.1.into(),
            "root" => call.root.0.into(),
            "call" => self.index as u64,
            "epoch" => u64::from(call.details.first_epoch) + self.index as u64,
            "blocks" => call.blocks.into(),
            "threads" => self.threads.ok_or("threads is not known yet")?.into(),
            "op" => call.details.op as u64,
            "scalar" => {
                let group_rank = call.group.group_rank(own(name)?).unwrap_or(GroupRank(0));
                return Ok(call.scalar(group_rank).into());
            }
            "tiles" => Problem::tiles(call).iter().product(),
            "peer.rank" | "peer.group_rank" | "peer.index" | "peer.own_index" => {
                return Err(format!("`{name}` has a value in a struct over ranks only"));
            }
            "tile" | "tile.row" | "tile.column" | "pid" => {
                return Err(format!("`{name}` has a value in `reduction` only"));
            }
            "tile.m" => call.tile.m,
            "tile.n" => call.tile.n,
            _ => match name.split_once('.') {
                Some((region @ ("input" | "output"), field)) => {
                    let view = view(region)?;
                    match field {
                        "rows" => view.shape.m,
                        "columns" => view.shape.n,
                        "row_stride" => view.row_stride,
                        "elements" => view.shape.m * view.shape.n,
                        _ => return Err(format!("unknown symbol `{name}`")),
                    }
                }
                _ => return Err(format!("unknown symbol `{name}`")),
            },
        };
        i64::try_from(value).map_err(|_| format!("`{name}` is beyond 63 bits"))
    }
}
