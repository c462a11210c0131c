//! The arithmetic of reductions: one rounding after every operation, in the declared order and
//! type. Written from the definitions; it shares nothing with any kernel.

use crate::meaning::dtype::DType;
use crate::meaning::float;
use crate::meaning::op::{Average, Initial, NanRule, Numerics, Op, Overflow, SignedZeros};

/// What a member contributes to a row.
#[derive(Debug, Clone, Copy)]
pub struct Operand<'a> {
    /// Its elements.
    pub bytes: &'a [u8],
    /// What a premultiplied sum multiplies them by.
    pub scalar: i32,
}

/// Reduces rows of elements, one a group rank, beginning with group rank `first` and going up
/// around the group. The rows have one length, and so has the result.
///
/// Held values are f64: sums, products and quotients of types up to f32 are rounded once to f64 and
/// once more to their own type, which is innocuous because f64 has more than twice their
/// significand and two bits (Figueroa 1995).
pub fn reduce(
    dtype: DType,
    numerics: &Numerics,
    op: Op,
    first: usize,
    rows: &[Operand<'_>],
) -> Vec<u8> {
    let members = rows.len();
    let size = dtype.bytes() as usize;
    let order: Vec<usize> = (0..members).map(|step| (first + step) % members).collect();
    let length = rows[0].bytes.len() / size;
    let bits = |member: usize, at: usize| {
        let mut wide = [0; 8];
        wide[..size].copy_from_slice(&rows[member].bytes[at * size..(at + 1) * size]);
        u64::from_le_bytes(wide)
    };
    let element = |at: usize| {
        let operands = order.iter().map(|member| (rows[*member].scalar, bits(*member, at)));
        match dtype.is_float() {
            true => reduce_floats(dtype, numerics, op, members, operands),
            false => reduce_integers(dtype, numerics, op, members, operands),
        }
    };
    (0..length).flat_map(|at| element(at).to_le_bytes().into_iter().take(size)).collect()
}

/// The value that an integer type holds after everything beyond its bits was dropped.
fn wrapped(dtype: DType, bits: u64) -> i64 {
    match dtype {
        DType::U8 => i64::from(bits as u8),
        DType::I8 => i64::from(bits as i8),
        DType::I32 => i64::from(bits as i32),
        _ => bits as i64,
    }
}

/// Integers wrap in the type in which partial results are held, which matters to averages alone.
fn reduce_integers(
    dtype: DType,
    numerics: &Numerics,
    op: Op,
    members: usize,
    operands: impl Iterator<Item = (i32, u64)>,
) -> u64 {
    let value = |bits: u64| wrapped(dtype, bits);
    let values = operands.map(|(scalar, bits)| match op {
        Op::PremulSum => value(bits).wrapping_mul(scalar.into()),
        Op::Sum | Op::Prod | Op::Min | Op::Max | Op::Avg => value(bits),
    });
    let reduced = values.reduce(|a, b| match op {
        Op::Sum | Op::Avg | Op::PremulSum => a.wrapping_add(b),
        Op::Prod => a.wrapping_mul(b),
        Op::Min => a.min(b),
        Op::Max => a.max(b),
    });
    let reduced = reduced.expect("a group has members");
    let held = || wrapped(numerics.held_in(dtype), reduced as u64);
    (if op == Op::Avg { held().wrapping_div(members as i64) } else { reduced }) as u64
}

fn reduce_floats(
    dtype: DType,
    numerics: &Numerics,
    op: Op,
    members: usize,
    operands: impl Iterator<Item = (i32, u64)>,
) -> u64 {
    let held = numerics.held_in(dtype);
    // Between a float type and itself nothing is rounded; integers hold exact data as f64 does.
    let held = if held.is_float() { held } else { DType::F64 };
    let overflow = numerics.overflow.unwrap_or(Overflow::Nan);
    let round = |value: f64| float::round(held, value, overflow);
    // Between a type and itself nothing is converted: an infinity stays one, though conversions saturate.
    let converts = held != dtype;
    let before = match (op, numerics.avg) {
        (Op::Avg, Some(Average::ScaleBefore)) => Some(round(1.0 / members as f64)),
        _ => None,
    };
    let values = operands.map(|(scalar, bits)| {
        let value = float::decode(dtype, bits);
        let value = if converts { round(value) } else { value };
        match (op, before) {
            (Op::PremulSum, _) => round(value * f64::from(scalar)),
            (_, Some(reciprocal)) => round(value * reciprocal),
            _ => value,
        }
    });
    let combine = |a: f64, b: f64| match op {
        Op::Sum | Op::Avg | Op::PremulSum => round(a + b),
        Op::Prod => round(a * b),
        Op::Min => extremum(a, b, numerics, false),
        Op::Max => extremum(a, b, numerics, true),
    };
    let sums = !matches!(op, Op::Prod | Op::Min | Op::Max);
    let from_zero = (sums && numerics.initial == Some(Initial::Zero)).then_some(0.0);
    let reduced = from_zero.into_iter().chain(values).reduce(combine);
    let reduced = reduced.expect("a group has members");
    let result = match (op, before) {
        (Op::Avg, None) => round(reduced / members as f64),
        _ => reduced,
    };
    float::encode(dtype, result, if converts { overflow } else { Overflow::Nan })
}

/// The smaller or larger of `a`, which came first, and `b`.
fn extremum(a: f64, b: f64, numerics: &Numerics, largest: bool) -> f64 {
    if a.is_nan() || b.is_nan() {
        return match numerics.nan {
            Some(NanRule::Ignore) if a.is_nan() => b,
            Some(NanRule::Ignore) => a,
            Some(NanRule::Propagate) | None => f64::NAN,
        };
    }
    let ordered = numerics.signed_zeros == Some(SignedZeros::Ordered);
    let b_wins = match a == b {
        true => ordered && b.is_sign_negative() != largest,
        false => (b > a) == largest,
    };
    if b_wins { b } else { a }
}

/// Whether an element is a NaN.
pub fn is_nan(dtype: DType, bytes: &[u8]) -> bool {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    dtype.is_float() && float::decode(dtype, u64::from_le_bytes(wide)).is_nan()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meaning::op::Accumulate;
    use rstest::rstest;

    fn bf16(values: &[f32]) -> Vec<Vec<u8>> {
        values.iter().map(|v| ((v.to_bits() >> 16) as u16).to_le_bytes().to_vec()).collect()
    }

    fn reduced(numerics: Numerics, op: Op, first: usize, values: &[f32]) -> f32 {
        let rows = bf16(values);
        let rows: Vec<Operand<'_>> = rows
            .iter()
            .zip([2, 1, 2, 1])
            .map(|(bytes, scalar)| Operand { bytes, scalar })
            .collect();
        let bytes = reduce(DType::BF16, &numerics, op, first, &rows);
        f32::from_bits(u32::from(u16::from_le_bytes([bytes[0], bytes[1]])) << 16)
    }

    #[rstest]
    #[case(0, Accumulate::Element, 256.0)] // 257 is a tie, twice
    #[case(1, Accumulate::Element, 258.0)] // 1 + 1 + 256
    #[case(0, Accumulate::As(DType::F32), 258.0)]
    fn order_and_type_decide(
        #[case] first: usize,
        #[case] accumulate: Accumulate,
        #[case] sum: f32,
    ) {
        let numerics = Numerics { accumulate: Some(accumulate), ..Numerics::default() };
        assert_eq!(reduced(numerics, Op::Sum, first, &[256.0, 1.0, 1.0]), sum);
    }

    #[rstest]
    #[case(Average::DivideAfter, Op::Avg, &[1.0, 3.0, 5.0], 3.0)]
    #[case(Average::ScaleBefore, Op::Avg, &[4.0, 8.0], 6.0)]
    #[case(Average::DivideAfter, Op::PremulSum, &[3.0, 5.0], 11.0)]
    #[case(Average::DivideAfter, Op::Prod, &[3.0, -5.0], -15.0)]
    fn averages_and_products(
        #[case] avg: Average,
        #[case] op: Op,
        #[case] values: &[f32],
        #[case] result: f32,
    ) {
        let numerics = Numerics { avg: Some(avg), ..Numerics::default() };
        assert_eq!(reduced(numerics, op, 0, values), result);
    }

    #[test]
    fn zeros_keep_or_lose_their_sign() {
        let sum = |initial| {
            let numerics = Numerics { initial: Some(initial), ..Numerics::default() };
            reduced(numerics, Op::Sum, 0, &[-0.0, -0.0]).to_bits()
        };
        assert_eq!(sum(Initial::First), 0x8000_0000);
        assert_eq!(sum(Initial::Zero), 0);
        let least = |zeros, first| {
            let numerics = Numerics { signed_zeros: Some(zeros), ..Numerics::default() };
            reduced(numerics, Op::Min, first, &[0.0, -0.0]).to_bits()
        };
        assert_eq!(least(SignedZeros::Ordered, 0), 0x8000_0000);
        assert_eq!(least(SignedZeros::First, 0), 0);
        assert_eq!(least(SignedZeros::First, 1), 0x8000_0000);
    }

    #[test]
    fn a_nan_wins_or_loses() {
        let most = |nan, values: &[f32]| {
            reduced(Numerics { nan: Some(nan), ..Numerics::default() }, Op::Max, 0, values)
        };
        assert!(most(NanRule::Propagate, &[1.0, f32::NAN, 2.0]).is_nan());
        assert_eq!(most(NanRule::Ignore, &[f32::NAN, 1.0, 2.0]), 2.0);
        assert!(most(NanRule::Ignore, &[f32::NAN, f32::NAN]).is_nan());
    }

    #[test]
    fn integers_wrap_and_averages_go_towards_zero() {
        let reduce = |op, values: [u8; 2]| {
            let rows = [&values[..1], &values[1..]].map(|bytes| Operand { bytes, scalar: 1 });
            super::reduce(DType::I8, &Numerics::default(), op, 0, &rows)[0]
        };
        assert_eq!(reduce(Op::Sum, [0x7f, 1]), 0x80);
        assert_eq!(reduce(Op::Prod, [0x7f, 0xff]), 0x81);
        assert_eq!(reduce(Op::Avg, [0xfd, 0]), 0xff); // -3 / 2
        assert_eq!(reduce(Op::Min, [0x80, 1]), 0x80);
    }

    /// Libraries wrap in the element's type; who declares a wider one does not.
    #[rstest]
    #[case(DType::U8, Accumulate::Element, 21)] // 320 is 64, and a third of it
    #[case(DType::U8, Accumulate::As(DType::I32), 106)]
    #[case(DType::I8, Accumulate::AtLeastF32, -21)] // 127 + 127 - 62 is 192, which is -64
    #[case(DType::I8, Accumulate::As(DType::I64), 64)]
    fn averages_wrap_in_the_declared_type(
        #[case] dtype: DType,
        #[case] accumulate: Accumulate,
        #[case] average: i64,
    ) {
        let values: [u8; 3] = if dtype == DType::U8 { [200, 100, 20] } else { [127, 127, 194] };
        let rows = values
            .each_ref()
            .map(|value| Operand { bytes: std::slice::from_ref(value), scalar: 1 });
        let numerics = Numerics { accumulate: Some(accumulate), ..Numerics::default() };
        let result = super::reduce(dtype, &numerics, Op::Avg, 0, &rows)[0];
        assert_eq!(wrapped(dtype, result.into()), average);
    }

    /// Conversions saturate, but where there is none an infinity is an element like any other.
    #[rstest]
    #[case(Accumulate::Element, Op::Max, &[0x7c, 0x3c], 0x7c)]
    #[case(Accumulate::Element, Op::Min, &[0xfc, 0x3c], 0xfc)]
    #[case(Accumulate::Element, Op::Sum, &[0x7c], 0x7c)]
    #[case(Accumulate::Element, Op::Sum, &[0x7c, 0x3c], 0x7b)] // the sum is converted
    #[case(Accumulate::As(DType::F32), Op::Max, &[0x7c, 0x3c], 0x7b)]
    fn an_infinity_of_e5m2_stays_one_where_nothing_is_converted(
        #[case] accumulate: Accumulate,
        #[case] op: Op,
        #[case] values: &[u8],
        #[case] result: u8,
    ) {
        let operand = |value| Operand { bytes: std::slice::from_ref(value), scalar: 1 };
        let rows: Vec<Operand<'_>> = values.iter().map(operand).collect();
        let numerics = Numerics {
            accumulate: Some(accumulate),
            overflow: Some(Overflow::Saturate),
            ..Numerics::default()
        };
        assert_eq!(super::reduce(DType::F8E5M2, &numerics, op, 0, &rows), [result]);
    }
}
