//! Inputs of reductions.
//!
//! Keyed inputs are exact in any order: every element is an odd integer (one of a group's is even)
//! times a power of two that all members share, and the integers are so small that every partial
//! sum of any subset stays inside the significand. Members differ from each other wherever that
//! many odd integers fit, and are zero beyond. Since an odd number of them is odd, so is their
//! sum: the power of two, which changes with column, row and call as the fill's colour does, is
//! the valuation of every element and of every result, so one taken from a neighbouring column,
//! row, vector, tile or call never goes unseen. Products are a signed mantissa times powers of two;
//! integer products are of odd factors too small to overflow. Where there are more members than such
//! factors, or than integers for a minimum or maximum, the others have a neutral one, at every
//! place others. The factor of
//! a premultiplied sum is an odd number times a power of two, by which the element is divided first. (Sums after the idea of nccl-tests'
//! `verifiable`; the odd integers are what lets a neighbour be seen.)
//!
//! Random inputs round, so they need a declared order.

use crate::data::draw::mix;
use crate::data::fill::Colours;
use crate::meaning::dtype::DType;
use crate::meaning::float;
use crate::meaning::op::{Op, Overflow};
use crate::meaning::problem::{Call, Data, Problem};
use crate::meaning::rank::{GroupRank, Rank};

/// Powers of two that floats are multiplied with begin at this exponent.
const FIRST_EXPONENT: i32 = -4;
/// Powers of two that tell places apart.
const COLOURS: u64 = 8;
/// The same for integers that have no exponent and are wider than a byte: so few that most of their
/// sums are still wider than the significand of f32 or f64, in which nobody may hold them.
const WIDE_COLOURS: u64 = 4;

/// Members of a product of floats whose factors are not -1, at every place others: so few that no
/// partial product leaves the range of a type.
const FLOAT_FACTORS: u64 = 16;
/// The same for integers: so few that there are about as many odd factors.
const INTEGER_FACTORS: u64 = 8;

/// The inputs of one call.
#[derive(Debug)]
pub(crate) struct ExactFill {
    dtype: DType,
    op: Op,
    random: bool,
    /// By rank: its slot in the group; idle ranks come behind the members.
    slots: Vec<u64>,
    members: u64,
    integers: Integers,
    /// By group rank: the factors of a premultiplied sum.
    scalars: Vec<i32>,
    colours: Colours,
    columns: u64,
    seed: u64,
}

/// The numbers of which keyed inputs of sums and extremes are made, for whoever makes them elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constants {
    /// Element types differ in this.
    pub dtype: DType,
    /// How the members' elements are combined.
    pub op: Op,
    /// How many members there are.
    pub members: u64,
    /// With what a place is hashed.
    pub seed: u64,
    /// Odd magnitudes of each sign.
    pub magnitudes: u64,
    /// How many integers that are.
    pub integers: u64,
    /// How many powers of two are used.
    pub colours: u64,
    /// All integers are multiplied with this one.
    pub unit: u64,
    /// A column's colour is the top three bits of its product with this.
    pub column_multiplier: u64,
    /// Likewise a row's.
    pub row_multiplier: u64,
    /// Number of the call.
    pub call: u64,
    /// The smallest power of two that a float is multiplied with, as an exponent.
    pub first_exponent: i32,
}

/// The integers of which elements are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Integers {
    /// Odd magnitudes 1, 3, .. of each sign.
    magnitudes: u64,
    /// How many integers that are: twice the magnitudes where they may be negative.
    count: u64,
    /// How many powers of two may be used.
    colours: u64,
    /// All integers are multiplied with this one.
    unit: u64,
}

/// The factors of a call's members, by group rank.
fn scalars(call: &Call) -> impl Iterator<Item = i32> + '_ {
    (0..call.group.size()).map(|member| call.scalar(GroupRank(member)))
}

/// What a factor makes of an element's integer: floats are halved as often as the factor doubles.
fn kept(scalar: i32, dtype: DType) -> i32 {
    if dtype.is_float() { scalar >> scalar.trailing_zeros().min(31) } else { scalar }
}

impl Integers {
    /// The most integers of which any `members` in a row have sums within `budget`: of q odd
    /// magnitudes the W largest add up to W(2q - W), all of them to q^2.
    fn within(budget: u64, members: u64, signed: bool) -> Integers {
        let magnitudes = match members * members <= budget {
            true => (budget / members + members) / 2,
            false => budget.isqrt(),
        };
        let count = match magnitudes {
            0 | 1 => magnitudes,
            _ => magnitudes * (1 + u64::from(signed)),
        };
        Integers { magnitudes, count, colours: 1, unit: 1 }
    }

    fn of_sum(problem: &Problem, call: &Call) -> Option<Integers> {
        let (dtype, op, members) = (problem.dtype, call.details.op, u64::from(call.group.size()));
        let held = problem.numerics.held_in(dtype);
        let bits = dtype.exact_bits().min(held.exact_bits());
        let budget = if dtype.is_float() { 1u64 << bits } else { (1 << bits) - 1 };
        let unit = match op {
            Op::Avg if dtype.is_float() => members >> members.trailing_zeros(),
            Op::Avg => members,
            Op::Sum | Op::Prod | Op::Min | Op::Max | Op::PremulSum => 1,
        };
        let factors = || scalars(call).map(|s| kept(s, dtype));
        let factor = match op {
            Op::PremulSum => factors().map(i32::unsigned_abs).max().map_or(1, u64::from),
            Op::Sum | Op::Prod | Op::Min | Op::Max | Op::Avg => 1,
        };
        // A negative factor turns signs round, so that integers of both signs may have one.
        let turned = op == Op::PremulSum && factors().any(i32::is_negative);
        let factor = if turned { 2 * factor } else { factor };
        let budget = budget / unit / factor;
        let signed = dtype != DType::U8;
        let with = |colours: u64, shift: u64| Integers {
            colours,
            unit,
            ..Integers::within(budget >> shift, members, signed)
        };
        let integers = match dtype.is_float() {
            true => with(COLOURS, 0),
            // Integers have no exponent: powers of two are taken from the budget.
            false => {
                let with = |colours| with(colours, colours - 1);
                let most = if dtype.bytes() == 1 { COLOURS } else { WIDE_COLOURS };
                let enough = |integers: &Integers| integers.count >= members;
                // Where members outnumber the integers, all of these are there at every place and have
                // the same sum: only powers of two tell places apart, and only three or more
                // integers tell more than two members apart.
                let told_apart = |integers: &Integers| (integers.count.min(3), integers.colours);
                (1..=most)
                    .rev()
                    .map(with)
                    .find(enough)
                    .or_else(|| (2..=WIDE_COLOURS).map(with).max_by_key(told_apart))?
            }
        };
        (integers.count > 0).then_some(integers)
    }

    /// Odd factors, not 1, of which no product overflows.
    fn of_product(dtype: DType, members: u64) -> Integers {
        let bits = if dtype == DType::I64 { 62 } else { 30 };
        let most = 2f64.powf(bits as f64 / members.min(INTEGER_FACTORS) as f64).floor() as u64;
        let most = most.min((1 << dtype.exact_bits().min(30)) - 1);
        let magnitudes = (most - 1) / 2;
        let count = magnitudes * (1 + u64::from(dtype != DType::U8));
        Integers { magnitudes, count, colours: 1, unit: 1 }
    }

    /// The integer of a slot, for extremes. Where members outnumber the integers, each of these is one
    /// member's, so that the smallest and the largest are; the other members' lies between.
    fn extreme(self, first: u64, slot: u64, members: u64) -> i64 {
        if slot >= self.count && slot < members {
            return self.odd(if self.count > self.magnitudes { 0 } else { self.magnitudes / 2 });
        }
        self.odd((first + slot) % self.count)
    }

    /// Integer number `index`: the positive ones ascending, then the negative ones.
    fn odd(self, index: u64) -> i64 {
        match index < self.magnitudes {
            true => 2 * index as i64 + 1,
            false => -(2 * (index - self.magnitudes) as i64 + 1),
        }
    }

    /// The integer of a slot among those of a place, of which `first` is the first.
    fn of_slot(self, first: u64, slot: u64, members: u64) -> i64 {
        let value = |slot: u64| self.odd((first + slot) % self.count);
        if slot >= self.count && slot < members {
            return 0;
        }
        // One even integer makes the sum odd where the number of odd ones is even.
        let even = u64::from(value(0).abs() == 1);
        let odd = value(slot);
        match members.min(self.count).is_multiple_of(2) && slot == even {
            true => odd - odd.signum(),
            false => odd,
        }
    }
}

impl ExactFill {
    /// The fill of call number `index`, whose collective reduces.
    pub(crate) fn new(problem: &Problem, index: usize) -> ExactFill {
        let call = &problem.calls[index];
        let members = u64::from(call.group.size());
        let mut idle = members;
        let slots = problem.ranks().map(|rank| match call.group.group_rank(rank) {
            Some(GroupRank(group_rank)) => u64::from(group_rank),
            None => {
                idle += 1;
                idle - 1
            }
        });
        let slots = slots.collect();
        let shape = problem.collective.input_shape(call.shape, members);
        let integers = match (call.details.op, problem.dtype.is_float()) {
            (Op::Prod, false) => Some(Integers::of_product(problem.dtype, members)),
            _ => Integers::of_sum(problem, call),
        };
        ExactFill {
            dtype: problem.dtype,
            op: call.details.op,
            random: problem.data != Data::Keyed && problem.dtype.is_float(),
            slots,
            members,
            // Refused before anybody fills; ones would be as good as anything.
            integers: integers.unwrap_or(Integers { magnitudes: 1, count: 1, colours: 1, unit: 1 }),
            scalars: scalars(call).collect(),
            colours: Colours::new(problem.seed, index, shape, problem.dtype.bytes(), call.tile),
            columns: shape.n,
            seed: mix(problem.seed ^ mix(index as u64 ^ 0x7265_6475_6365)),
        }
    }

    /// Whether a sum of the call's keyed inputs can be exact at all.
    pub(crate) fn exists(problem: &Problem, call: &Call) -> bool {
        let dtype = problem.dtype;
        let smallest = |s: i32| 2f64.powi(FIRST_EXPONENT - s.trailing_zeros() as i32);
        let members = call.group.size() as i32;
        let held = || scalars(call).all(|s| float::decode(dtype, 1) <= smallest(s));
        match call.details.op {
            Op::Prod => true,
            Op::PremulSum if dtype.is_float() && !held() => false,
            // The odd part of the number of members is in the integers, the rest divides.
            Op::Avg if dtype.is_float() && float::decode(dtype, 1) > smallest(members) => false,
            _ => Integers::of_sum(problem, call).is_some(),
        }
    }

    /// The slot of a rank: its group rank, or a number behind the members' for an idle one.
    pub(crate) fn slot(&self, rank: Rank) -> u64 {
        self.slots[rank.index()]
    }

    /// Everything that decides the elements; nothing where they are not of this kind.
    pub(crate) fn constants(&self) -> Option<Constants> {
        let Colours { column_multiplier, row_multiplier, call } = self.colours;
        (!self.random && self.op != Op::Prod).then_some(Constants {
            dtype: self.dtype,
            op: self.op,
            members: self.members,
            seed: self.seed,
            magnitudes: self.integers.magnitudes,
            integers: self.integers.count,
            colours: self.integers.colours,
            unit: self.integers.unit,
            column_multiplier,
            row_multiplier,
            call,
            first_exponent: FIRST_EXPONENT,
        })
    }

    /// The elements of a row of a rank's input, as bytes.
    pub(crate) fn row(&self, rank: Rank, row: u64, bytes: &mut Vec<u8>) {
        let size = self.dtype.bytes() as usize;
        bytes.clear();
        let slot = self.slots[rank.index()];
        for column in 0..self.columns {
            let place = mix(self.seed ^ (row << 32 | column));
            let bits = match (self.random, self.dtype.is_float(), self.op) {
                (true, ..) => self.random(mix(place ^ u64::from(rank.0 + 1))),
                (false, true, Op::Prod) => self.factor(place, slot, row, column),
                (false, false, Op::Prod) => self.odd_factor(place, slot) as u64,
                (false, float, _) => self.term(place, slot, row, column, float),
            };
            bytes.extend_from_slice(&bits.to_le_bytes()[..size]);
        }
    }

    /// The slot that a member has at a place: every member has every slot somewhere.
    fn turned(&self, place: u64, slot: u64) -> u64 {
        match slot < self.members {
            true => (slot + (place >> 40)) % self.members,
            false => slot,
        }
    }

    fn term(&self, place: u64, slot: u64, row: u64, column: u64, float: bool) -> u64 {
        // The upper bits say who has which slot, unless all are needed to name an i64.
        let drawn =
            if self.integers.count >> 48 == 0 { place & 0xffff_ffff_ffff } else { mix(place) };
        let first = drawn % self.integers.count;
        let turned = self.turned(place, slot);
        let integer = match self.op {
            Op::Min | Op::Max => self.integers.extreme(first, turned, self.members),
            _ => self.integers.of_slot(first, turned, self.members),
        };
        let integer = integer * self.integers.unit as i64;
        let colour = self.colours.of(row, column) % self.integers.colours;
        if !float {
            return (integer << colour) as u64;
        }
        let scalar = self.scalars.get(slot as usize).filter(|_| self.op == Op::PremulSum);
        let halvings = scalar.map_or(0, |scalar| scalar.trailing_zeros() as i32);
        let exponent = FIRST_EXPONENT + colour as i32 - halvings;
        float::encode(self.dtype, integer as f64 * 2f64.powi(exponent), Overflow::Nan)
    }

    /// One member has a random mantissa whose upper bits are the colour, the others powers of two.
    fn factor(&self, place: u64, slot: u64, row: u64, column: u64) -> u64 {
        let turned = self.turned(place, slot);
        let value = match turned {
            0 => {
                let held_bits = self.dtype.exact_bits();
                let colour = self.colours.of(row, column) as f64 / 8.0;
                let below = (place & 0xffff_ffff) as f64 / 2f64.powi(35);
                let fraction = (colour + below) * 2f64.powi(held_bits as i32 - 1);
                let sign = if place >> 33 & 1 == 0 { 1.0 } else { -1.0 };
                sign * (1.0 + fraction.floor() / 2f64.powi(held_bits as i32 - 1))
            }
            beyond if (FLOAT_FACTORS..self.members).contains(&beyond) => -1.0,
            _ => [2.0, 0.5, -2.0, -0.5, -1.0][turned as usize % 5],
        };
        float::encode(self.dtype, value, Overflow::Nan)
    }

    fn odd_factor(&self, place: u64, slot: u64) -> i64 {
        let turned = self.turned(place, slot);
        if (INTEGER_FACTORS..self.members).contains(&turned) {
            return if self.dtype == DType::U8 { 1 } else { -1 };
        }
        let index = (place + turned) % self.integers.count;
        let odd = self.integers.odd(index);
        odd + 2 * odd.signum() * i64::from(odd > 0) // 3, 5, .., -1, -3, ..
    }

    /// A random float: of moderate size, so that a sum rounds but does not overflow.
    fn random(&self, random: u64) -> u64 {
        let exponent = match self.op {
            Op::Prod => (random >> 60) as i32 % 2 - 1,
            Op::Sum | Op::Min | Op::Max | Op::Avg | Op::PremulSum => (random >> 58) as i32 % 6 - 4,
        };
        let fraction = (random & ((1 << 52) - 1)) as f64 / 2f64.powi(52);
        let sign = if random >> 57 & 1 == 0 { 1.0 } else { -1.0 };
        let value = sign * (1.0 + fraction) * 2f64.powi(exponent);
        float::encode(self.dtype, value, Overflow::Saturate)
    }
}

#[cfg(test)]
mod tests;
