//! Addresses of block-shared memory, as observers see it: made of rank, block and offset, so that
//! they are the same in every run, and no heap's.

use collectives::Rank;

const FIRST: usize = 1 << 46;
const RANK_SHIFT: u32 = 41;
const BLOCK_SHIFT: u32 = 21;

/// Where observers see a byte of a block's shared memory.
pub(crate) fn address_of(rank: Rank, block: u32, offset: usize) -> usize {
    FIRST | (rank.index() << RANK_SHIFT) | ((block as usize) << BLOCK_SHIFT) | offset
}

/// Whose block-shared memory an observed address is, and how far from its start: rank, block,
/// offset.
pub fn shared_memory_at(address: usize) -> Option<(Rank, u32, usize)> {
    let inside = address.checked_sub(FIRST).filter(|inside| *inside < 16 << RANK_SHIFT)?;
    let rank = Rank((inside >> RANK_SHIFT) as u32);
    let block = (inside >> BLOCK_SHIFT) as u32 & ((1 << (RANK_SHIFT - BLOCK_SHIFT)) - 1);
    Some((rank, block, inside & ((1 << BLOCK_SHIFT) - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_rank_block_and_offset() {
        let address = address_of(Rank(15), 1023, 65_535);
        assert_eq!(shared_memory_at(address), Some((Rank(15), 1023, 65_535)));
        assert_eq!(shared_memory_at(0x1000_0000_0000), None);
    }
}
