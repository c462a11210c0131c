//! The values that symbols have for one rank and call.

use collectives::{Call, GroupRank, HeapPlan, Problem, Rank};

use crate::manifest::Manifest;

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
