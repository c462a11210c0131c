//! Floats that are added: every element is an odd integer (one of a group's is even) times a power of two
//! that all members share, and the integers are so small that every partial sum of any subset stays
//! inside the significand.
//!
//! Members differ from each other wherever that many odd integers fit, and are zero beyond. Since an odd
//! number of them is odd, so is their sum: the power of two, which changes with column, row and call as
//! the fill's colour does, is the valuation of every element and of every result, so one taken from a
//! neighbouring column, row, vector, tile or call never goes unseen. The factor of a premultiplied sum is
//! an odd number times a power of two, by which the element is divided first. (Sums after the idea of
//! nccl-tests' `verifiable`; the odd integers are what lets a neighbour be seen.)

use crate::data::draw::mix;
use crate::meaning::op::Op;
use crate::meaning::problem::{Call, Problem};

/// The integers of which elements are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sums {
    /// Odd magnitudes 1, 3, .. of each sign.
    pub magnitudes: u64,
    /// How many integers that are: twice the magnitudes where they may be negative.
    pub integers: u64,
    /// All integers are multiplied with this one.
    pub unit: u64,
}

impl Sums {
    /// Ones.
    pub(super) const ONES: Sums = Sums { magnitudes: 1, integers: 1, unit: 1 };

    /// Those of a call of floats; nothing where not even ones have exact sums.
    pub(super) fn of(problem: &Problem, call: &Call) -> Option<Sums> {
        let (dtype, op, members) = (problem.dtype, call.details.op, u64::from(call.group.size()));
        let held = problem.numerics.held_in(dtype);
        let budget = 1u64 << dtype.exact_bits().min(held.exact_bits());
        let unit = if op == Op::Avg { members >> members.trailing_zeros() } else { 1 };
        // Elements are halved as often as the factor doubles.
        let odd_part = |scalar: i32| scalar >> scalar.trailing_zeros().min(31);
        let factors = || super::scalars(call).map(odd_part);
        let factor = match op {
            Op::PremulSum => factors().map(i32::unsigned_abs).max().map_or(1, u64::from),
            Op::Sum | Op::Prod | Op::Min | Op::Max | Op::Avg => 1,
        };
        // A negative factor turns signs round, so that integers of both signs may have one.
        let turned = op == Op::PremulSum && factors().any(i32::is_negative);
        let factor = if turned { 2 * factor } else { factor };
        let sums = Sums { unit, ..Sums::within(budget / unit / factor, members) };
        (sums.integers > 0).then_some(sums)
    }

    /// The most integers of which any `members` in a row have sums within `budget`: of q odd
    /// magnitudes the W largest add up to W(2q - W), all of them to q^2.
    fn within(budget: u64, members: u64) -> Sums {
        let magnitudes = match members * members <= budget {
            true => (budget / members + members) / 2,
            false => budget.isqrt(),
        };
        let integers = if magnitudes > 1 { 2 * magnitudes } else { magnitudes };
        Sums { magnitudes, integers, unit: 1 }
    }

    /// Integer number `index`: the positive ones ascending, then the negative ones.
    fn odd(self, index: u64) -> i64 {
        match index < self.magnitudes {
            true => 2 * index as i64 + 1,
            false => -(2 * (index - self.magnitudes) as i64 + 1),
        }
    }

    /// The integer of a slot at a place.
    pub(super) fn integer(self, place: u64, slot: u64, members: u64) -> i64 {
        // The upper bits say who has which slot, unless all are needed to name an integer.
        let drawn = if self.integers >> 48 == 0 { place & 0xffff_ffff_ffff } else { mix(place) };
        let first = drawn % self.integers;
        let value = |slot: u64| self.odd((first + slot) % self.integers);
        if slot >= self.integers && slot < members {
            return 0;
        }
        // One even integer makes the sum odd where the number of odd ones is even.
        let even = u64::from(value(0).abs() == 1);
        let odd = value(slot);
        let integer = match members.min(self.integers).is_multiple_of(2) && slot == even {
            true => odd - odd.signum(),
            false => odd,
        };
        // Where all are ones, their sign is drawn: powers of two alone repeat in far places.
        let sign = if self.integers == 1 && place >> 39 & 1 == 1 { -1 } else { 1 };
        sign * integer * self.unit as i64
    }
}
