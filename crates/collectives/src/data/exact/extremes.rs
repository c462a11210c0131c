//! Numbers of which the smallest or the largest is taken. None is added to another, so they come from the
//! whole range of their type, and each is one member's alone: at every place another member has the
//! extreme one, in turn.
//!
//! Floats are numbered in ascending order: all normal ones that the element's type and the type in which
//! they are held have both.

use crate::data::draw::mix;
use crate::meaning::dtype::DType;
use crate::meaning::float;
use crate::meaning::op::Overflow;

/// What numbers there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extremes {
    /// How many; of 2^64 all but one.
    pub values: u64,
    /// Bits of a float's mantissa that are used, the upper ones.
    pub mantissa_bits: u32,
    /// The exponent of the smallest magnitude of a float.
    pub first_exponent: i32,
}

/// Exponents of a float's normal numbers that have all mantissas; some of those of f64.
fn exponents(dtype: DType) -> (i32, i32) {
    match dtype {
        DType::F8E4M3Fn => (-6, 7),
        DType::F8E4M3Fnuz => (-7, 7),
        DType::F8E5M2 | DType::F16 => (-14, 15),
        DType::F8E5M2Fnuz => (-15, 15),
        DType::BF16 | DType::F32 | DType::F64 => (-126, 127),
        DType::U8 | DType::I8 | DType::I32 | DType::I64 => (0, 0),
    }
}

impl Extremes {
    /// Those of elements that are held in some type.
    pub(super) fn of(dtype: DType, held: DType) -> Extremes {
        if !dtype.is_float() {
            let values = u64::MAX >> (64 - 8 * dtype.bytes());
            let values = values.saturating_add(1);
            return Extremes { values, mantissa_bits: 0, first_exponent: 0 };
        }
        // What is not held in a float is refused.
        let held = if held.is_float() { held } else { dtype };
        let mantissa_bits = dtype.exact_bits().min(held.exact_bits()) - 1;
        let ((first, last), (held_first, held_last)) = (exponents(dtype), exponents(held));
        let first_exponent = first.max(held_first);
        let binades = (last.min(held_last) - first_exponent + 1) as u64;
        Extremes { values: (2 * binades) << mantissa_bits, mantissa_bits, first_exponent }
    }

    /// Which number the member has that is so many members above the one with the smallest.
    pub(super) fn number(self, place: u64, above: u64, members: u64) -> u64 {
        let widest = (self.values / (2 * members)).max(1);
        let step = 1 + mix(place) % widest;
        place % (self.values - step * members) + step * above
    }

    /// The bits of a number; those beyond the type are of no account.
    pub(super) fn bits(self, dtype: DType, number: u64) -> u64 {
        if !dtype.is_float() {
            let least = if dtype == DType::U8 { 0 } else { 1 << (8 * dtype.bytes() - 1) };
            return number.wrapping_sub(least);
        }
        let positive = self.values / 2;
        let negative = number < positive;
        let above = if negative { positive - 1 - number } else { number - positive };
        let fraction = above & ((1 << self.mantissa_bits) - 1);
        let mantissa = 1.0 + fraction as f64 / 2f64.powi(self.mantissa_bits as i32);
        let exponent = self.first_exponent + (above >> self.mantissa_bits) as i32;
        let value = mantissa * 2f64.powi(exponent);
        float::encode(dtype, if negative { -value } else { value }, Overflow::Nan)
    }
}
