//! Integers that are added or multiplied. Both wrap in the type, which is exact in any order, so that
//! elements may have any value.
//!
//! The members' numbers are different ones of an arithmetic progression with an odd step, of as many
//! terms as there are members and one more, so that they are different in a byte too, whoever is left
//! out, taken twice or exchanged. Which term nobody has is drawn: without that, the sums of an even number of bytes
//! would have few values. Factors are odd, so that no product forgets one.

use crate::data::draw::mix;

/// The number of a slot at a place.
pub(super) fn number(place: u64, slot: u64, members: u64) -> u64 {
    let drawn = mix(place);
    let nobodys = (drawn >> 40) % (members + 1);
    let term = slot + u64::from(slot >= nobodys);
    place.wrapping_add((drawn | 1).wrapping_mul(term))
}

/// The same as a factor: odd, and as different from the others.
pub(super) fn odd(number: u64) -> u64 {
    number << 1 | 1
}
