//! Where heaps are, and who fills and judges them: on a CPU the parent itself, in shared memory;
//! on GPUs a process of its own that has loaded no kernel, in device memory.

use std::os::fd::BorrowedFd;
use std::sync::atomic::AtomicBool;

use collectives::rank::MAX_WORLD;
use collectives::{Finding, HeapPlan, Problem, Rank, image, verify};
use device::HeapHandle;
use device::cpu::{Control, SharedMemory};

use crate::judge::Judge;
use crate::measure::Speeds;
use crate::pool::PoolError;
use crate::target::Target;

/// Descriptor of rank 0's heap in a rank process; the others follow.
const FIRST_HEAP_FD: i32 = 10;

/// The heaps of a pool.
#[derive(Debug)]
pub(crate) enum Heaps {
    /// In memory that all processes share.
    Shared(Vec<SharedMemory>),
    /// In a GPU's memory, owned by a process that judges.
    OnGpu(Judge),
}

impl Heaps {
    /// No room yet.
    pub(crate) fn new(
        target: &Target,
        control: &Control,
        mark: &str,
        interrupted: &'static AtomicBool,
    ) -> Result<Heaps, PoolError> {
        if let Target::Cuda { .. } = target {
            return Ok(Heaps::OnGpu(Judge::start(target, control, mark, interrupted)?));
        }
        let heaps = (0..MAX_WORLD)
            .map(|rank| SharedMemory::new(&format!("rankcheck-heap-{rank}"), 1))
            .collect::<Result<_, _>>();
        Ok(Heaps::Shared(heaps.map_err(|error| PoolError::System {
            what: "shared memory for ranks".into(),
            reason: error.to_string(),
        })?))
    }

    /// Whether making that room changes where heaps are.
    pub(crate) fn must_move(&self, gpus: &[u32], bytes: u64) -> bool {
        match self {
            Heaps::Shared(_) => false,
            Heaps::OnGpu(judge) => judge.must_move(gpus, bytes),
        }
    }

    /// Makes room for heaps of `bytes` on `ranks` ranks, on these GPUs by rank.
    pub(crate) fn reserve(
        &mut self,
        control: &Control,
        ranks: u32,
        gpus: &[u32],
        bytes: u64,
    ) -> Result<(), PoolError> {
        let heaps = match self {
            Heaps::OnGpu(judge) => return judge.reserve(control, gpus, bytes),
            Heaps::Shared(heaps) => &mut heaps[..ranks as usize],
        };
        if heaps.iter().all(|heap| heap.len() >= bytes) {
            return Ok(());
        }
        // Some room to spare, so that heaps need not be mapped again for every case.
        let bytes = bytes.next_power_of_two().min(bytes.next_multiple_of(64 << 20));
        for heap in heaps {
            heap.reserve(bytes).map_err(|error| PoolError::System {
                what: format!("heaps of {bytes} bytes"),
                reason: error.to_string(),
            })?;
        }
        Ok(())
    }

    /// The descriptors that rank processes inherit.
    pub(crate) fn descriptors(&self) -> Vec<(BorrowedFd<'_>, i32)> {
        match self {
            Heaps::Shared(heaps) => {
                heaps.iter().map(SharedMemory::fd).zip(FIRST_HEAP_FD..).collect()
            }
            Heaps::OnGpu(_) => Vec::new(),
        }
    }

    /// How a rank process opens the first `ranks` heaps.
    pub(crate) fn handles(&self, ranks: u32) -> Vec<HeapHandle> {
        match self {
            Heaps::Shared(_) => {
                (0..ranks as i32).map(|rank| HeapHandle::Memfd(FIRST_HEAP_FD + rank)).collect()
            }
            Heaps::OnGpu(judge) => judge.handles(ranks),
        }
    }

    /// Fills every heap for a call.
    pub(crate) fn fill(
        &mut self,
        control: &Control,
        problem: &Problem,
        plan: &HeapPlan,
        call: usize,
    ) -> Result<(), PoolError> {
        match self {
            Heaps::Shared(heaps) => {
                let heaps = heaps[..problem.world as usize].iter_mut();
                let mut heaps: Vec<&mut [u8]> =
                    heaps.map(|heap| &mut heap.bytes_mut()[..plan.bytes as usize]).collect();
                image::fill(problem, plan, call, &mut heaps);
                Ok(())
            }
            Heaps::OnGpu(judge) => judge.fill(control, problem, plan, call),
        }
    }

    /// What is wrong in the heaps after a call.
    pub(crate) fn judge(
        &mut self,
        control: &Control,
        problem: &Problem,
        plan: &HeapPlan,
        call: usize,
    ) -> Result<Vec<Finding>, PoolError> {
        match self {
            Heaps::Shared(heaps) => {
                let heaps = heaps[..problem.world as usize].iter();
                let heaps: Vec<&[u8]> =
                    heaps.map(|heap| &heap.bytes()[..plan.bytes as usize]).collect();
                Ok(verify(problem, plan, call, &heaps))
            }
            Heaps::OnGpu(judge) => judge.judge(control, problem, plan, call),
        }
    }

    /// How fast the judge is.
    pub(crate) fn measure(
        &mut self,
        control: &Control,
        problem: &Problem,
    ) -> Result<Speeds, PoolError> {
        match self {
            Heaps::OnGpu(judge) => judge.measure(control, problem),
            Heaps::Shared(_) => Err(PoolError::System {
                what: "measuring the judge".into(),
                reason: "a CPU's is part of `cargo bench`".into(),
            }),
        }
    }

    /// A copy of the first `bytes` of a heap.
    pub(crate) fn copy(
        &mut self,
        control: &Control,
        rank: Rank,
        bytes: u64,
    ) -> Result<Vec<u8>, PoolError> {
        match self {
            Heaps::Shared(heaps) => Ok(heaps[rank.index()].bytes()[..bytes as usize].to_vec()),
            Heaps::OnGpu(judge) => judge.copy(control, rank, bytes),
        }
    }

    /// Bytes of the host's memory that they hold.
    pub(crate) fn held_bytes(&self) -> u64 {
        match self {
            Heaps::Shared(heaps) => heaps.iter().map(SharedMemory::len).sum(),
            Heaps::OnGpu(_) => 0,
        }
    }
}
