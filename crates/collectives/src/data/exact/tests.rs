//! Law 2 for reductions: exact whatever the order. That no slip goes unseen is in `tests/sensitive.rs`.

use rstest::rstest;

use super::*;
use crate::data::declared::undeclared;
use crate::meaning::arithmetic::{self, Operand};
use crate::meaning::op::{Accumulate, Average, Numerics};
use crate::meaning::problem::Collective;
use crate::meaning::shape::{Shape, Tile};

/// All that shipped scenarios have, and some up to the largest world.
const MEMBERS: [u32; 25] =
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 31, 32, 33, 48, 63, 64];
const SHAPE: Shape = Shape { m: 19, n: 67 };

fn problem(dtype: DType, op: Op, members: u32) -> Problem {
    let mut problem = Problem::plain(Collective::AllReduce, members, dtype, SHAPE)
        .with_tile(Tile { m: 4, n: 16 })
        .with_op(op)
        .repeated(2);
    problem.numerics.avg = Some(Average::DivideAfter);
    problem
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
    #[values(false, true)] with_scalars: bool,
) {
    let dtype = DType::ALL[dtype];
    for members in MEMBERS {
        let mut problem = problem(dtype, op, members);
        if with_scalars && op == Op::PremulSum && dtype != DType::U8 {
            let scalar = |g: u32| [3, -1, 4, -6][g as usize % 4];
            problem.calls[0].details.scalars = (0..members).map(scalar).collect();
        }
        // Integers wrap, but in averages.
        let wraps = !dtype.is_float() && op != Op::Avg;
        if wraps || undeclared(&problem).is_some() {
            continue;
        }
        let fill = ExactFill::new(&problem, 0);
        for row in 0..3 {
            let rows = rows(&fill, row, members);
            for at in 0..SHAPE.n as usize {
                let size = dtype.bytes() as usize;
                let values: Vec<f64> = (0..members as usize)
                    .map(|g| {
                        let scalar = problem.calls[0].scalar(GroupRank(g as u32));
                        let scalar = if op == Op::PremulSum { scalar } else { 1 };
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
                if !dtype.is_float() {
                    assert!(ups == 0.0 || downs == 0.0, "{dtype} {members}: both signs");
                    continue;
                }
                assert_ne!(total, 0.0, "{dtype} {op} {members}");
                let round = |v: f64| float::round(dtype, v, Overflow::Nan);
                assert!(round(ups) == ups && round(downs) == downs && round(total) == total);
                if op == Op::Avg {
                    let mean = total / f64::from(members);
                    assert_eq!((mean * f64::from(members), round(mean)), (total, mean));
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
    for members in MEMBERS {
        let problem = problem(dtype, op, members);
        if undeclared(&problem).is_some() {
            continue;
        }
        let fill = ExactFill::new(&problem, 0);
        let rows = rows(&fill, 5, members);
        let operand =
            |(bytes, member)| Operand { bytes, scalar: problem.calls[0].scalar(GroupRank(member)) };
        let rows: Vec<Operand<'_>> = rows.iter().map(Vec::as_slice).zip(0..).map(operand).collect();
        let reduce = |first| arithmetic::reduce(dtype, &problem.numerics, op, first, &rows);
        let expected = reduce(0);
        for element in expected.chunks(dtype.bytes() as usize) {
            let finite = value(dtype, element);
            let vanishes = finite == 0.0 && dtype.is_float();
            assert!(finite.is_finite() && !vanishes, "{dtype} {op} {members}: {finite}");
        }
        for first in 1..members as usize {
            assert_eq!(reduce(first), expected, "{dtype} {op} of {members}");
        }
    }
}

#[rstest]
fn members_and_neighbouring_places_differ(
    #[values(DType::F16, DType::BF16, DType::F32, DType::F64)] dtype: DType,
    #[values(2, 3, 4, 7, 8, 16, 33, 64)] members: u32,
) {
    let problem = problem(dtype, Op::Sum, members);
    let size = dtype.bytes() as usize;
    let sums = |index: usize| -> Vec<Vec<f64>> {
        let fill = ExactFill::new(&problem, index);
        let Elements::Sums(made) = fill.elements else { panic!("{:?}", fill.elements) };
        let all_fit = made.integers >= u64::from(members);
        assert!(all_fit || (dtype == DType::BF16 && members > 32), "{dtype} {members}");
        let sum = |row| {
            let rows = rows(&fill, row, members);
            (0..SHAPE.n as usize)
                .map(|at| {
                    let values: Vec<&[u8]> =
                        rows.iter().map(|row| &row[at * size..][..size]).collect();
                    for (g, one) in values.iter().enumerate().filter(|_| all_fit) {
                        assert_ne!(value(dtype, one), 0.0);
                        assert!(!values[g + 1..].contains(one), "{dtype} {members}: {values:?}");
                    }
                    values.iter().map(|one| value(dtype, one)).sum()
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

/// A kernel must not get away with holding them as floats.
#[rstest]
#[case(DType::I32, |sum| i64::from(sum as f32 as i32))]
#[case(DType::I64, |sum| sum as f64 as i64)]
fn sums_of_integers_are_wider_than_a_significand(
    #[case] dtype: DType,
    #[case] through_float: fn(i64) -> i64,
    #[values(1, 2, 3, 8, 16, 64)] members: u32,
) {
    let problem = problem(dtype, Op::Sum, members);
    let fill = ExactFill::new(&problem, 0);
    let rows = rows(&fill, 0, members);
    let size = dtype.bytes() as usize;
    let element = |row: &Vec<u8>, at: usize| match &row[at * size..][..size] {
        four if size == 4 => i64::from(i32::from_le_bytes(four.try_into().unwrap())),
        eight => i64::from_le_bytes(eight.try_into().unwrap()),
    };
    let wrapped = |sum: i64| if size == 4 { i64::from(sum as i32) } else { sum };
    let sum = |at| rows.iter().fold(0i64, |sum, row| sum.wrapping_add(element(row, at)));
    let sums = (0..SHAPE.n as usize).map(|at| wrapped(sum(at)));
    let changed = sums.filter(|sum| through_float(*sum) != *sum).count();
    assert!(changed > SHAPE.n as usize / 4, "{changed} of {}", SHAPE.n);
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
    assert_eq!(said.needed, "a number of ranks that the accumulate type holds");
    assert_eq!(said.found, "11 ranks in f8e5m2");
    let mut wide = problem(DType::F8E5M2, Op::Avg, 11);
    wide.numerics.accumulate = Some(Accumulate::As(DType::F32));
    let said = undeclared(&wide).unwrap();
    assert_eq!(said.needed, "integers whose every partial sum is exact");
    assert_eq!(said.found, "avg of 11 ranks in f8e5m2");
    for (data, dtype) in [(Data::Random, DType::F8E5M2), (Data::BitPatterns, DType::F8E4M3Fn)] {
        let mut factors = Problem { data, ..problem(dtype, Op::PremulSum, 2) };
        factors.calls[0].details.scalars = vec![17, 1];
        let said = undeclared(&factors).unwrap();
        assert_eq!(said.needed, "factors that the accumulate type holds");
        assert_eq!(said.found, format!("[17, 1] in {dtype}"));
    }
    // The sum of special integers overflows, and nobody says in which type.
    let mut special = Problem { data: Data::BitPatterns, ..problem(DType::I8, Op::Avg, 3) };
    assert!(undeclared(&special).unwrap().needed.contains("accumulate: element"));
    special.numerics.accumulate = Some(Accumulate::Element);
    assert_eq!(undeclared(&special), None);
    let mut scaled = problem(DType::F8E4M3Fn, Op::PremulSum, 2);
    scaled.calls[0].details.scalars = vec![1 << 20, 1];
    scaled.numerics.accumulate = Some(Accumulate::As(DType::F32));
    let said = undeclared(&scaled).unwrap();
    assert_eq!(said.needed, "factors with which every partial sum is exact");
    assert_eq!(said.found, "[1048576, 1] in f8e4m3fn");
    let mut vanishing = problem(DType::I8, Op::PremulSum, 2);
    vanishing.calls[0].details.scalars = vec![256, 1];
    let said = undeclared(&vanishing).unwrap();
    assert_eq!(said.needed, "factors that are not zero in the elements' type");
    let mut floating = problem(DType::I32, Op::Sum, 2);
    floating.numerics.accumulate = Some(Accumulate::As(DType::F32));
    assert_eq!(undeclared(&floating).unwrap().found, "f32 for i32");
    let random = Problem { data: Data::Random, ..problem(DType::F32, Op::Sum, 2) };
    assert!(undeclared(&random).unwrap().needed.contains("order: rank_order"));
}
