//! What a collective means: which rectangle of whose input, or of the reduction of all inputs,
//! belongs where in an output.
//!
//! Written from the definitions alone; it shares nothing with any kernel. Rows and columns are
//! elements; anything that no rectangle covers must stay untouched.

use std::ops::Range;

use crate::meaning::op::Order;
use crate::meaning::problem::{Call, Collective, Data, Problem};
use crate::meaning::rank::{GroupRank, Rank};

/// A rectangle of one rank's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Rows of the output.
    pub rows: Range<u64>,
    /// Columns of the output.
    pub columns: Range<u64>,
    /// What stands there.
    pub content: Content,
    /// Row that stands first, in the input or the reduction.
    pub from_row: u64,
    /// Column that stands first.
    pub from_column: u64,
}

/// Of what a block is a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A rank's input.
    Input(Rank),
    /// The inputs of all members, combined from this group rank on.
    Reduced(u32),
}

/// The blocks that `rank`'s output holds after the call, by rows and then columns: blocks that
/// share a row have all their rows in common. Empty where the call leaves the output untouched:
/// idle ranks, members that only send, barriers.
pub fn output(problem: &Problem, call: &Call, rank: Rank) -> Vec<Block> {
    let Some(GroupRank(me)) = call.group.group_rank(rank) else { return Vec::new() };
    let (m, n) = (call.shape.m, call.shape.n);
    let is_root = GroupRank(me) == call.root;
    let root = || call.group.rank(call.root);
    let whole = |from: Rank, from_row: u64| Block {
        rows: 0..m,
        columns: 0..n,
        content: Content::Input(from),
        from_row,
        from_column: 0,
    };
    let members = || call.group.members().iter().copied().zip(0u64..);
    let stacked =
        || members().map(|(from, g)| Block { rows: g * m..(g + 1) * m, ..whole(from, 0) });
    let me_rows = u64::from(me) * m;
    match problem.collective {
        Collective::AllGather => stacked().collect(),
        Collective::Gather if is_root => stacked().collect(),
        Collective::Gather => Vec::new(),
        Collective::AllToAll if !call.details.counts.is_empty() => packed(call, me),
        Collective::AllToAll => {
            stacked().map(|block| Block { from_row: me_rows, ..block }).collect()
        }
        Collective::AllToAllColumns => members()
            .map(|(from, g)| Block {
                columns: g * n..(g + 1) * n,
                from_column: u64::from(me) * n,
                ..whole(from, 0)
            })
            .collect(),
        Collective::Broadcast => vec![whole(root(), 0)],
        Collective::Scatter => vec![whole(root(), me_rows)],
        Collective::AllReduce => reduced(problem, call, me, 0),
        Collective::Reduce if is_root => reduced(problem, call, me, 0),
        Collective::Reduce => Vec::new(),
        Collective::ReduceScatter => reduced(problem, call, me, me_rows),
        Collective::ReduceScatterTiles => {
            let owned = tiles(call).filter(|tile| owner(call, me, tile.number) == me);
            owned.map(|tile| tile.block(problem, call, me)).collect()
        }
        Collective::Barrier => Vec::new(),
    }
}

/// An all_to_all of uneven parts: rows for d lie behind those for its predecessors, and rows from
/// s behind those from its predecessors.
fn packed(call: &Call, me: u32) -> Vec<Block> {
    let counts = &call.details.counts;
    let mut row = 0;
    let mut blocks = Vec::new();
    for (from, sent) in call.group.members().iter().zip(counts) {
        let count = sent[me as usize];
        blocks.push(Block {
            rows: row..row + count,
            columns: 0..call.shape.n,
            content: Content::Input(*from),
            from_row: sent[..me as usize].iter().sum(),
            from_column: 0,
        });
        row += count;
    }
    blocks
}

/// The whole (M, N) of a reduction from row `from_row` on, in tiles where the order depends on them.
fn reduced(problem: &Problem, call: &Call, me: u32, from_row: u64) -> Vec<Block> {
    let by_tile = !call.details.owners.is_empty() || problem.numerics.order == Order::ByTile;
    if by_tile && !any_order(problem) {
        return tiles(call)
            .map(|tile| {
                let block = tile.block(problem, call, owner(call, me, tile.number));
                Block { from_row: block.from_row + from_row, ..block }
            })
            .collect();
    }
    let content = Content::Reduced(first(problem, call, me, 0));
    let (rows, columns) = (0..call.shape.m, 0..call.shape.n);
    vec![Block { rows, columns, content, from_row, from_column: 0 }]
}

/// A tile of a call's (M, N).
struct TilePlace {
    number: usize,
    rows: Range<u64>,
    columns: Range<u64>,
}

fn tiles(call: &Call) -> impl Iterator<Item = TilePlace> + '_ {
    let [down, across] = Problem::tiles(call);
    let part = |index: u64, size: u64, most: u64| index * size..((index + 1) * size).min(most);
    (0..down * across).map(move |number| TilePlace {
        number: number as usize,
        rows: part(number / across, call.tile.m, call.shape.m),
        columns: part(number % across, call.tile.n, call.shape.n),
    })
}

impl TilePlace {
    /// The tile's part of the reduction that group rank `by` computes.
    fn block(&self, problem: &Problem, call: &Call, by: u32) -> Block {
        Block {
            rows: self.rows.clone(),
            columns: self.columns.clone(),
            content: Content::Reduced(first(problem, call, by, self.number)),
            from_row: self.rows.start,
            from_column: self.columns.start,
        }
    }
}

fn owner(call: &Call, me: u32, tile: usize) -> u32 {
    call.details.owners.get(tile).copied().unwrap_or(me)
}

/// Whether the data give the same bits in any order, so that one image serves all members.
fn any_order(problem: &Problem) -> bool {
    problem.data == Data::Keyed
}

/// The group rank whose element comes first where `by` computes a tile.
fn first(problem: &Problem, call: &Call, by: u32, tile: usize) -> u32 {
    if any_order(problem) {
        return 0;
    }
    match problem.numerics.order {
        Order::Any | Order::RankOrder => 0,
        Order::Own => by,
        Order::Ring => (by + 1) % call.group.size(),
        Order::ByTile => call.details.starts.get(tile).copied().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests;
