//! Heaps in memory that all processes share; the parent fills and compares them.

use std::os::fd::BorrowedFd;

use collectives::{Finding, HeapPlan, Problem, Rank, image, verify};
use ipc::{HeapHandle, SharedMemory};

use super::HeapOwner;
use crate::error::PoolError;

/// Descriptor of rank 0's heap in a rank process; the others follow.
const FIRST_HEAP_FD: i32 = 10;

/// One memory file a rank.
#[derive(Debug)]
pub struct SharedHeaps {
    heaps: Vec<SharedMemory>,
}

impl SharedHeaps {
    /// Heaps of one byte for `ranks` ranks; [`HeapOwner::reserve`] makes room.
    ///
    /// # Errors
    /// The system has no memory.
    pub fn new(ranks: u32) -> Result<SharedHeaps, PoolError> {
        let heaps = (0..ranks)
            .map(|rank| SharedMemory::new(&format!("rankcheck-heap-{rank}"), 1))
            .collect::<Result<_, _>>();
        Ok(SharedHeaps { heaps: heaps.map_err(|error| system("shared memory for ranks", error))? })
    }

    /// The memory of every rank, to hand its descriptor to a process.
    pub fn memory(&self) -> &[SharedMemory] {
        &self.heaps
    }
}

impl HeapOwner for SharedHeaps {
    fn must_move(&self, _gpus: &[u32], _bytes: u64) -> bool {
        false
    }

    fn reserve(&mut self, ranks: u32, _gpus: &[u32], bytes: u64) -> Result<(), PoolError> {
        let heaps = &mut self.heaps[..ranks as usize];
        if heaps.iter().all(|heap| heap.len() >= bytes) {
            return Ok(());
        }
        // Some room to spare, so that heaps need not be mapped again for every case.
        let bytes = bytes.next_power_of_two().min(bytes.next_multiple_of(64 << 20));
        for heap in heaps {
            heap.reserve(bytes)
                .map_err(|error| system(&format!("heaps of {bytes} bytes"), error))?;
        }
        Ok(())
    }

    fn descriptors(&self) -> Vec<(BorrowedFd<'_>, i32)> {
        self.heaps.iter().map(SharedMemory::fd).zip(FIRST_HEAP_FD..).collect()
    }

    fn handles(&self, ranks: u32) -> Vec<HeapHandle> {
        (0..ranks as i32).map(|rank| HeapHandle::Memfd(FIRST_HEAP_FD + rank)).collect()
    }

    fn fill(
        &mut self,
        problem: &Problem,
        plan: &HeapPlan,
        call: usize,
        at: u64,
    ) -> Result<(), PoolError> {
        let part = at as usize..(at + plan.bytes) as usize;
        let heaps = self.heaps[..problem.world as usize].iter_mut();
        let mut heaps: Vec<&mut [u8]> =
            heaps.map(|heap| &mut heap.bytes_mut()[part.clone()]).collect();
        image::fill(problem, plan, call, &mut heaps);
        Ok(())
    }

    fn compare(
        &mut self,
        problem: &Problem,
        plan: &HeapPlan,
        call: usize,
        at: u64,
    ) -> Result<Vec<Finding>, PoolError> {
        let part = at as usize..(at + plan.bytes) as usize;
        let heaps = self.heaps[..problem.world as usize].iter();
        let heaps: Vec<&[u8]> = heaps.map(|heap| &heap.bytes()[part.clone()]).collect();
        Ok(verify(problem, plan, call, &heaps))
    }

    fn copy(&mut self, rank: Rank, bytes: u64) -> Result<Vec<u8>, PoolError> {
        Ok(self.heaps[rank.index()].bytes()[..bytes as usize].to_vec())
    }

    fn held_bytes(&self) -> u64 {
        self.heaps.iter().map(SharedMemory::len).sum()
    }
}

fn system(what: &str, error: ipc::IpcError) -> PoolError {
    PoolError::System { what: what.to_owned(), reason: error.to_string() }
}
