//! What stands in a heap where nothing belongs: a function of (rank, call, offset in the heap), so that
//! unwritten and wrongly written bytes look different.

use super::draw::mix;
use super::word::{BLOCK, CLASS, rank_bits};
use crate::meaning::rank::Rank;

/// What the place of a poison word in its block of eight adds.
pub(super) const IN_BLOCK: [u64; BLOCK as usize] = {
    let mut places = [0; BLOCK as usize];
    let mut place = 0;
    while place < BLOCK {
        places[place as usize] = mix(!place);
        place += 1;
    }
    places
};

/// The poison of every heap in one call: a function of (rank, call, offset in the heap).
#[derive(Debug, Clone, Copy)]
pub struct Poison {
    seed: u64,
}

impl Poison {
    /// The poison of call number `index`.
    pub fn new(seed: u64, index: usize) -> Poison {
        Poison { seed: mix(seed ^ mix(index as u64 + 1)) }
    }

    /// What its words are hashed with.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What eight words in a row share: a hash of their number.
    #[inline]
    fn block(&self, rank: Rank, block: u64) -> u64 {
        mix(self.seed ^ block) ^ rank_bits(rank)
    }

    /// The word at heap offset `8 * number` of `rank`.
    #[inline]
    pub fn word(&self, rank: Rank, number: u64) -> u64 {
        (self.block(rank, number / BLOCK) ^ IN_BLOCK[(number % BLOCK) as usize]) | CLASS
    }

    /// Writes the poison of the bytes from heap offset `start`.
    pub fn write(&self, rank: Rank, start: u64, bytes: &mut [u8]) {
        // Up to the first whole block, then whole blocks, then what is left.
        const BYTES: u64 = 64;
        let head = (start.next_multiple_of(BYTES) - start).min(bytes.len() as u64) as usize;
        let (head_bytes, rest) = bytes.split_at_mut(head);
        self.write_part(rank, start, head_bytes);
        let (blocks, tail_bytes) = rest.as_chunks_mut::<{ BYTES as usize }>();
        let mut number = start.div_ceil(BYTES);
        for block in blocks {
            self.write_block(rank, number, block);
            number += 1;
        }
        self.write_part(rank, number * BYTES, tail_bytes);
    }

    #[inline]
    fn write_block(&self, rank: Rank, number: u64, block: &mut [u8; 64]) {
        let hash = self.block(rank, number);
        let (words, _) = block.as_chunks_mut::<8>();
        for (word, in_block) in words.iter_mut().zip(&IN_BLOCK) {
            *word = ((hash ^ in_block) | CLASS).to_le_bytes();
        }
    }

    /// Bytes of one block.
    fn write_part(&self, rank: Rank, start: u64, bytes: &mut [u8]) {
        let mut block = [0; 64];
        self.write_block(rank, start / 64, &mut block);
        bytes.copy_from_slice(&block[(start % 64) as usize..][..bytes.len()]);
    }

    /// Whether the bytes from heap offset `start` are still the poison.
    pub fn holds(&self, rank: Rank, start: u64, bytes: &[u8]) -> bool {
        let mut buffer = [0u8; 512];
        let mut offset = start;
        bytes.chunks(buffer.len()).all(|chunk| {
            let expected = &mut buffer[..chunk.len()];
            self.write(rank, offset, expected);
            offset += chunk.len() as u64;
            expected == chunk
        })
    }
}
