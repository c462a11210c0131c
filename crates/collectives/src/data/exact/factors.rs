//! Floats that are multiplied: one member has a random mantissa whose upper bits are the colour, the
//! others have powers of two or -1, so that every partial product is exact and none is neutral.

use crate::meaning::dtype::DType;
use crate::meaning::float;
use crate::meaning::op::Overflow;

/// Members whose factors are not -1, at every place others: so few that no partial product leaves the
/// range of a type.
const POWERS: u64 = 16;

/// The bits of a slot's factor at a place of some colour.
pub(super) fn factor(dtype: DType, place: u64, slot: u64, members: u64, colour: u64) -> u64 {
    let value = match slot {
        0 => {
            let steps = 2f64.powi(dtype.exact_bits() as i32 - 1);
            let below = (place & 0xffff_ffff) as f64 / 2f64.powi(35);
            let fraction = (colour as f64 / 8.0 + below) * steps;
            let sign = if place >> 33 & 1 == 0 { 1.0 } else { -1.0 };
            sign * (1.0 + fraction.floor() / steps)
        }
        beyond if (POWERS..members).contains(&beyond) => -1.0,
        _ => [2.0, 0.5, -2.0, -0.5, -1.0][slot as usize % 5],
    };
    float::encode(dtype, value, Overflow::Nan)
}
