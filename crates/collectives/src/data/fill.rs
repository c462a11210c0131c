//! The fill: a keyed bijection from (rank, call, row, word) to eight bytes, and the poison.
//!
//! Every byte carries, from bit 0 up:
//!
//! | bits | field | what it tells apart |
//! |---|---|---|
//! | 0 | class | 0 data, 1 poison: a byte nobody wrote never looks written |
//! | 1..4 | colour = column + row + call, mod 8 | one off in row, column, vector or tile; the call before |
//! | 2..4 | colour ^ (rank / 16) in its upper two bits | the same place on a rank of other sixteen |
//! | 4..8 | name ^ (rank % 16) ^ a multiple of (call / 8) | the same place on another rank; an earlier call |
//!
//! so each of those confusions changes *every* byte it touches, even of one-byte elements. Two of them
//! at once do so too within sixteen ranks, and for calls that follow each other among all ranks,
//! because the colour's lowest bit carries no rank; see ARCHITECTURE.md for what is left.
//! Across a word, the eight name nibbles hold a 28-bit permutation of the word's number in the
//! matrix in their differences, and the rank in their sum: a word names its owner
//! ([`RowFill::owner`]). Eight words in a row share one permutation of 25 bits; the other three
//! bits, and everything from there to the nibbles, is linear over exclusive or, so that seven of
//! eight words cost one operation ([`RowFill::row`]). No two words of such a block have a byte in common at
//! the same place of both. Regions beyond 2^28 words (2 GiB a rank) and calls beyond the 128th use
//! further permutations.
//!
//! Words are counted from the start of a row, so a row's bytes do not depend on where the row lies.

use super::draw::mix;
use super::permutation::{
    BLOCK_BITS, BLOCK_MASK, NAME_BITS, PLACES, Permutation, call_bits, diffuse, gather, name,
    spread, undiffuse,
};
use super::poison::IN_BLOCK;
pub use super::poison::Poison;
pub use super::word::rank_bits;
use super::word::{BLOCK, CLASS, EACH_BYTE};
use crate::meaning::problem::Call;
use crate::meaning::rank::Rank;
use crate::meaning::shape::{Shape, Tile};

const COLOUR: u64 = 0x0e0e_0e0e_0e0e_0e0e;
const NAME: u64 = 0xf0f0_f0f0_f0f0_f0f0;

/// A multiplier whose top three bits never repeat at any of `distances`, so that
/// `(i * multiplier) >> 61` differs between `i` and `i + distance` for every `i`: one step of
/// `distance` moves the fraction by at least an eighth of the circle, and at most seven.
fn colour_multiplier(distances: &[u64], seed: u64) -> u64 {
    const EIGHTH: u64 = 1 << 61;
    (0..)
        .map(|attempt| mix(seed.wrapping_add(attempt)) | 1)
        .find(|multiplier| {
            distances
                .iter()
                .all(|distance| (EIGHTH..=EIGHTH * 7).contains(&distance.wrapping_mul(*multiplier)))
        })
        .expect("odd multipliers cover every residue")
}

fn distances(candidates: &[u64]) -> Vec<u64> {
    let mut distances: Vec<_> = candidates.iter().copied().filter(|d| *d > 0).collect();
    distances.sort_unstable();
    distances.dedup();
    distances
}

/// A number below eight for each place of a matrix; see the table above.
#[derive(Debug, Clone)]
pub(crate) struct Colours {
    pub(crate) column_multiplier: u64,
    pub(crate) row_multiplier: u64,
    pub(crate) call: u64,
}

impl Colours {
    /// The colours of call number `index`.
    pub(crate) fn new(seed: u64, index: usize, shape: Shape, element: u64, tile: Tile) -> Colours {
        let vector = 16 / element;
        // Reductions also confuse whole parts of an input: rows of another member.
        let across = distances(&[1, 2, vector / 2, vector, tile.n]);
        let down = distances(&[1, 2, tile.m, shape.m]);
        Colours {
            column_multiplier: colour_multiplier(&across, seed),
            row_multiplier: colour_multiplier(&down, !seed),
            call: index as u64,
        }
    }

    /// The colour of an element.
    #[inline]
    pub(crate) fn of(&self, row: u64, column: u64) -> u64 {
        let column = column.wrapping_mul(self.column_multiplier) >> 61;
        (column + (row.wrapping_mul(self.row_multiplier) >> 61) + self.call) & 7
    }
}

/// The rows of every rank's input in one call.
#[derive(Debug, Clone)]
pub struct RowFill {
    shape: Shape,
    element: u64,
    words_per_row: u64,
    seed: u64,
    call: u64,
    /// Colours of a row's words, in place (shifted to bits 1..4).
    columns: Vec<u64>,
    column_multiplier: u64,
    row_multiplier: u64,
}

/// The numbers of which a [`RowFill`] and its call's poison are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constants {
    /// Key of the permutation, the number of the 2^28 words aside.
    pub permutation: u64,
    /// Words of a row, the last one perhaps in part.
    pub words_per_row: u64,
    /// Bytes of an element.
    pub element: u64,
    /// A column's colour is the top three bits of its product with this.
    pub column_multiplier: u64,
    /// Likewise a row's.
    pub row_multiplier: u64,
    /// Number of the call.
    pub call: u64,
    /// What the place of a word in its block of eight adds.
    pub places: [u64; BLOCK as usize],
    /// What the place of a poison word in its block of eight adds.
    pub poison_places: [u64; BLOCK as usize],
}

/// Whose word it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// Whose input.
    pub rank: Rank,
    /// Of which call.
    pub call: usize,
    /// Row of the input.
    pub row: u64,
    /// Column of the word's first byte, in bytes from the row's start.
    pub byte: u64,
}

impl RowFill {
    /// The fill of call number `index` for inputs of `shape` with elements of `element` bytes.
    pub fn new(seed: u64, index: usize, shape: Shape, element: u64, tile: Tile) -> RowFill {
        let vector = 16 / element;
        let across = distances(&[1, 2, vector / 2, vector, tile.n]);
        let down = distances(&[1, 2, tile.m]);
        let column_multiplier = colour_multiplier(&across, seed);
        let bytes_per_row = shape.n * element;
        let words_per_row = bytes_per_row.div_ceil(8);
        let colour = |byte: u64| (byte / element).wrapping_mul(column_multiplier) >> 61;
        let columns = (0..words_per_row)
            .map(|word| {
                (0..8).fold(0, |bits, byte| bits | colour(word * 8 + byte) << (8 * byte + 1))
            })
            .collect();
        RowFill {
            shape,
            element,
            words_per_row,
            seed,
            call: index as u64,
            columns,
            column_multiplier,
            row_multiplier: colour_multiplier(&down, !seed),
        }
    }

    /// The fill of `call`'s inputs, call number `index` of `problem`.
    pub fn of_call(
        problem: &crate::meaning::problem::Problem,
        index: usize,
        call: &Call,
    ) -> RowFill {
        let shape = problem.collective.input_shape(call.shape, u64::from(call.group.size()));
        RowFill::new(problem.seed, index, shape, problem.dtype.bytes(), call.tile)
    }

    /// Rows and columns of the inputs.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Everything that decides the words, for whoever makes them elsewhere.
    pub fn constants(&self) -> Constants {
        Constants {
            permutation: self.permutation_key(),
            words_per_row: self.words_per_row,
            element: self.element,
            column_multiplier: self.column_multiplier,
            row_multiplier: self.row_multiplier,
            call: self.call,
            places: PLACES.map(|place| place ^ call_bits(self.call)),
            poison_places: IN_BLOCK,
        }
    }

    fn permutation_key(&self) -> u64 {
        self.seed ^ (self.call >> 7) << 32
    }

    fn permutation(&self, number: u64) -> Permutation {
        Permutation::new(self.permutation_key() ^ (number >> NAME_BITS))
    }

    fn row_colour(&self, row: u64) -> u64 {
        ((row.wrapping_mul(self.row_multiplier) >> 61) + self.call) & 7
    }

    /// Writes the elements of a row of `rank`'s input, as bytes.
    pub fn row(&self, rank: Rank, row: u64, bytes: &mut Vec<u8>) {
        bytes.resize(self.words_per_row as usize * 8, 0);
        let own_bits = rank_bits(rank) ^ call_bits(self.call);
        let row_bits = (self.row_colour(row) * EACH_BYTE) << 1;
        let first = row * self.words_per_row;
        let name = |number: u64| {
            let permuted = self.permutation(number).apply((number / BLOCK) as u32 & BLOCK_MASK);
            spread(name(diffuse(permuted))) ^ own_bits
        };
        let word = |name: u64, in_block: u64, colour: u64| {
            (name ^ in_block ^ ((colour + row_bits) & COLOUR)).to_le_bytes()
        };
        let (words, _) = bytes.as_chunks_mut::<8>();
        // Up to the first whole block, then whole blocks, then what is left.
        let head = (first.next_multiple_of(BLOCK) - first).min(self.words_per_row) as usize;
        let (head_words, words) = words.split_at_mut(head);
        let (head_columns, columns) = self.columns.split_at(head);
        let (blocks, tail_words) = words.as_chunks_mut::<{ BLOCK as usize }>();
        let (column_blocks, tail_columns) = columns.as_chunks::<{ BLOCK as usize }>();
        let head_name = name(first);
        let places = &PLACES[(first % BLOCK) as usize..];
        for ((to, in_block), colour) in head_words.iter_mut().zip(places).zip(head_columns) {
            *to = word(head_name, *in_block, *colour);
        }
        let mut number = first + head as u64;
        for (block, colours) in blocks.iter_mut().zip(column_blocks) {
            let name = name(number);
            for place in 0..BLOCK as usize {
                block[place] = word(name, PLACES[place], colours[place]);
            }
            number += BLOCK;
        }
        let tail_name = name(number);
        for ((to, in_block), colour) in tail_words.iter_mut().zip(&PLACES).zip(tail_columns) {
            *to = word(tail_name, *in_block, *colour);
        }
        bytes.truncate((self.shape.n * self.element) as usize);
    }

    /// Whose word this is, if it is a word of this call's fill for a world of `world` ranks.
    pub fn owner(&self, word: u64, world: u32) -> Option<Owner> {
        if word & CLASS != 0 || self.words_per_row == 0 {
            return None;
        }
        let nibbles = gather((word ^ call_bits(self.call)) & NAME);
        let named = (nibbles ^ (nibbles << 4)) >> 4;
        let low_rank = (nibbles ^ name(named)) & 0xf;
        let number = undiffuse(named);
        let (place, permuted) = (u64::from(number >> BLOCK_BITS), number & BLOCK_MASK);
        let words = self.shape.m * self.words_per_row;
        (0..=words >> NAME_BITS)
            .map(|high| {
                let block = self.permutation(high << NAME_BITS).invert(permuted);
                (high << NAME_BITS) | (u64::from(block) * BLOCK) | place
            })
            .filter(|number| *number < words)
            .map(|number| (number / self.words_per_row, number % self.words_per_row))
            .find_map(|(row, column)| {
                let colours =
                    self.columns[column as usize] + ((self.row_colour(row) * EACH_BYTE) << 1);
                // The upper bits of the rank are what the colours differ by, in all bytes alike.
                let high_rank = (((word ^ colours) & COLOUR) >> 2) as u32 & 3;
                let rank = Rank(high_rank << 4 | low_rank);
                let of_this_row = (word ^ rank_bits(rank) ^ colours) & COLOUR == 0;
                let owner = Owner { rank, call: self.call as usize, row, byte: column * 8 };
                (of_this_row && rank.0 < world).then_some(owner)
            })
    }
}

#[cfg(test)]
mod tests;
