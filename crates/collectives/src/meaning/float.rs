//! Floating-point formats as bits: decoded to f64, which holds all of them exactly, and encoded
//! from it with one rounding to nearest, ties to even.
//!
//! f16 and bf16 follow IEEE 754. The four 8-bit formats are OCP OFP8 (E4M3FN, E5M2) and the FNUZ
//! variants of Graphcore, AMD and Qualcomm; they are coded by a table of their 128 magnitudes.

use std::sync::LazyLock;

use crate::meaning::dtype::DType;
use crate::meaning::op::Overflow;

/// Exponent and mantissa bits of an IEEE format narrower than 64 bits.
#[derive(Debug, Clone, Copy)]
struct Ieee {
    exponent: u32,
    mantissa: u32,
}

const F16: Ieee = Ieee { exponent: 5, mantissa: 10 };
const BF16: Ieee = Ieee { exponent: 8, mantissa: 7 };

/// The magnitudes of an 8-bit format by code, ascending.
#[derive(Debug)]
struct Table {
    finite: Vec<f64>,
    /// What follows the last one in an unbounded format: beyond the middle a value overflows.
    beyond: f64,
    /// Code of an infinity, where there is one.
    infinity: Option<u64>,
    nan: u64,
    negative_zero: bool,
}

static TABLES: LazyLock<[Table; 4]> = LazyLock::new(|| {
    [
        // All ones is NaN, nothing is infinite.
        Table::new(4, 7, 0x7e, None, 0x7f, true),
        Table::new(4, 8, 0x7f, None, 0x80, false),
        Table::new(5, 15, 0x7b, Some(0x7c), 0x7e, true),
        Table::new(5, 16, 0x7f, None, 0x80, false),
    ]
});

fn table(dtype: DType) -> Option<&'static Table> {
    let index = match dtype {
        DType::F8E4M3Fn => 0,
        DType::F8E4M3Fnuz => 1,
        DType::F8E5M2 => 2,
        DType::F8E5M2Fnuz => 3,
        DType::U8 | DType::I8 | DType::I32 | DType::I64 => return None,
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => return None,
    };
    Some(&TABLES[index])
}

impl Table {
    fn new(
        exponent: u32,
        bias: i32,
        last: u64,
        infinity: Option<u64>,
        nan: u64,
        negative_zero: bool,
    ) -> Table {
        let mantissa = 7 - exponent;
        let value = |code: u64| {
            let (e, m) = ((code >> mantissa) as i32, (code & ((1 << mantissa) - 1)) as f64);
            let fraction = m / f64::from(1 << mantissa);
            match e {
                0 => fraction * 2f64.powi(1 - bias),
                _ => (1.0 + fraction) * 2f64.powi(e - bias),
            }
        };
        let finite = (0..=last).map(value).collect();
        Table { finite, beyond: value(last + 1), infinity, nan, negative_zero }
    }

    fn decode(&self, code: u64) -> f64 {
        let magnitude = code & 0x7f;
        let sign = if code & 0x80 != 0 { -1.0 } else { 1.0 };
        match self.finite.get(magnitude as usize) {
            _ if !self.negative_zero && code == self.nan => f64::NAN,
            Some(value) => sign * value,
            None if Some(magnitude) == self.infinity => sign * f64::INFINITY,
            None => f64::NAN,
        }
    }

    fn encode(&self, value: f64, overflow: Overflow) -> u64 {
        let sign = if value.is_sign_negative() { 0x80 } else { 0 };
        if value.is_nan() {
            // The one NaN of the FNUZ formats has no sign.
            return if self.negative_zero { self.nan | sign } else { self.nan };
        }
        let magnitude = value.abs();
        let last = self.finite.len() as u64 - 1;
        let above = self.finite.partition_point(|finite| *finite < magnitude) as u64;
        let high = self.finite.get(above as usize).copied().unwrap_or(self.beyond);
        let low = self.finite[above.saturating_sub(1) as usize];
        let code = match (magnitude - low).partial_cmp(&(high - magnitude)) {
            _ if above == 0 => 0,
            Some(std::cmp::Ordering::Less) => above - 1,
            Some(std::cmp::Ordering::Equal) => above - 1 + (above - 1) % 2,
            _ => above,
        };
        match (code > last, overflow) {
            (true, Overflow::Saturate) => last | sign,
            (true, Overflow::Nan) => match self.infinity {
                Some(infinity) => infinity | sign,
                None if self.negative_zero => self.nan | sign,
                None => self.nan,
            },
            (false, _) if code == 0 && !self.negative_zero => 0,
            (false, _) => code | sign,
        }
    }
}

impl Ieee {
    fn encode(self, value: f64) -> u64 {
        let Ieee { exponent: exponent_bits, mantissa } = self;
        let sign = u64::from(value.is_sign_negative()) << (exponent_bits + mantissa);
        let infinity = ((1u64 << exponent_bits) - 1) << mantissa;
        if value.is_nan() {
            return sign | infinity | 1 << (mantissa - 1);
        }
        let bias = (1 << (exponent_bits - 1)) - 1;
        let magnitude = value.abs();
        if magnitude >= 2f64.powi(bias + 1) {
            return sign | infinity;
        }
        let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(1 - bias);
        // Units of the last place: at most 2^(mantissa + 1), so the rounding below is exact.
        let units = (magnitude * 2f64.powi(mantissa as i32 - exponent)).round_ties_even() as u64;
        sign | ((((exponent + bias - 1) as u64) << mantissa) + units)
    }

    fn decode(self, bits: u64) -> f64 {
        let Ieee { exponent: exponent_bits, mantissa } = self;
        let bias = (1 << (exponent_bits - 1)) - 1;
        let sign = if bits >> (exponent_bits + mantissa) & 1 == 1 { -1.0 } else { 1.0 };
        let exponent = (bits >> mantissa & ((1 << exponent_bits) - 1)) as i32;
        let fraction = (bits & ((1 << mantissa) - 1)) as f64;
        let hidden = f64::from(1u32 << mantissa);
        sign * match exponent {
            0 => fraction * 2f64.powi(1 - bias - mantissa as i32),
            e if e == (1 << exponent_bits) - 1 && fraction == 0.0 => f64::INFINITY,
            e if e == (1 << exponent_bits) - 1 => f64::NAN,
            e => (hidden + fraction) * 2f64.powi(e - bias - mantissa as i32),
        }
    }
}

/// The value of a float's bits. Panics on integer types.
pub fn decode(dtype: DType, bits: u64) -> f64 {
    match dtype {
        DType::F16 => F16.decode(bits),
        DType::BF16 => f64::from(f32::from_bits((bits as u32) << 16)),
        DType::F32 => f64::from(f32::from_bits(bits as u32)),
        DType::F64 => f64::from_bits(bits),
        _ => table(dtype).expect("a float").decode(bits),
    }
}

/// The bits of the float nearest to `value`. Panics on integer types.
pub fn encode(dtype: DType, value: f64, overflow: Overflow) -> u64 {
    match dtype {
        DType::F16 => F16.encode(value),
        DType::BF16 => BF16.encode(value),
        DType::F32 => u64::from((value as f32).to_bits()),
        DType::F64 => value.to_bits(),
        _ => table(dtype).expect("a float").encode(value, overflow),
    }
}

/// `value` rounded to a float type.
pub fn round(dtype: DType, value: f64, overflow: Overflow) -> f64 {
    match dtype {
        DType::F64 => value,
        DType::F32 => f64::from(value as f32),
        _ => decode(dtype, encode(dtype, value, overflow)),
    }
}
