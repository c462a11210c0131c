//! Names of words: a keyed permutation of their number, as the upper halves of eight bytes.

use super::draw::mix;
use super::word::BLOCK;

pub(super) const NAME_BITS: u32 = 28;
pub(super) const NAME_MASK: u32 = (1 << NAME_BITS) - 1;
pub(super) const BLOCK_BITS: u32 = NAME_BITS - 3;
pub(super) const BLOCK_MASK: u32 = (1 << BLOCK_BITS) - 1;

/// A keyed permutation of 25-bit numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Permutation {
    add: u32,
}

impl Permutation {
    const MULTIPLY: [u32; 2] = [0x0b5_2d4d, 0x9e3_779b];

    pub(super) fn new(key: u64) -> Self {
        Permutation { add: mix(key) as u32 & BLOCK_MASK }
    }

    #[inline]
    pub(super) fn apply(self, number: u32) -> u32 {
        let mut x = number.wrapping_add(self.add).wrapping_mul(Self::MULTIPLY[0]) & BLOCK_MASK;
        x ^= x >> 13;
        x = x.wrapping_mul(Self::MULTIPLY[1]) & BLOCK_MASK;
        x ^ (x >> 14)
    }

    pub(super) fn invert(self, permuted: u32) -> u32 {
        let mut x = permuted ^ (permuted >> 14);
        x = x.wrapping_mul(inverse(Self::MULTIPLY[1])) & BLOCK_MASK;
        x ^= x >> 13;
        x.wrapping_mul(inverse(Self::MULTIPLY[0])).wrapping_sub(self.add) & BLOCK_MASK
    }
}

/// Spreads every bit of a 28-bit number over many: invertible, and linear over exclusive or.
pub(super) const fn diffuse(mut x: u32) -> u32 {
    x ^= x >> 9;
    x ^= (x << 17) & NAME_MASK;
    x ^ (x >> 15)
}

pub(super) fn undiffuse(mut x: u32) -> u32 {
    x ^= x >> 15;
    x ^= (x << 17) & NAME_MASK;
    x ^ (x >> 9) ^ (x >> 18) ^ (x >> 27)
}

/// Inverse of an odd number modulo 2^32 (Newton's iteration).
fn inverse(odd: u32) -> u32 {
    (0..5).fold(odd, |x, _| x.wrapping_mul(2u32.wrapping_sub(odd.wrapping_mul(x))))
}

/// Puts nibble k of `x` into the upper half of byte k.
#[inline]
pub(super) const fn spread(x: u32) -> u64 {
    let mut s = x as u64;
    s = (s | (s << 16)) & 0x0000_ffff_0000_ffff;
    s = (s | (s << 8)) & 0x00ff_00ff_00ff_00ff;
    s = (s | (s << 4)) & 0x0f0f_0f0f_0f0f_0f0f;
    s << 4
}

pub(super) fn gather(word: u64) -> u32 {
    (0..8).fold(0, |x, byte| x | (((word >> (8 * byte + 4)) & 0xf) as u32) << (4 * byte))
}

/// The name nibbles of a permuted number: their differences are `x`, their offset is a hash of it.
#[inline]
pub(super) const fn name(x: u32) -> u32 {
    let mut n = x << 4;
    n ^= n << 4;
    n ^= n << 8;
    n ^= n << 16;
    n ^ 0x1111_1111u32.wrapping_mul((x ^ (x >> 10) ^ (x >> 22)) & 0xf)
}

/// What the place of a word in its block of eight adds to the block's name. Any two differ in every byte, so no
/// two words of a block have the same byte at the same place of both.
pub(super) const PLACES: [u64; BLOCK as usize] = {
    let mut places = [0; BLOCK as usize];
    let mut place = 0;
    while place < BLOCK {
        places[place as usize] = spread(name(diffuse((place as u32) << BLOCK_BITS)));
        place += 1;
    }
    places
};

/// What the eighths of calls add to the name nibbles of all words: another number in each byte, so that the bytes
/// of up to 128 calls differ, and those of a rank and a call taken wrongly at once in seven of eight.
pub(super) const fn call_bits(call: u64) -> u64 {
    let eighth = (call >> 3) & 0xf;
    let mut bits = 0;
    let mut byte = 0;
    while byte < 8 {
        bits |= product(eighth, byte + 1) << (8 * byte + 4);
        byte += 1;
    }
    bits
}

/// The product in the field of sixteen elements: different for different factors of one that is not zero.
const fn product(a: u64, b: u64) -> u64 {
    let mut product = 0;
    let mut bit = 0;
    while bit < 4 {
        if b >> bit & 1 == 1 {
            product ^= a << bit;
        }
        bit += 1;
    }
    // Modulo x^4 + x + 1.
    let mut high = 6;
    while high >= 4 {
        if product >> high & 1 == 1 {
            product ^= 0b1_0011 << (high - 4);
        }
        high -= 1;
    }
    product
}
