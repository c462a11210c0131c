//! What the parent and the heap server say to each other.

use collectives::rank::MAX_WORLD;
use collectives::{Finding, Problem, Rank};
use ipc::HeapHandle;
use serde::{Deserialize, Serialize};

use super::speed::Speeds;

/// The server's number on the board, behind all ranks.
pub(crate) const NUMBER: usize = MAX_WORLD as usize;
/// The server's second argument behind its number.
pub(crate) const ROLE: &str = "heaps";
/// A GPU has no page behind a heap that faults, so this many bytes there are watched instead.
pub(crate) const BEHIND: u64 = 64 << 10;

/// What the parent says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Ask {
    /// Have heaps of `bytes` bytes on these GPUs, by rank.
    Reserve { gpus: Vec<u32>, bytes: u64 },
    /// Fill every heap.
    Fill { problem: Box<Problem>, call: usize },
    /// Compare every heap.
    Compare { problem: Box<Problem>, call: usize },
    /// Measure how fast heaps are filled and compared.
    Measure { problem: Box<Problem> },
    /// Say what stands in a part of a heap.
    Read { rank: Rank, offset: u64, bytes: u64 },
}

/// What the server answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// It lives, and speaks the protocol with this hash.
    Hello(u64),
    /// How to open each heap, by rank.
    Reserved(Vec<HeapHandle>),
    /// Every heap is filled.
    Filled,
    /// What is wrong.
    Compared(Vec<Finding>),
    /// How fast that is.
    Measured(Speeds),
    /// What stands there.
    Bytes(Vec<u8>),
    /// It could not, for this reason.
    Failed(String),
}
