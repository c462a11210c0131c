//! The fields of a byte and the bits of a rank, which the fill and the poison share.

use crate::meaning::rank::Rank;

pub(super) const CLASS: u64 = 0x0101_0101_0101_0101;
pub(super) const EACH_BYTE: u64 = 0x0101_0101_0101_0101;
/// Words that share one permuted number.
pub(super) const BLOCK: u64 = 8;

/// How the bytes of a rank differ from those of rank 0 at the same place of its inputs and of its
/// poison: by this exclusive or, the same in each byte. The lower four bits of the rank are in a byte's
/// upper half, the upper two in the upper two bits of its colour.
#[inline]
pub const fn rank_bits(rank: Rank) -> u64 {
    let rank = rank.0 as u64;
    ((rank & 0xf) << 4 | (rank >> 4) << 2) * EACH_BYTE
}
