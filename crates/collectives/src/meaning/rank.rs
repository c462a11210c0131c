//! A rank in the world and a rank in a group: two types, because every kernel author has once
//! confused them and every harness that uses one integer for both hides it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Index of a participant in the world, `0..world`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rank(pub u32);

/// Index of a participant in its group, `0..group.size()`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GroupRank(pub u32);

/// The largest world. Six bits of every byte of the fill tell its ranks apart; see
/// [`crate::data::fill::rank_bits`].
pub const MAX_WORLD: u32 = 64;

impl Rank {
    /// As an index into per-rank slices.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for GroupRank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
