//! Whole heaps, written by hand.
//!
//! Every expectation is a table of byte ranges that covers a heap from its first to its last
//! byte: literal bytes where data belongs, `Kept` where the heap must hold what it held before.
//! Nothing of the crate computes an expectation; the crate only fills the heaps and judges them.
//! A fake executor writes the literals, then every byte is broken in turn.

use std::ops::Range;

use collectives::image::fill;
use collectives::{
    BetweenCalls, Call, Collective, DType, FindingKind, GroupRank, GroupSpec, HeapPlan, Init,
    Judge, Problem, RegionLayout, Shape, Tile, Workspace, verify,
};
use ndarray::{ArrayView2, ShapeBuilder, array};

enum Bytes {
    Kept,
    Literal(&'static [u8]),
    Zero,
}
use Bytes::{Kept, Literal, Zero};

type HeapTable = Vec<(Range<usize>, Bytes)>;

fn problem(world: u32, dtype: DType, shape: (u64, u64), group: GroupSpec) -> Problem {
    Problem::plain(Collective::AllGather, world, dtype, Shape { m: shape.0, n: shape.1 })
        .with_group(group)
        .with_tile(Tile { m: 8, n: 64 })
        .with_guards(64)
}

fn filled(problem: &Problem, call: usize, heaps: &mut [Vec<u8>]) {
    let plan = HeapPlan::new(problem).unwrap();
    let mut views: Vec<&mut [u8]> = heaps.iter_mut().map(Vec::as_mut_slice).collect();
    fill(problem, &plan, call, &mut views);
}

fn findings(problem: &Problem, call: usize, heaps: &[Vec<u8>]) -> Vec<FindingKind> {
    let plan = HeapPlan::new(problem).unwrap();
    let views: Vec<&[u8]> = heaps.iter().map(Vec::as_slice).collect();
    verify(problem, &plan, call, &views).into_iter().map(|finding| finding.kind).collect()
}

/// The fake executor: writes the table's bytes into a heap, and sees that it covers the heap.
fn apply(heap: &mut [u8], table: &HeapTable) {
    let mut end = 0;
    for (range, bytes) in table {
        assert_eq!(range.start, end, "the table has a gap or an overlap");
        end = range.end;
        match bytes {
            Kept => {}
            Literal(literal) => heap[range.clone()].copy_from_slice(literal),
            Zero => heap[range.clone()].fill(0),
        }
    }
    assert_eq!(end, heap.len(), "the table does not reach the heap's end");
}

/// The tables are judged right, and every single byte of every heap is judged.
fn judged_to_the_last_byte(
    problem: &Problem,
    call: usize,
    heaps: &mut [Vec<u8>],
    tables: &[HeapTable],
) {
    for (heap, table) in heaps.iter_mut().zip(tables) {
        apply(heap, table);
    }
    assert_eq!(findings(problem, call, heaps), [], "the literals are judged wrong");
    for rank in 0..heaps.len() {
        for at in 0..heaps[rank].len() {
            heaps[rank][at] ^= 0x10;
            assert_eq!(
                findings(problem, call, heaps).len(),
                1,
                "rank {rank} byte {at} is not judged"
            );
            heaps[rank][at] ^= 0x10;
        }
    }
}

fn padded() -> Problem {
    problem(2, DType::F32, (2, 2), GroupSpec::World).with_layout(
        RegionLayout { pad_columns: 1, offset_elements: 0 },
        RegionLayout { pad_columns: 2, offset_elements: 3 },
    )
}

fn two_calls() -> Problem {
    let mut problem = problem(2, DType::I32, (1, 2), GroupSpec::World);
    let second = Call {
        shape: Shape { m: 1, n: 1 },
        group: GroupSpec::Reversed.resolve(2).unwrap(),
        ..problem.calls[0].clone()
    };
    problem.calls.push(second);
    problem
}

fn with_flags() -> Problem {
    let flags = |name: &str, judge| Workspace {
        name: name.into(),
        bytes: 8,
        init: Init::Zero,
        between_calls: BetweenCalls::Reset,
        judge,
    };
    problem(2, DType::U8, (1, 3), GroupSpec::World)
        .with_workspaces(vec![flags("flags", Judge::Zero), flags("scratch", Judge::Ignore)])
}

fn broadcast() -> Problem {
    let problem = problem(3, DType::F64, (1, 2), GroupSpec::Ranks(vec![2, 0]));
    Problem { collective: Collective::Broadcast, ..problem.with_root(GroupRank(1)) }
}

fn in_place() -> Problem {
    Problem { in_place: true, ..problem(3, DType::I8, (1, 3), GroupSpec::Ranks(vec![2, 0])) }
}

fn fresh(problem: &Problem) -> Vec<Vec<u8>> {
    let plan = HeapPlan::new(problem).unwrap();
    let mut heaps = vec![vec![0; plan.bytes as usize]; problem.world as usize];
    filled(problem, 0, &mut heaps);
    heaps
}

#[test]
fn two_ranks_f16() {
    let problem = problem(2, DType::F16, (2, 3), GroupSpec::World);
    let mut heaps = fresh(&problem);
    const RANK_0: &[u8] = &[0xd0, 0x30, 0xbc, 0x3c, 0xfa, 0xda, 0x6c, 0xac, 0x28, 0xe8, 0x26, 0x16];
    const RANK_1: &[u8] = &[0xc0, 0x20, 0xac, 0x2c, 0xea, 0xca, 0x7c, 0xbc, 0x38, 0xf8, 0x36, 0x06];
    let table = |input: &'static [u8]| -> HeapTable {
        vec![
            (0..256, Kept),
            (256..268, Literal(input)),
            (268..512, Kept),
            (512..524, Literal(RANK_0)),
            (524..536, Literal(RANK_1)),
            (536..4096, Kept),
        ]
    };
    judged_to_the_last_byte(&problem, 0, &mut heaps, &[table(RANK_0), table(RANK_1)]);
}

#[test]
fn strided_group_with_idle_ranks() {
    let problem = problem(4, DType::U8, (1, 5), GroupSpec::Odds);
    let mut heaps = fresh(&problem);
    let active = |input: &'static [u8]| -> HeapTable {
        vec![
            (0..256, Kept),
            (256..261, Literal(input)),
            (261..512, Kept),
            (512..517, Literal(&[0xc0, 0x2c, 0xaa, 0x28, 0xe4])),
            (517..522, Literal(&[0xe0, 0x0c, 0x8a, 0x08, 0xc4])),
            (522..4096, Kept),
        ]
    };
    let idle = || -> HeapTable { vec![(0..4096, Kept)] };
    let tables = [
        idle(),
        active(&[0xc0, 0x2c, 0xaa, 0x28, 0xe4]),
        idle(),
        active(&[0xe0, 0x0c, 0x8a, 0x08, 0xc4]),
    ];
    judged_to_the_last_byte(&problem, 0, &mut heaps, &tables);
}

#[test]
fn padded_output_with_an_element_offset() {
    let problem = padded();
    let mut heaps = fresh(&problem);
    let table = || -> HeapTable {
        vec![
            (0..524, Kept),
            (524..532, Literal(&[0xd0, 0x30, 0xb0, 0x30, 0xfc, 0xdc, 0xbc, 0xbc])),
            (532..540, Kept),
            (540..548, Literal(&[0x6c, 0xac, 0x2c, 0xec, 0x28, 0x18, 0x78, 0x58])),
            (548..556, Kept),
            (556..564, Literal(&[0xc0, 0x20, 0xa0, 0x20, 0xec, 0xcc, 0xac, 0xac])),
            (564..572, Kept),
            (572..580, Literal(&[0x7c, 0xbc, 0x3c, 0xfc, 0x38, 0x08, 0x68, 0x48])),
            (580..4096, Kept),
        ]
    };
    judged_to_the_last_byte(&problem, 0, &mut heaps, &[table(), table()]);

    // The same output as a strided matrix of 4-byte elements: 4 rows, 2 columns, stride 4.
    let elements: Vec<u32> = heaps[1][524..588]
        .chunks_exact(4)
        .map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    let output = ArrayView2::from_shape((4, 2).strides((4, 1)), &elements).unwrap();
    let by_hand = array![
        [0x30b0_30d0u32, 0xbcbc_dcfc],
        [0xec2c_ac6c, 0x5878_1828],
        [0x20a0_20c0, 0xacac_ccec],
        [0xfc3c_bc7c, 0x4868_0838]
    ];
    assert_eq!(output, by_hand);
}

#[test]
fn two_calls_with_another_shape_and_order() {
    let problem = two_calls();
    let mut heaps = fresh(&problem);
    let first = || -> HeapTable {
        vec![
            (0..512, Kept),
            (512..520, Literal(&[0xd0, 0x30, 0xb0, 0x30, 0xfc, 0xdc, 0xbc, 0xbc])),
            (520..528, Literal(&[0xc0, 0x20, 0xa0, 0x20, 0xec, 0xcc, 0xac, 0xac])),
            (528..4096, Kept),
        ]
    };
    judged_to_the_last_byte(&problem, 0, &mut heaps, &[first(), first()]);

    let stale = heaps.clone();
    filled(&problem, 1, &mut heaps);
    // One element each, rank 1 first: the rest of both regions is slack in this call.
    let second = |input: &'static [u8]| -> HeapTable {
        vec![
            (0..256, Kept),
            (256..260, Literal(input)),
            (260..512, Kept),
            (512..516, Literal(&[0xc2, 0x22, 0xa2, 0x22])),
            (516..520, Literal(&[0xd2, 0x32, 0xb2, 0x32])),
            (520..4096, Kept),
        ]
    };
    let tables = [second(&[0xd2, 0x32, 0xb2, 0x32]), second(&[0xc2, 0x22, 0xa2, 0x22])];
    judged_to_the_last_byte(&problem, 1, &mut heaps, &tables);
    assert!(findings(&problem, 1, &stale).len() > 2, "the first call's heaps pass as the second's");
}

#[test]
fn workspaces_are_judged_as_declared() {
    let problem = with_flags();
    let mut heaps = fresh(&problem);
    let table = |input: &'static [u8]| -> HeapTable {
        vec![
            (0..256, Kept),
            (256..259, Literal(input)),
            (259..512, Kept),
            (512..518, Literal(&[0xd0, 0x3c, 0xba, 0xc0, 0x2c, 0xaa])),
            (518..768, Kept),
            (768..776, Zero),
            (776..4096, Kept),
        ]
    };
    let tables = [table(&[0xd0, 0x3c, 0xba]), table(&[0xc0, 0x2c, 0xaa])];
    for (heap, table) in heaps.iter_mut().zip(&tables) {
        apply(heap, table);
    }
    assert_eq!(findings(&problem, 0, &heaps), []);
    heaps[1][1024..1032].fill(0xff); // `scratch`: declared as nobody's business
    assert_eq!(findings(&problem, 0, &heaps), []);
    heaps[1][1032] ^= 1; // one byte behind it is not
    assert_eq!(findings(&problem, 0, &heaps), [FindingKind::GuardOverwritten]);
    heaps[1][1032] ^= 1;
    heaps[0][775] = 1; // `flags`: declared to end as zero
    assert_eq!(findings(&problem, 0, &heaps), [FindingKind::WorkspaceMismatch]);
}

#[test]
fn broadcast_from_group_rank_one_of_a_permuted_group() {
    let problem = broadcast();
    let mut heaps = fresh(&problem);
    const ROOT: &[u8] = &[
        0xd0, 0x30, 0xb0, 0x30, 0xf0, 0xd0, 0xb0, 0xb0, 0x6c, 0xac, 0x2c, 0xec, 0x2c, 0x1c, 0x7c,
        0x5c,
    ];
    let active =
        || -> HeapTable { vec![(0..512, Kept), (512..528, Literal(ROOT)), (528..4096, Kept)] };
    let tables = [active(), vec![(0..4096, Kept)], active()];
    judged_to_the_last_byte(&problem, 0, &mut heaps, &tables);
}

#[test]
fn in_place_with_the_own_part_where_it_stays() {
    let problem = in_place();
    let mut heaps = fresh(&problem);
    let active = || -> HeapTable {
        vec![
            (0..256, Kept),
            (256..259, Literal(&[0xf0, 0x1c, 0x9a])),
            (259..262, Literal(&[0xd0, 0x3c, 0xba])),
            (262..4096, Kept),
        ]
    };
    let tables = [active(), vec![(0..4096, Kept)], active()];
    judged_to_the_last_byte(&problem, 0, &mut heaps, &tables);
}

fn in_place_to_or_from_rank_0(collective: Collective) -> Problem {
    let mut problem = Problem { collective, ..in_place() };
    problem.calls[0].root = GroupRank(1);
    problem
}

#[test]
fn in_place_gather_into_the_root() {
    let problem = in_place_to_or_from_rank_0(Collective::Gather);
    let mut heaps = fresh(&problem);
    let root = vec![
        (0..256, Kept),
        (256..259, Literal(&[0xf0, 0x1c, 0x9a])),
        (259..4096, Kept), // its own part, where it was
    ];
    let tables = [root, vec![(0..4096, Kept)], vec![(0..4096, Kept)]];
    judged_to_the_last_byte(&problem, 0, &mut heaps, &tables);
}

#[test]
fn in_place_scatter_into_the_own_part_of_the_input() {
    let problem = in_place_to_or_from_rank_0(Collective::Scatter);
    let mut heaps = fresh(&problem);
    let first = vec![(0..256, Kept), (256..259, Literal(&[0xd0, 0x3c, 0xba])), (259..4096, Kept)];
    let tables = [vec![(0..4096, Kept)], vec![(0..4096, Kept)], first];
    judged_to_the_last_byte(&problem, 0, &mut heaps, &tables);
}

#[test]
fn each_kind_of_place_has_its_finding() {
    let problem = padded();
    let mut heaps = fresh(&problem);
    for heap in &mut heaps {
        heap[524..532].copy_from_slice(&[0xd0, 0x30, 0xb0, 0x30, 0xfc, 0xdc, 0xbc, 0xbc]);
        heap[540..548].copy_from_slice(&[0x6c, 0xac, 0x2c, 0xec, 0x28, 0x18, 0x78, 0x58]);
        heap[556..564].copy_from_slice(&[0xc0, 0x20, 0xa0, 0x20, 0xec, 0xcc, 0xac, 0xac]);
    }
    // Row 3 of the output was never written.
    assert_eq!(findings(&problem, 0, &heaps), [FindingKind::Unwritten; 2]);
    for heap in &mut heaps {
        heap[572..580].copy_from_slice(&[0x7c, 0xbc, 0x3c, 0xfc, 0x38, 0x08, 0x68, 0x48]);
    }
    assert_eq!(findings(&problem, 0, &heaps), []);
    for (at, kind) in [
        (255, FindingKind::GuardOverwritten),
        (256, FindingKind::InputModified),
        (264, FindingKind::PaddingOverwritten),
        (280, FindingKind::GuardOverwritten),
        (512, FindingKind::SlackOverwritten),
        (524, FindingKind::OutputMismatch),
        (532, FindingKind::PaddingOverwritten),
        (588, FindingKind::GuardOverwritten),
        (4095, FindingKind::GuardOverwritten),
    ] {
        heaps[1][at] ^= 0x20;
        assert_eq!(findings(&problem, 0, &heaps), [kind], "byte {at}");
        heaps[1][at] ^= 0x20;
    }
}
