//! Law 2 for reductions: exact whatever the order, and no known confusion goes unseen.

use rstest::rstest;

use super::*;
use crate::arithmetic;
use crate::declared::undeclared;
use crate::group::GroupSpec;
use crate::op::{Average, Numerics};
use crate::problem::{Call, Collective, Details, Init, Layout};
use crate::shape::{Shape, Tile};

const SHAPE: Shape = Shape { m: 19, n: 67 };

fn problem(dtype: DType, op: Op, members: u32) -> Problem {
    let call = Call {
        shape: SHAPE,
        group: GroupSpec::World.resolve(members).unwrap(),
        tile: Tile { m: 4, n: 16 },
        blocks: 1,
        root: GroupRank(0),
        details: Details { op, ..Details::default() },
    };
    Problem {
        collective: Collective::AllReduce,
        world: members,
        dtype,
        layout: Layout::default(),
        in_place: false,
        guard_bytes: 0,
        data: Data::Keyed,
        numerics: Numerics { avg: Some(Average::DivideAfter), ..Numerics::default() },
        output_init: Init::Poison,
        workspaces: Vec::new(),
        calls: vec![call.clone(), call],
        seed: 7,
    }
}

fn rows(fill: &ExactFill, row: u64, members: u32) -> Vec<Vec<u8>> {
    let one = |rank| {
        let mut bytes = Vec::new();
        fill.row(Rank(rank), row, &mut bytes);
        bytes
    };
    (0..members).map(one).collect()
}

fn value(dtype: DType, bytes: &[u8]) -> f64 {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(wide);
    match dtype {
        DType::U8 => bits as f64,
        DType::I8 => f64::from(bits as i8),
        DType::I32 => f64::from(bits as i32),
        DType::I64 => bits as i64 as f64,
        float => float::decode(float, bits),
    }
}

/// The lowest bit that is set in any of the values.
fn lowest_bit(values: &[f64]) -> f64 {
    let lowest = |value: f64| {
        (0..).map(|e| 2f64.powi(40 - e)).find(|unit| (value / unit).fract() == 0.0).unwrap()
    };
    values.iter().filter(|v| **v != 0.0).map(|v| lowest(*v)).fold(f64::INFINITY, f64::min)
}

#[rstest]
fn every_partial_sum_of_every_subset_is_exact(
    #[values(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)] dtype: usize,
    #[values(Op::Sum, Op::Avg, Op::PremulSum)] op: Op,
) {
    let dtype = DType::ALL[dtype];
    for members in 1..=16 {
        let problem = problem(dtype, op, members);
        if undeclared(&problem).is_some() {
            continue;
        }
        let fill = ExactFill::new(&problem, 0);
        for row in 0..3 {
            let rows = rows(&fill, row, members);
            for at in 0..SHAPE.n as usize {
                let size = dtype.bytes() as usize;
                let values: Vec<f64> = (0..members as usize)
                    .map(|g| {
                        let scalar = if op == Op::PremulSum { scalar(g as u32) } else { 1 };
                        value(dtype, &rows[g][at * size..][..size]) * f64::from(scalar)
                    })
                    .collect();
                // Every subset's sum lies between these two, in units that all values share.
                let unit = lowest_bit(&values);
                let ups: f64 = values.iter().filter(|v| **v > 0.0).sum();
                let downs: f64 = values.iter().filter(|v| **v < 0.0).sum();
                let most = 2f64.powi(dtype.exact_bits() as i32);
                assert!(ups / unit <= most && -downs / unit <= most, "{dtype} {op} {members}");
                let total = ups + downs;
                if dtype.is_float() || op != Op::PremulSum {
                    assert_ne!(total, 0.0, "{dtype} {op} {members}");
                }
                // An i64 is beyond the f64s of this test.
                if op == Op::Avg && dtype != DType::I64 {
                    let mean = total / f64::from(members);
                    assert_eq!(mean * f64::from(members), total);
                    let exact = dtype.is_float()
                        && float::round(dtype, mean, Overflow::Nan).to_bits() == mean.to_bits();
                    assert!(exact || mean.fract() == 0.0, "{dtype} {members} {total}");
                }
                if dtype.is_float() {
                    let round = |v: f64| float::round(dtype, v, Overflow::Nan);
                    assert!(round(ups) == ups && round(downs) == downs && round(total) == total);
                }
            }
        }
    }
}

#[rstest]
fn any_first_member_gives_the_same_bits(
    #[values(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)] dtype: usize,
    #[values(Op::Sum, Op::Prod, Op::Min, Op::Max, Op::Avg, Op::PremulSum)] op: Op,
) {
    let dtype = DType::ALL[dtype];
    for members in 1..=16 {
        let problem = problem(dtype, op, members);
        if undeclared(&problem).is_some() {
            continue;
        }
        let fill = ExactFill::new(&problem, 0);
        let rows = rows(&fill, 5, members);
        let rows: Vec<&[u8]> = rows.iter().map(Vec::as_slice).collect();
        let reduce = |first| arithmetic::reduce(dtype, &problem.numerics, op, first, &rows);
        let expected = reduce(0);
        for element in expected.chunks(dtype.bytes() as usize) {
            let finite = value(dtype, element);
            let vanishes = finite == 0.0 && (dtype.is_float() || op != Op::PremulSum);
            assert!(finite.is_finite() && !vanishes, "{dtype} {op} {members}: {finite}");
        }
        for first in 1..members as usize {
            assert_eq!(reduce(first), expected, "{dtype} {op} of {members}");
        }
    }
}

#[rstest]
fn members_and_neighbouring_places_differ(
    #[values(DType::F16, DType::BF16, DType::F32, DType::F64, DType::I32, DType::I64)] dtype: DType,
    #[values(2, 3, 4, 7, 8, 16)] members: u32,
) {
    let problem = problem(dtype, Op::Sum, members);
    let size = dtype.bytes() as usize;
    let sums = |index: usize| -> Vec<Vec<f64>> {
        let fill = ExactFill::new(&problem, index);
        let sum = |row| {
            let rows = rows(&fill, row, members);
            (0..SHAPE.n as usize)
                .map(|at| {
                    let values: Vec<f64> = (0..members as usize)
                        .map(|g| value(dtype, &rows[g][at * size..][..size]))
                        .collect();
                    for (g, one) in values.iter().enumerate() {
                        assert_ne!(*one, 0.0);
                        assert!(!values[g + 1..].contains(one), "{dtype} {members}: {values:?}");
                    }
                    values.iter().sum()
                })
                .collect()
        };
        (0..SHAPE.m).map(sum).collect()
    };
    let (now, next) = (sums(0), sums(1));
    for (row, values) in now.iter().enumerate() {
        for (column, value) in values.iter().enumerate() {
            for (down, across) in [(0, 1), (0, 2), (0, 16 / size), (0, 16), (1, 0), (2, 0), (4, 0)]
            {
                let other = now.get(row + down).and_then(|row| row.get(column + across));
                assert_ne!(other, Some(value), "{dtype} {members} +{down} +{across}");
            }
            assert_ne!(next[row][column], *value, "the call before");
        }
    }
}

#[test]
fn what_cannot_be_exact_says_why() {
    let scaled = |dtype, members| Problem {
        numerics: Numerics { avg: Some(Average::ScaleBefore), ..Numerics::default() },
        ..problem(dtype, Op::Avg, members)
    };
    let said = undeclared(&scaled(DType::F32, 3)).unwrap();
    assert_eq!(said.needed, "an average that is exact (divide_after, or 2^k ranks)");
    assert_eq!(said.found, "scale_before: f32 elements over 3 ranks");
    assert_eq!(undeclared(&scaled(DType::F32, 4)), None);
    let said = undeclared(&problem(DType::F8E5M2, Op::Avg, 11)).unwrap();
    assert_eq!(said.needed, "integers whose every partial sum is exact");
    assert_eq!(said.found, "avg of 11 ranks in f8e5m2");
    let random = Problem { data: Data::Random, ..problem(DType::F32, Op::Sum, 2) };
    assert!(undeclared(&random).unwrap().needed.contains("order: rank_order"));
}
