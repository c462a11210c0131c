//! What a collective means: which rectangle of whose input belongs where in an output.
//!
//! Written from the definitions alone; it shares nothing with any kernel. Rows and columns are
//! elements; anything that no rectangle covers must stay untouched.

use std::ops::Range;

use crate::problem::{Call, Collective};
use crate::rank::{GroupRank, Rank};

/// Rows of one rank's output that hold rows of one rank's input, over all columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Rows of the output.
    pub rows: Range<u64>,
    /// Whose input.
    pub from: Rank,
    /// Row of that input that stands first.
    pub from_row: u64,
}

/// The blocks that `rank`'s output holds after the call, in order of rows. Empty where the call
/// leaves the output untouched: idle ranks, members that only send, barriers.
pub fn output(collective: Collective, call: &Call, rank: Rank) -> Vec<Block> {
    let Some(GroupRank(me)) = call.group.group_rank(rank) else { return Vec::new() };
    let m = call.shape.m;
    let is_root = GroupRank(me) == call.root;
    let root = || call.group.rank(call.root);
    let stacked = |from_row: u64| -> Vec<Block> {
        call.group
            .members()
            .iter()
            .zip(0u64..)
            .map(|(from, g)| Block { rows: g * m..(g + 1) * m, from: *from, from_row })
            .collect()
    };
    match collective {
        Collective::AllGather => stacked(0),
        Collective::Gather if is_root => stacked(0),
        Collective::Gather => Vec::new(),
        Collective::AllToAll => stacked(u64::from(me) * m),
        Collective::Broadcast => vec![Block { rows: 0..m, from: root(), from_row: 0 }],
        Collective::Scatter => {
            vec![Block { rows: 0..m, from: root(), from_row: u64::from(me) * m }]
        }
        Collective::Barrier => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::GroupSpec;
    use crate::shape::{Shape, Tile};
    use rstest::rstest;

    fn block(rows: Range<u64>, from: u32, from_row: u64) -> Block {
        Block { rows, from: Rank(from), from_row }
    }

    #[rstest]
    #[case(Collective::AllGather, 0, vec![block(0..2, 3, 0), block(2..4, 0, 0), block(4..6, 2, 0)])]
    #[case(Collective::AllGather, 1, vec![])]
    #[case(Collective::Gather, 0, vec![block(0..2, 3, 0), block(2..4, 0, 0), block(4..6, 2, 0)])]
    #[case(Collective::Gather, 3, vec![])]
    #[case(Collective::Broadcast, 2, vec![block(0..2, 0, 0)])]
    #[case(Collective::Scatter, 2, vec![block(0..2, 0, 4)])]
    #[case(Collective::AllToAll, 2, vec![block(0..2, 3, 4), block(2..4, 0, 4), block(4..6, 2, 4)])]
    #[case(Collective::Barrier, 0, vec![])]
    fn blocks_by_hand(
        #[case] collective: Collective,
        #[case] rank: u32,
        #[case] expected: Vec<Block>,
    ) {
        let call = Call {
            shape: Shape { m: 2, n: 5 },
            group: GroupSpec::Ranks(vec![3, 0, 2]).resolve(4).unwrap(),
            tile: Tile { m: 8, n: 8 },
            blocks: 1,
            root: GroupRank(1),
        };
        assert_eq!(output(collective, &call, Rank(rank)), expected);
    }
}
