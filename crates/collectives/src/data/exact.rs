//! Inputs of reductions.
//!
//! Keyed inputs are combined exactly in any order, and every slip changes some of the results: a member
//! forgotten, doubled or taken in place of another, a row, column or call in place of another. How,
//! depends on what is combined:
//!
//! | elements, op | inputs | module |
//! |---|---|---|
//! | floats; sum, avg, premul_sum | odd integers times a power of two, all partial sums exact | `sums` |
//! | floats; prod | a mantissa and powers of two | `factors` |
//! | integers; sum, prod, premul_sum | any numbers: they wrap in their type, which is exact | `wrapping` |
//! | integers; avg | numbers whose sum does not overflow, and is a multiple of the members or one less | `averages` |
//! | min, max | numbers of the whole range, each of them one member's | `extremes` |
//!
//! Which member has which of the numbers changes from place to place, so that every member has every one
//! somewhere. Random inputs round, so they need a declared order.

mod averages;
mod extremes;
mod factors;
mod sums;
mod wrapping;

pub use averages::Averages;
pub use extremes::Extremes;
pub use sums::Sums;

use crate::data::draw::mix;
use crate::data::fill::Colours;
use crate::meaning::dtype::DType;
use crate::meaning::float;
use crate::meaning::op::{Op, Overflow};
use crate::meaning::problem::{Call, Data, Problem};
use crate::meaning::rank::{GroupRank, Rank};

/// Powers of two that floats are multiplied with begin at this exponent.
const FIRST_EXPONENT: i32 = -4;

/// The inputs of one call.
#[derive(Debug)]
pub(crate) struct ExactFill {
    dtype: DType,
    op: Op,
    random: bool,
    /// By rank: its slot in the group; idle ranks come behind the members.
    slots: Vec<u64>,
    members: u64,
    elements: Elements,
    /// By group rank: the factors of a premultiplied sum.
    scalars: Vec<i32>,
    colours: Colours,
    columns: u64,
    seed: u64,
}

/// The numbers of which keyed inputs are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elements {
    /// Floats that are added.
    Sums(Sums),
    /// Floats that are multiplied.
    Factors,
    /// Integers that are added or multiplied.
    Wrapping,
    /// Integers whose average is taken.
    Averages(Averages),
    /// Of which the smallest or the largest is taken.
    Extremes(Extremes),
}

/// Everything that decides keyed inputs and their results, for whoever makes them elsewhere.
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
    /// The numbers.
    pub elements: Elements,
    /// A column's colour is the top three bits of its product with this.
    pub column_multiplier: u64,
    /// Likewise a row's.
    pub row_multiplier: u64,
    /// Number of the call.
    pub call: u64,
    /// The smallest power of two that a float is multiplied with, as an exponent.
    pub first_exponent: i32,
}

/// A place of a matrix.
#[derive(Debug, Clone, Copy)]
struct Place {
    row: u64,
    column: u64,
    /// A hash of it and of the call.
    hash: u64,
}

/// The factors of a call's members, by group rank.
fn scalars(call: &Call) -> impl Iterator<Item = i32> + '_ {
    (0..call.group.size()).map(|member| call.scalar(GroupRank(member)))
}

impl Elements {
    /// Those of a call; nothing where no sum can be exact.
    fn of(problem: &Problem, call: &Call) -> Option<Elements> {
        let (dtype, members) = (problem.dtype, u64::from(call.group.size()));
        let held = problem.numerics.held_in(dtype);
        Some(match (call.details.op, dtype.is_float()) {
            (Op::Min | Op::Max, _) => Elements::Extremes(Extremes::of(dtype, held)),
            (Op::Prod, true) => Elements::Factors,
            (Op::Sum | Op::Avg | Op::PremulSum, true) => Elements::Sums(Sums::of(problem, call)?),
            (Op::Avg, false) => Elements::Averages(Averages::of(dtype, held, members)),
            (Op::Sum | Op::Prod | Op::PremulSum, false) => Elements::Wrapping,
        })
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
        ExactFill {
            dtype: problem.dtype,
            op: call.details.op,
            random: problem.data != Data::Keyed && problem.dtype.is_float(),
            slots,
            members,
            // Refused before anybody fills; ones would be as good as anything.
            elements: Elements::of(problem, call).unwrap_or(Elements::Sums(Sums::ONES)),
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
        let held = |s: i32| float::decode(dtype, 1) <= smallest(s);
        let small_enough = match call.details.op {
            Op::PremulSum if dtype.is_float() => scalars(call).all(held),
            // The odd part of the number of members is in the integers, the rest divides.
            Op::Avg if dtype.is_float() => held(call.group.size() as i32),
            _ => true,
        };
        small_enough && Elements::of(problem, call).is_some()
    }

    /// The slot of a rank: its group rank, or a number behind the members' for an idle one.
    pub(crate) fn slot(&self, rank: Rank) -> u64 {
        self.slots[rank.index()]
    }

    /// Everything that decides the elements; nothing where they are not keyed, or are [`factors`].
    pub(crate) fn constants(&self) -> Option<Constants> {
        let Colours { column_multiplier, row_multiplier, call } = self.colours;
        (!self.random && self.elements != Elements::Factors).then_some(Constants {
            dtype: self.dtype,
            op: self.op,
            members: self.members,
            seed: self.seed,
            elements: self.elements,
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
        let slot = self.slot(rank);
        for column in 0..self.columns {
            let place = Place { row, column, hash: mix(self.seed ^ (row << 32 | column)) };
            let bits = match self.random {
                true => self.random(mix(place.hash ^ u64::from(rank.0 + 1))),
                false => self.element(place, slot),
            };
            bytes.extend_from_slice(&bits.to_le_bytes()[..size]);
        }
    }

    /// A keyed element's bits; those beyond its type are of no account.
    fn element(&self, place: Place, slot: u64) -> u64 {
        let turned = self.turned(place, slot);
        let colour = || self.colours.of(place.row, place.column);
        match self.elements {
            Elements::Sums(sums) => {
                let integer = sums.integer(place.hash, turned, self.members);
                let scalar = self.scalars.get(slot as usize).filter(|_| self.op == Op::PremulSum);
                let halvings = scalar.map_or(0, |scalar| scalar.trailing_zeros() as i32);
                let exponent = FIRST_EXPONENT + colour() as i32 - halvings;
                float::encode(self.dtype, integer as f64 * 2f64.powi(exponent), Overflow::Nan)
            }
            Elements::Factors => {
                factors::factor(self.dtype, place.hash, turned, self.members, colour())
            }
            Elements::Wrapping => {
                let number = wrapping::number(place.hash, turned, self.members);
                if self.op == Op::Prod { wrapping::odd(number) } else { number }
            }
            Elements::Averages(averages) => {
                averages.number(place.hash, turned, self.members) as u64
            }
            Elements::Extremes(extremes) => {
                let turn = place.row + place.column + self.colours.call;
                let number =
                    extremes.number(place.hash, (slot + turn) % self.members, self.members);
                extremes.bits(self.dtype, number)
            }
        }
    }

    /// The slot that a member has at a place: every member has every slot somewhere.
    fn turned(&self, place: Place, slot: u64) -> u64 {
        match slot < self.members {
            true => (slot + (place.hash >> 40)) % self.members,
            false => slot,
        }
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
