//! Addresses of block-shared memory, as observers see it.
//!
//! They are made of rank, block and offset, so that they are the same in every run. No program can
//! map memory there: they lie above the part of the address space that x86-64 Linux gives to
//! processes, which ends below `1 << 47`.

use collectives::Rank;

const FIRST: usize = 1 << 47;
/// Bits of an address that hold the offset: a block has less than 2 MiB of shared memory.
const OFFSET_BITS: u32 = 21;
/// Bits that hold the block.
const BLOCK_BITS: u32 = 20;
/// Bits that hold the rank.
const RANK_BITS: u32 = 6;
const RANK_SHIFT: u32 = OFFSET_BITS + BLOCK_BITS;

/// The address at which observers see byte `offset` of a block's shared memory.
pub(crate) fn address_of(rank: Rank, block: u32, offset: usize) -> usize {
    FIRST | (rank.index() << RANK_SHIFT) | ((block as usize) << OFFSET_BITS) | offset
}

/// The rank and block whose shared memory an observed address is in, and the offset from its start
/// in bytes. `None` where the address is not one of block-shared memory.
pub fn shared_memory_at(address: usize) -> Option<(Rank, u32, usize)> {
    let end = 1 << (RANK_SHIFT + RANK_BITS);
    let inside = address.checked_sub(FIRST).filter(|inside| *inside < end)?;
    let rank = Rank((inside >> RANK_SHIFT) as u32);
    let block = (inside >> OFFSET_BITS) as u32 & ((1 << BLOCK_BITS) - 1);
    Some((rank, block, inside & ((1 << OFFSET_BITS) - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_rank_block_and_offset() {
        for rank in 0..64 {
            for (block, offset) in [(0, 0), (1023, 65_535), ((1 << BLOCK_BITS) - 1, 0)] {
                let address = address_of(Rank(rank), block, offset);
                assert_eq!(shared_memory_at(address), Some((Rank(rank), block, offset)));
            }
        }
        for address in [0, 0x1000_0000_0000, FIRST - 1, 2 * FIRST] {
            assert_eq!(shared_memory_at(address), None, "{address:#x}");
        }
    }
}
