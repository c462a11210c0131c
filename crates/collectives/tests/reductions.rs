//! Reductions, written by hand: inputs and results are literal bytes, and every byte of every heap
//! is broken in turn. Nothing of the crate computes an expectation.

use std::ops::Range;

use collectives::image::fill;
use collectives::{
    Accumulate, Collective, DType, Data, FindingKind, GroupRank, GroupSpec, HeapPlan, Numerics, Op,
    Order, Problem, Shape, Tile, verify,
};

fn problem(collective: Collective, dtype: DType, op: Op, shape: (u64, u64)) -> Problem {
    Problem::plain(collective, 3, dtype, Shape { m: shape.0, n: shape.1 })
        .with_group(GroupSpec::Ranks(vec![2, 0]))
        .with_tile(Tile { m: 1, n: 2 })
        .with_root(GroupRank(1))
        .with_op(op)
        .with_guards(64)
}

fn filled(problem: &Problem) -> Vec<Vec<u8>> {
    let plan = HeapPlan::new(problem).unwrap();
    let mut heaps = vec![vec![0; plan.bytes as usize]; problem.world as usize];
    let mut views: Vec<&mut [u8]> = heaps.iter_mut().map(Vec::as_mut_slice).collect();
    fill(problem, &plan, 0, &mut views);
    heaps
}

fn findings(problem: &Problem, heaps: &[Vec<u8>]) -> Vec<FindingKind> {
    let plan = HeapPlan::new(problem).unwrap();
    let views: Vec<&[u8]> = heaps.iter().map(Vec::as_slice).collect();
    verify(problem, &plan, 0, &views).into_iter().map(|finding| finding.kind).collect()
}

/// Checks the inputs of ranks 0 and 2, writes the results, and breaks every byte in turn.
fn judged(problem: &Problem, inputs: [&[u8]; 2], results: &[(usize, usize, &[u8])]) {
    let mut heaps = filled(problem);
    for (rank, input) in [0, 2].into_iter().zip(inputs) {
        assert_eq!(&heaps[rank][256..256 + input.len()], input, "the input of rank {rank}");
    }
    for (rank, at, result) in results {
        let range: Range<usize> = *at..at + result.len();
        heaps[*rank][range].copy_from_slice(result);
    }
    assert_eq!(findings(problem, &heaps), [], "the literals are judged wrong");
    for rank in 0..heaps.len() {
        for at in 0..heaps[rank].len() {
            heaps[rank][at] ^= 0x10;
            assert_eq!(findings(problem, &heaps).len(), 1, "rank {rank} byte {at}");
            heaps[rank][at] ^= 0x10;
        }
    }
}

#[test]
fn all_reduce_sum_of_f16() {
    // -43.125 - 43.3125, 624 + 636, 840 + 846
    let result: &[u8] = &[0x67, 0xd5, 0xec, 0x64, 0x96, 0x66];
    judged(
        &problem(Collective::AllReduce, DType::F16, Op::Sum, (1, 3)),
        [&[0x64, 0xd1, 0xe0, 0x60, 0x90, 0x62], &[0x6a, 0xd1, 0xf8, 0x60, 0x9c, 0x62]],
        &[(0, 512, result), (2, 512, result)],
    );
}

#[test]
fn all_reduce_sum_of_fp8() {
    // 0.0625 + 0.125, 32 - 4, 16 - 2
    let result: &[u8] = &[0x24, 0x5e, 0x56];
    judged(
        &problem(Collective::AllReduce, DType::F8E4M3Fn, Op::Sum, (1, 3)),
        [&[0x18, 0x60, 0x58], &[0x20, 0xc8, 0xc0]],
        &[(0, 512, result), (2, 512, result)],
    );
}

#[test]
fn all_reduce_in_place() {
    let mut problem = problem(Collective::AllReduce, DType::I8, Op::Sum, (1, 3));
    problem.in_place = true;
    // -110 + 48, -48 + 95, -94 + 68
    let result: &[u8] = &[0xc2, 0x2f, 0xe6];
    judged(
        &problem,
        [&[0x92, 0xd0, 0xa2], &[0x30, 0x5f, 0x44]],
        &[(0, 256, result), (2, 256, result)],
    );
}

#[test]
fn reduce_product_to_the_second_member() {
    // times a half each; group rank 1 is rank 0
    judged(
        &problem(Collective::Reduce, DType::F32, Op::Prod, (1, 3)),
        [
            &[0x0e, 0xa0, 0x8e, 0xbf, 0xab, 0xd3, 0xe1, 0x3f, 0x89, 0xaf, 0xd6, 0x3f],
            &[0, 0, 0, 0x3f, 0, 0, 0, 0x3f, 0, 0, 0, 0x3f],
        ],
        &[(0, 512, &[0x0e, 0xa0, 0x0e, 0xbf, 0xab, 0xd3, 0x61, 0x3f, 0x89, 0xaf, 0x56, 0x3f])],
    );
}

#[test]
fn all_reduce_extremes_of_bf16() {
    let inputs: [&[u8]; 2] =
        [&[0x1d, 0xcd, 0x6f, 0x8e, 0x98, 0x4c], &[0x6d, 0xcd, 0xa0, 0x06, 0xc6, 0x30]];
    // Two negative ones, one of each sign, two positive ones.
    let least: &[u8] = &[0x6d, 0xcd, 0x6f, 0x8e, 0xc6, 0x30];
    let most: &[u8] = &[0x1d, 0xcd, 0xa0, 0x06, 0x98, 0x4c];
    for (op, result) in [(Op::Min, least), (Op::Max, most)] {
        let problem = problem(Collective::AllReduce, DType::BF16, op, (1, 3));
        judged(&problem, inputs, &[(0, 512, result), (2, 512, result)]);
    }
}

#[test]
fn all_reduce_premultiplied_i32() {
    // rank 2 is group rank 0: its elements count twice. 0xea00e692 + 2 * 0x2b706630 = 0x140e1b2f2 is too
    // wide by a bit, as is the third sum; 0x1d3ab4d0 + 2 * 0x4bd33c5f = 0xb4e12d8e is not.
    let result: &[u8] = &[0xf2, 0xb2, 0xe1, 0x40, 0x8e, 0x2d, 0xe1, 0xb4, 0x2a, 0x68, 0xf4, 0x48];
    judged(
        &problem(Collective::AllReduce, DType::I32, Op::PremulSum, (1, 3)),
        [
            &[0x92, 0xe6, 0, 0xea, 0xd0, 0xb4, 0x3a, 0x1d, 0xa2, 0x99, 0xf8, 0x6a],
            &[0x30, 0x66, 0x70, 0x2b, 0x5f, 0x3c, 0xd3, 0x4b, 0x44, 0xe7, 0xfd, 0x6e],
        ],
        &[(0, 512, result), (2, 512, result)],
    );
}

#[test]
fn all_reduce_product_of_i8() {
    // 37 * 97 = 0xe05, -95 * -65 = 0x181f, 69 * -119 = -0x2013
    let result: &[u8] = &[0x05, 0x1f, 0xed];
    judged(
        &problem(Collective::AllReduce, DType::I8, Op::Prod, (1, 3)),
        [&[0x25, 0xa1, 0x45], &[0x61, 0xbf, 0x89]],
        &[(0, 512, result), (2, 512, result)],
    );
}

#[test]
fn all_reduce_average_of_u8() {
    // 104 + 55 = 159 and 77 + 35 = 112 and 19 + 0, halved towards zero
    let result: &[u8] = &[79, 56, 9];
    judged(
        &problem(Collective::AllReduce, DType::U8, Op::Avg, (1, 3)),
        [&[104, 77, 19], &[55, 35, 0]],
        &[(0, 512, result), (2, 512, result)],
    );
}

#[test]
fn reduce_scatter_gives_a_row_each() {
    judged(
        &problem(Collective::ReduceScatter, DType::I8, Op::Sum, (1, 3)),
        // The second row is -21 - 20, 94 + 95 and -88 - 50, of which two wrap.
        [&[0x92, 0xd0, 0xa2, 0xeb, 0x5e, 0xa8], &[0x30, 0x5f, 0x44, 0xec, 0x5f, 0xce]],
        &[(2, 512, &[0xc2, 0x2f, 0xe6]), (0, 512, &[0xd7, 0xbd, 0x76])],
    );
}

#[test]
fn reduce_scatter_in_place_leaves_the_other_parts() {
    let mut problem = problem(Collective::ReduceScatter, DType::I8, Op::Sum, (1, 3));
    problem.in_place = true;
    judged(
        &problem,
        [&[0x92, 0xd0, 0xa2, 0xeb, 0x5e, 0xa8], &[0x30, 0x5f, 0x44, 0xec, 0x5f, 0xce]],
        &[(2, 256, &[0xc2, 0x2f, 0xe6]), (0, 259, &[0xd7, 0xbd, 0x76])],
    );
}

#[test]
fn the_callers_factors_multiply() {
    let mut problem = problem(Collective::AllReduce, DType::I8, Op::PremulSum, (1, 3));
    problem.calls[0].details.scalars = vec![3, -1]; // of ranks 2 and 0
    // 3 * 48 + 110 = 254, 3 * 95 + 48 = 333, 3 * 68 + 94 = 298
    let result: &[u8] = &[0xfe, 0x4d, 0x2a];
    judged(
        &problem,
        [&[0x92, 0xd0, 0xa2], &[0x30, 0x5f, 0x44]],
        &[(0, 512, result), (2, 512, result)],
    );
}

#[test]
fn reduce_scatter_of_owned_tiles_leaves_the_rest() {
    let mut problem = problem(Collective::ReduceScatterTiles, DType::I8, Op::Sum, (1, 3));
    // Columns 0 and 1 belong to group rank 1, column 2 to group rank 0.
    problem.calls[0].details.owners = vec![1, 0];
    judged(
        &problem,
        [&[0x92, 0xd0, 0xa2], &[0x30, 0x5f, 0x44]],
        &[(0, 512, &[0xc2, 0x2f]), (2, 514, &[0xe6])],
    );
}

#[test]
fn random_data_round_in_the_declared_type() {
    let mut problem = problem(Collective::AllReduce, DType::BF16, Op::Sum, (1, 3));
    problem.data = Data::Random;
    problem.numerics = Numerics {
        order: Order::RankOrder,
        accumulate: Some(Accumulate::Element),
        ..Numerics::default()
    };
    // In 256ths of 2, 1 and 1: 194.75 is 195, the ties -211.5 and 214.5 are -212 and 214.
    let result: &[u8] = &[0xc3, 0x3f, 0x54, 0xbf, 0x56, 0x3f];
    judged(
        &problem,
        [&[0xa6, 0x3f, 0x78, 0xbf, 0x25, 0x3f], &[0x66, 0x3e, 0x12, 0x3e, 0x46, 0x3e]],
        &[(0, 512, result), (2, 512, result)],
    );
}

#[test]
fn a_finding_says_which_contribution_is_wrong() {
    let problem = problem(Collective::AllReduce, DType::F16, Op::Sum, (1, 1));
    let said = |value: u16| {
        let mut heaps = filled(&problem);
        heaps[0][512..514].copy_from_slice(&value.to_le_bytes());
        heaps[2][512..514].copy_from_slice(&0xd567u16.to_le_bytes());
        let plan = HeapPlan::new(&problem).unwrap();
        let views: Vec<&[u8]> = heaps.iter().map(Vec::as_slice).collect();
        verify(&problem, &plan, 0, &views)[0].actual.clone().unwrap()
    };
    assert!(said(0xd164).ends_with("the result without rank 2's input"), "{}", said(0xd164));
    // -43.125 * 2 - 43.3125 = -129.5625, which f16 rounds to -129.5
    assert!(said(0xd80c).ends_with("the result with its own input twice"), "{}", said(0xd80c));
}
