//! References with a fault each. Whoever compares must find every one of them.

use collectives::arithmetic::Operand;
use collectives::reference::{Block, Content, output};
use collectives::{Call, DType, GroupRank, Numerics, Op, Problem, Rank, arithmetic};

use crate::expected::{REFERENCE, Reference};

/// Every fault, with its name.
pub const ALL: [(&str, Reference); 9] = [
    ("root_is_another", Reference { blocks: root_is_another, ..REFERENCE }),
    ("group_in_rank_order", Reference { blocks: group_in_rank_order, ..REFERENCE }),
    ("own_input_everywhere", Reference { blocks: own_input_everywhere, ..REFERENCE }),
    ("counts_of_the_receiver", Reference { blocks: counts_of_the_receiver, ..REFERENCE }),
    ("columns_of_a_neighbour", Reference { blocks: columns_of_a_neighbour, ..REFERENCE }),
    ("all_tiles_owned", Reference { blocks: all_tiles_owned, ..REFERENCE }),
    ("last_member_left_out", Reference { reduce: last_member_left_out, ..REFERENCE }),
    ("least_and_most_exchanged", Reference { reduce: least_and_most_exchanged, ..REFERENCE }),
    ("factors_forgotten", Reference { reduce: factors_forgotten, ..REFERENCE }),
];

/// The fault of that name.
pub fn named(name: &str) -> Option<Reference> {
    ALL.into_iter().find(|(planted, _)| *planted == name).map(|(_, reference)| reference)
}

fn root_is_another(problem: &Problem, call: &Call, rank: Rank) -> Vec<Block> {
    let root = GroupRank((call.root.0 + 1) % call.group.size());
    output(problem, &Call { root, ..call.clone() }, rank)
}

fn group_in_rank_order(problem: &Problem, call: &Call, rank: Rank) -> Vec<Block> {
    let mut members = call.group.members().to_vec();
    members.sort_unstable();
    let group = collectives::Group::new(members).expect("the same members");
    output(problem, &Call { group, ..call.clone() }, rank)
}

fn own_input_everywhere(problem: &Problem, call: &Call, rank: Rank) -> Vec<Block> {
    let own = |block: Block| Block { content: Content::Input(rank), ..block };
    output(problem, call, rank).into_iter().map(own).collect()
}

fn counts_of_the_receiver(problem: &Problem, call: &Call, rank: Rank) -> Vec<Block> {
    let mut call = call.clone();
    let counts = &call.details.counts;
    let turned = |to: usize| counts.iter().map(|sent| sent[to]).collect();
    call.details.counts = (0..counts.len()).map(turned).collect();
    // Only where both sides still have room for the rows.
    let me = call.group.group_rank(rank).map_or(0, |me| me.0 as usize);
    let fits = |counts: &Vec<u64>| counts.iter().sum::<u64>() <= call.shape.m * counts.len() as u64;
    if call.details.counts.get(me).is_some_and(|counts| !fits(counts)) {
        return Vec::new();
    }
    output(problem, &call, rank)
}

fn columns_of_a_neighbour(problem: &Problem, call: &Call, rank: Rank) -> Vec<Block> {
    let neighbour = |block: Block| match block.from_column {
        0 => block,
        from_column => Block { from_column: from_column - 1, ..block },
    };
    output(problem, call, rank).into_iter().map(neighbour).collect()
}

fn all_tiles_owned(problem: &Problem, call: &Call, rank: Rank) -> Vec<Block> {
    let mut call = call.clone();
    call.details.owners.clear();
    output(problem, &call, rank)
}

fn last_member_left_out(
    dtype: DType,
    numerics: &Numerics,
    op: Op,
    first: usize,
    rows: &[Operand<'_>],
) -> Vec<u8> {
    let fewer = rows.len().max(2) - 1;
    arithmetic::reduce(dtype, numerics, op, first % fewer, &rows[..fewer.min(rows.len())])
}

fn least_and_most_exchanged(
    dtype: DType,
    numerics: &Numerics,
    op: Op,
    first: usize,
    rows: &[Operand<'_>],
) -> Vec<u8> {
    let op = match op {
        Op::Min => Op::Max,
        Op::Max => Op::Min,
        Op::Sum | Op::Prod | Op::Avg | Op::PremulSum => op,
    };
    arithmetic::reduce(dtype, numerics, op, first, rows)
}

fn factors_forgotten(
    dtype: DType,
    numerics: &Numerics,
    op: Op,
    first: usize,
    rows: &[Operand<'_>],
) -> Vec<u8> {
    let rows: Vec<Operand<'_>> = rows.iter().map(|row| Operand { scalar: 1, ..*row }).collect();
    arithmetic::reduce(dtype, numerics, op, first, &rows)
}
