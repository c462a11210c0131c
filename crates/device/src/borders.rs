//! The borders of calls that follow each other on a rank without waiting for other ranks.

use std::ops::Range;

use collectives::Rank;
use serde::{Deserialize, Serialize};

/// What the host of each rank does between its calls. A rank's memory file holds its heap and behind that as many
/// parts of the same size: the heap as each of its calls left it, and then what the host writes before each
/// call but the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Borders {
    /// How many calls there are.
    pub calls: u32,
    /// Bytes from one part of the file to the next: those of a heap.
    pub part_bytes: u64,
    /// The parts of every heap that hosts read when a call has ended and write before the next one begins.
    pub touched: Vec<Range<u64>>,
    /// The ranks that take part in none of the calls. Their calls end when those of all others have.
    pub idle: Vec<Rank>,
}

impl Borders {
    /// How many parts the file of a rank has for so many calls.
    pub fn parts(calls: u32) -> u64 {
        2 * u64::from(calls)
    }

    /// Where in the file the heap stands as the rank's call left it.
    pub fn left(&self, call: u32) -> u64 {
        (1 + u64::from(call)) * self.part_bytes
    }

    /// Where in the file stands what the host writes before a call other than the first.
    pub fn before(&self, call: u32) -> u64 {
        u64::from(self.calls + call) * self.part_bytes
    }
}

/// A byte that its rank's host read when a call had ended, and that was another one before the host wrote it
/// again, or at the end of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// The rank whose heap it is in.
    pub rank: Rank,
    /// The call of that rank that had ended.
    pub call: u32,
    /// Bytes from the start of the heap.
    pub offset: u64,
    /// What stood there when the call had ended.
    pub was: u8,
    /// What stood there later.
    pub is: u8,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_parts_of_a_file_are_one() {
        let borders = Borders { calls: 3, part_bytes: 10, touched: vec![], idle: vec![] };
        let left = (0..3).map(|call| borders.left(call));
        let before = (1..3).map(|call| borders.before(call));
        let parts: Vec<u64> = std::iter::once(0).chain(left).chain(before).collect();
        assert_eq!(parts, [0, 10, 20, 30, 40, 50]);
        assert_eq!(parts.len() as u64, Borders::parts(3));
    }
}
