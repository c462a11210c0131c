use super::*;
use crate::meaning::dtype::DType;
use crate::meaning::group::GroupSpec;
use crate::meaning::problem::Details;
use crate::meaning::shape::{Shape, Tile};
use rstest::rstest;

fn problem(collective: Collective, details: Details) -> Problem {
    let mut problem = Problem::plain(collective, 4, DType::F32, Shape { m: 2, n: 5 })
        .with_group(GroupSpec::Ranks(vec![3, 0, 2]))
        .with_tile(Tile { m: 2, n: 2 })
        .with_root(GroupRank(1));
    problem.data = Data::Random;
    problem.numerics.order = Order::Own;
    problem.calls[0].details = details;
    problem
}

fn block(rows: Range<u64>, from: u32, from_row: u64) -> Block {
    let content = Content::Input(Rank(from));
    Block { rows, columns: 0..5, content, from_row, from_column: 0 }
}

fn columns(columns: Range<u64>, from: u32, from_column: u64) -> Block {
    Block { columns, from_column, ..block(0..2, from, 0) }
}

fn reduced(first: u32, from_row: u64) -> Block {
    Block { content: Content::Reduced(first), ..block(0..2, 0, from_row) }
}

fn tile(columns: Range<u64>, first: u32) -> Block {
    let from_column = columns.start;
    Block { columns, from_column, content: Content::Reduced(first), ..block(0..2, 0, 0) }
}

#[rstest]
#[case(Collective::AllGather, 0, vec![block(0..2, 3, 0), block(2..4, 0, 0), block(4..6, 2, 0)])]
#[case(Collective::AllGather, 1, vec![])]
#[case(Collective::Gather, 0, vec![block(0..2, 3, 0), block(2..4, 0, 0), block(4..6, 2, 0)])]
#[case(Collective::Gather, 3, vec![])]
#[case(Collective::Broadcast, 2, vec![block(0..2, 0, 0)])]
#[case(Collective::Scatter, 2, vec![block(0..2, 0, 4)])]
#[case(Collective::AllToAll, 2, vec![block(0..2, 3, 4), block(2..4, 0, 4), block(4..6, 2, 4)])]
#[case(
    Collective::AllToAllColumns, 2,
    vec![columns(0..5, 3, 10), columns(5..10, 0, 10), columns(10..15, 2, 10)]
)]
#[case(Collective::AllReduce, 2, vec![reduced(2, 0)])]
#[case(Collective::Reduce, 0, vec![reduced(1, 0)])]
#[case(Collective::Reduce, 3, vec![])]
#[case(Collective::ReduceScatter, 2, vec![reduced(2, 4)])]
#[case(Collective::Barrier, 0, vec![])]
fn blocks_by_hand(#[case] collective: Collective, #[case] rank: u32, #[case] expected: Vec<Block>) {
    let problem = problem(collective, Details::default());
    assert_eq!(output(&problem, &problem.calls[0], Rank(rank)), expected);
}

#[rstest]
// Tiles are 2x2, 2x2 and 2x1; group ranks 2, 0 and 2 own them.
#[case(Collective::ReduceScatterTiles, 2, vec![tile(0..2, 2), tile(4..5, 2)])]
#[case(Collective::ReduceScatterTiles, 3, vec![tile(2..4, 0)])]
#[case(Collective::ReduceScatterTiles, 0, vec![])]
#[case(Collective::AllReduce, 0, vec![tile(0..2, 2), tile(2..4, 0), tile(4..5, 2)])]
fn owned_tiles_by_hand(
    #[case] collective: Collective,
    #[case] rank: u32,
    #[case] expected: Vec<Block>,
) {
    let problem = problem(collective, Details { owners: vec![2, 0, 2], ..Details::default() });
    assert_eq!(output(&problem, &problem.calls[0], Rank(rank)), expected);
}

#[test]
fn uneven_parts_are_packed_on_both_sides() {
    let counts = vec![vec![1, 0, 2], vec![2, 2, 1], vec![0, 1, 1]];
    let problem = problem(Collective::AllToAll, Details { counts, ..Details::default() });
    // Rank 2 is group rank 2: two rows of rank 3 behind one, one of rank 0 behind four, ..
    let expected = vec![block(0..2, 3, 1), block(2..3, 0, 4), block(3..4, 2, 1)];
    assert_eq!(output(&problem, &problem.calls[0], Rank(2)), expected);
}
