//! The contract of whatever owns heaps.

use std::os::fd::BorrowedFd;

use collectives::{Finding, HeapPlan, Problem, Rank};
use ipc::HeapHandle;

use crate::error::PoolError;

/// Owns one heap a rank: makes room, fills, compares.
///
/// Contract: no rank runs while a method is called. Room only grows. Handles stay good until `reserve` is
/// called for room that [`HeapOwner::must_move`] says is elsewhere. `compare` looks at every byte of every
/// heap and shares nothing with ranks but the bytes.
pub trait HeapOwner: std::fmt::Debug + Send {
    /// Whether making room for heaps of `bytes` bytes, on these GPUs by rank, changes where heaps are.
    fn must_move(&self, gpus: &[u32], bytes: u64) -> bool;
    /// Makes room for heaps of `bytes` bytes on `ranks` ranks, on these GPUs by rank.
    ///
    /// # Errors
    /// No memory, or the device is lost.
    fn reserve(&mut self, ranks: u32, gpus: &[u32], bytes: u64) -> Result<(), PoolError>;
    /// The descriptors that rank processes inherit, each with its number there.
    fn descriptors(&self) -> Vec<(BorrowedFd<'_>, i32)>;
    /// How a rank process opens the first `ranks` heaps, by rank.
    fn handles(&self, ranks: u32) -> Vec<HeapHandle>;
    /// Fills every heap for a call. `at` says where in a rank's memory, in bytes: 0 for the heap itself, and more
    /// for what a rank's host writes there later. Heaps on a device have no such place.
    ///
    /// # Errors
    /// The device is lost.
    fn fill(
        &mut self,
        problem: &Problem,
        plan: &HeapPlan,
        call: usize,
        at: u64,
    ) -> Result<(), PoolError>;
    /// What is wrong in the heaps after a call; `at` says where they stand, as in [`HeapOwner::fill`].
    ///
    /// # Errors
    /// The device is lost.
    fn compare(
        &mut self,
        problem: &Problem,
        plan: &HeapPlan,
        call: usize,
        at: u64,
    ) -> Result<Vec<Finding>, PoolError>;
    /// A copy of the first `bytes` bytes of a rank's heap.
    ///
    /// # Errors
    /// The device is lost.
    fn copy(&mut self, rank: Rank, bytes: u64) -> Result<Vec<u8>, PoolError>;
    /// Bytes of the machine's own memory that the heaps hold; 0 where they lie on a device.
    fn held_bytes(&self) -> u64;
}
