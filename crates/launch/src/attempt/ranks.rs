//! Rank processes, as an attempt needs them.

use std::ops::Range;
use std::time::Duration;

use ranks::command::{Command, Reply};
use ranks::heaps::HeapOwner;
use ranks::{Loss, Pool, PoolError};

/// Processes that host ranks, and their heaps. A [`Pool`] has real ones.
///
/// Contract: `reserve` comes first; processes are numbered from 0, one hosts all ranks or number r hosts
/// rank r. `gather` answers once for each process that was told something, in the order asked, and a
/// process that is lost stays lost until `stop`. Heaps are touched only between `gather` and the next
/// `tell`.
pub trait Ranks {
    /// Makes room for heaps of `bytes` bytes on `ranks` ranks and sees that `processes` processes live.
    ///
    /// # Errors
    /// The system refuses, or a process does not say hello.
    fn reserve(&mut self, ranks: u32, bytes: u64, processes: usize) -> Result<(), PoolError>;
    /// The heaps of all ranks, to fill and compare while no rank runs.
    fn heaps(&mut self) -> &mut dyn HeapOwner;
    /// Tells a process to do something. One that is gone is noticed by `gather`.
    fn tell(&mut self, process: usize, command: &Command);
    /// Waits for one reply of each of `processes`, for at most `patience`.
    ///
    /// # Errors
    /// Ctrl-C, or the system refuses to wait.
    fn gather(
        &mut self,
        processes: &[usize],
        patience: Duration,
    ) -> Result<Vec<Result<Reply, Loss>>, PoolError>;
    /// How many times processes have met on the board, over all launches so far.
    fn met_so_far(&self) -> u32;
    /// When a process entered and left the kernel last, in nanoseconds of the monotonic clock.
    fn inside(&self, process: usize) -> Range<u64>;
    /// How a process that was told nothing has ended, if it has.
    fn lost(&mut self, process: usize) -> Option<Loss>;
    /// What a process has printed since this was last asked.
    fn printed(&mut self, process: usize) -> String;
    /// Ends all processes. Heaps stay.
    fn stop(&mut self);
    /// Gives memory back to the system where the heaps hold much of it.
    fn release(&mut self);
}

/// Pools that hold more bytes than this are emptied after a case.
const HELD_BYTES: u64 = 2 << 30;

impl Ranks for Pool {
    fn reserve(&mut self, ranks: u32, bytes: u64, processes: usize) -> Result<(), PoolError> {
        Pool::reserve(self, ranks, bytes, processes)
    }
    fn heaps(&mut self) -> &mut dyn HeapOwner {
        Pool::heaps(self)
    }
    fn tell(&mut self, process: usize, command: &Command) {
        Pool::tell(self, process, command);
    }
    fn gather(
        &mut self,
        processes: &[usize],
        patience: Duration,
    ) -> Result<Vec<Result<Reply, Loss>>, PoolError> {
        Pool::gather(self, processes, patience)
    }
    fn met_so_far(&self) -> u32 {
        Pool::met_so_far(self)
    }
    fn inside(&self, process: usize) -> Range<u64> {
        let (entered, left) = self.board(process).inside();
        entered..left
    }
    fn lost(&mut self, process: usize) -> Option<Loss> {
        Pool::lost(self, process)
    }
    fn printed(&mut self, process: usize) -> String {
        Pool::printed(self, process)
    }
    fn stop(&mut self) {
        Pool::stop(self);
    }
    fn release(&mut self) {
        if self.held_bytes() > HELD_BYTES {
            // Losing the memory of an empty pool would stop the run anyway.
            let _ = self.renew();
        }
    }
}
