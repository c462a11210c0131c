//! Faults that harnesses have had. Each test builds a harness with the fault, which passes a wrong
//! kernel (or fails a right one), and sees that this crate judges the same kernel rightly.
//!
//! A kernel is a function from an element of an output to the element of an input that it copies.

use collectives::image::fill;
use collectives::{
    Collective, DType, FindingKind, HeapPlan, Layout, PlanError, Problem, RegionLayout, Shape,
    Tile, verify,
};
use half::f16;
use rstest::rstest;

const M: u64 = 4;
const N: u64 = 6;

/// An element of a rank's input in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Element {
    rank: u64,
    call: u64,
    row: u64,
    column: u64,
}

/// An all-gather: what stands in `rank`'s output in `call`; `None` is a zero.
type Kernel = fn(rank: u64, call: u64, row: u64, column: u64) -> Option<Element>;

fn right(_: u64, call: u64, row: u64, column: u64) -> Option<Element> {
    Some(Element { rank: row / M, call, row: row % M, column })
}

fn rows_turned_round(_: u64, call: u64, row: u64, column: u64) -> Option<Element> {
    Some(Element { rank: row / M, call, row: M - 1 - row % M, column })
}

fn columns_shifted(_: u64, call: u64, row: u64, column: u64) -> Option<Element> {
    Some(Element { rank: row / M, call, row: row % M, column: (column + 1) % N })
}

fn shards_swapped(_: u64, call: u64, row: u64, column: u64) -> Option<Element> {
    Some(Element { rank: (row / M) ^ 1, call, row: row % M, column })
}

fn neighbour_of_last_call(_: u64, call: u64, row: u64, column: u64) -> Option<Element> {
    match call {
        0 => right(0, call, row, column),
        _ => Some(Element { rank: row / M + 1, call: call - 1, row: row % M, column })
            .filter(|element| element.rank < 4)
            .or(right(0, call, row, column)),
    }
}

fn zeros(_: u64, _: u64, _: u64, _: u64) -> Option<Element> {
    None
}

fn wrong_on_rank_2(rank: u64, call: u64, row: u64, column: u64) -> Option<Element> {
    if rank == 2 {
        columns_shifted(rank, call, row, column)
    } else {
        right(rank, call, row, column)
    }
}

fn own_data_only(rank: u64, call: u64, row: u64, column: u64) -> Option<Element> {
    Some(Element { rank, call, row: row % M, column })
}

/// A harness with a fill of its own, a number of ranks, and a way to compare.
struct Double {
    fill: fn(Element) -> u32,
    world: u64,
    compares: fn(rank: u64, actual: u32) -> bool,
}

const KEYED: fn(Element) -> u32 =
    |e| (((e.call * 8 + e.rank) * 8 + e.row) * 8 + e.column) as u32 + 1;
const EVERYTHING: fn(u64, u32) -> bool = |_, _| true;

impl Double {
    fn passes(&self, kernel: Kernel) -> bool {
        let value = |element: Option<Element>| element.map_or(0, self.fill);
        let places = (0..2).flat_map(|call| {
            let rows = move |rank| (0..self.world * M).map(move |row| (rank, row));
            (0..self.world).flat_map(rows).map(move |(rank, row)| (call, rank, row))
        });
        places.flat_map(|place| (0..N).map(move |column| (place, column))).all(
            |((call, rank, row), column)| {
                let actual = value(kernel(rank, call, row, column));
                !(self.compares)(rank, actual) || actual == value(right(rank, call, row, column))
            },
        )
    }
}

fn problem(world: u32, shape: Shape, dtype: DType) -> Problem {
    Problem::plain(Collective::AllGather, world, dtype, shape)
        .with_tile(Tile { m: 8, n: 64 })
        .with_guards(64)
        .repeated(2)
}

/// The ranks on which this crate finds something wrong.
fn found(world: u32, kernel: Kernel) -> Vec<(u32, FindingKind)> {
    let problem = problem(world, Shape { m: M, n: N }, DType::U8);
    let plan = HeapPlan::new(&problem).unwrap();
    let mut heaps = vec![vec![0u8; plan.bytes as usize]; world as usize];
    let mut inputs = Vec::new();
    let mut kinds = Vec::new();
    for (index, call) in (0u64..).zip(&problem.calls) {
        let mut views: Vec<&mut [u8]> = heaps.iter_mut().map(Vec::as_mut_slice).collect();
        fill(&problem, &plan, index as usize, &mut views);
        inputs.push(heaps.clone());
        for rank in problem.ranks() {
            let output = plan.output(&problem, call);
            for (row, column) in (0..output.shape.m).flat_map(|r| (0..N).map(move |c| (r, c))) {
                let value = kernel(rank.0.into(), index, row, column).map_or(0, |from| {
                    let input = plan.input(&problem, call, rank);
                    let at = input.row_bytes(from.row, from.column..from.column + 1).start;
                    inputs[from.call as usize][from.rank as usize][at as usize]
                });
                let at = output.row_bytes(row, column..column + 1).start;
                heaps[rank.index()][at as usize] = value;
            }
        }
        let views: Vec<&[u8]> = heaps.iter().map(Vec::as_slice).collect();
        let findings = verify(&problem, &plan, index as usize, &views);
        kinds.extend(findings.into_iter().map(|finding| (finding.rank.unwrap().0, finding.kind)));
    }
    kinds
}

#[rstest]
// H01: every rank's data is one constant, or the same on every rank.
#[case(Double { fill: |e| e.rank as u32 + 1, world: 4, compares: EVERYTHING }, rows_turned_round)]
#[case(Double { fill: |_| 42, world: 4, compares: EVERYTHING }, shards_swapped)]
// H02: constant inside a slice.
#[case(Double { fill: |e| (e.rank * 8 + e.row) as u32 + 1, world: 4, compares: EVERYTHING }, columns_shifted)]
// H03: rank and call only count as their sum.
#[case(Double { fill: |e| ((e.rank + e.call) * 64 + e.row * 8 + e.column) as u32, world: 4, compares: EVERYTHING }, neighbour_of_last_call)]
// H04: only what is not zero is compared.
#[case(Double { fill: KEYED, world: 4, compares: |_, actual| actual != 0 }, zeros)]
// H06: rank 0 gives the verdict.
#[case(Double { fill: KEYED, world: 4, compares: |rank, _| rank == 0 }, wrong_on_rank_2)]
// H07: a world of one.
#[case(Double { fill: KEYED, world: 1, compares: EVERYTHING }, own_data_only)]
fn a_faulty_harness_passes_what_is_found_here(#[case] double: Double, #[case] wrong: Kernel) {
    assert!(double.passes(right) && double.passes(wrong), "the double is not faulty");
    let whole = Double { fill: KEYED, world: 4, compares: EVERYTHING };
    assert!(whole.passes(right) && !whole.passes(wrong), "the kernel is not wrong");
    assert_eq!(found(4, right), []);
    let found = found(4, wrong);
    assert!(!found.is_empty());
    assert!(found.iter().all(|(_, kind)| *kind == FindingKind::OutputMismatch), "{found:?}");
}

#[test]
fn a_fault_on_one_rank_is_found_on_that_rank() {
    assert!(found(4, wrong_on_rank_2).iter().all(|(rank, _)| *rank == 2));
}

/// H08: strides that are only ever used with one row.
#[rstest]
#[case(1, true)]
#[case(2, false)]
fn a_stride_needs_two_rows(#[case] rows: u64, #[case] passes: bool) {
    let padded = RegionLayout { pad_columns: 3, offset_elements: 0 };
    let mut problem = problem(1, Shape { m: rows, n: N }, DType::U8);
    problem.layout = Layout { input: padded, output: padded };
    let plan = HeapPlan::new(&problem).unwrap();
    let mut heap = vec![0u8; plan.bytes as usize];
    fill(&problem, &plan, 0, &mut [&mut heap]);
    let input = plan.input(&problem, &problem.calls[0], collectives::Rank(0)).start as usize;
    let output = plan.output(&problem, &problem.calls[0]).start as usize;
    // The kernel takes n for the stride.
    heap.copy_within(input..input + (rows * N) as usize, output);
    assert_eq!(verify(&problem, &plan, 0, &[&heap]).is_empty(), passes);
}

/// H09: numbers that the type cannot hold make right kernels fail.
#[test]
fn a_right_copy_of_many_halves_passes() {
    let counted = |i: u32| f16::from_f32(i as f32).to_f32() == i as f32;
    assert!(!(0..3000).all(counted), "counting up is not faulty");
    let problem = problem(1, Shape { m: 3, n: 1000 }, DType::F16);
    let plan = HeapPlan::new(&problem).unwrap();
    let mut heap = vec![0u8; plan.bytes as usize];
    fill(&problem, &plan, 0, &mut [&mut heap]);
    let input = plan.input(&problem, &problem.calls[0], collectives::Rank(0)).start as usize;
    let output = plan.output(&problem, &problem.calls[0]).start as usize;
    heap.copy_within(input..input + 6000, output);
    assert_eq!(verify(&problem, &plan, 0, &[&heap]), []);
}

/// H13: sizes of the harness's own buffers that wrap around.
#[rstest]
#[case(u64::MAX, 2)]
#[case(1 << 33, 1 << 33)]
#[case(1 << 40, 1 << 10)]
fn sizes_that_overflow_are_refused(#[case] m: u64, #[case] n: u64) {
    let problem = problem(2, Shape { m, n }, DType::F64);
    assert_eq!(HeapPlan::new(&problem), Err(PlanError::Overflow));
}
