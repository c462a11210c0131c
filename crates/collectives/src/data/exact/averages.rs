//! Integers whose average is taken. Sums must not overflow: in which type they would wrap is not always
//! declared, and it matters to what comes out of a division.
//!
//! The sum is the number of members times a level that is drawn for the place, or one less, so that
//! an average shows what is missing or too much, be it smaller than the number of members: every
//! other number is above the level by as much as the next is below it. Where integers may be negative, all of a place
//! are.

use crate::data::draw::mix;
use crate::meaning::dtype::DType;

/// What levels there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Averages {
    /// The highest one; the lowest is one.
    pub highest: u64,
    /// Whether there are negative ones.
    pub signed: bool,
}

impl Averages {
    /// Those of elements whose sums are held in some type.
    pub(super) fn of(dtype: DType, held: DType, members: u64) -> Averages {
        let largest = |dtype: DType| (1u64 << dtype.exact_bits()) - 1;
        let highest = (largest(held) / members).min(largest(dtype) / 2).max(1);
        Averages { highest, signed: dtype != DType::U8 }
    }

    /// The number of a slot at a place.
    pub(super) fn number(self, place: u64, slot: u64, members: u64) -> i64 {
        let level = 1 + mix(place) % self.highest;
        let apart = mix(place ^ (slot / 2 + 1)) % (level + 1);
        let number = match slot.is_multiple_of(2) {
            true if slot + 1 == members => level,
            true => level + apart,
            false => level - apart,
        };
        let number = number - u64::from(slot == 0 && place >> 62 & 1 == 1);
        if self.signed && place >> 63 == 1 { -(number as i64) } else { number as i64 }
    }
}
