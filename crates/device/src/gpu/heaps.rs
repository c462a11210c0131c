//! Heaps on GPUs, in the process that owns them: allocated here, opened by ranks through IPC, so that
//! they outlive a rank whose kernel faults.

use std::rc::Rc;

use collectives::Rank;
use ipc::HeapHandle;

use super::driver::{Address, Contexts, GpuContext, GpuDriver};
use crate::DeviceError;

/// Smaller allocations share one block of the driver's, and a handle opens the whole block.
const GRANULE: u64 = 2 << 20;

/// One rank's heap.
#[derive(Debug)]
struct Heap {
    gpu: u32,
    address: Address,
    bytes: u64,
    handle: HeapHandle,
}

/// Heaps of all ranks.
#[derive(Debug)]
pub struct Heaps {
    contexts: Contexts,
    heaps: Vec<Heap>,
}

impl Heaps {
    /// No heaps yet, on GPUs of a vendor.
    pub fn new(driver: Rc<dyn GpuDriver>) -> Heaps {
        Heaps { contexts: Contexts::new(driver), heaps: Vec::new() }
    }

    /// A GPU in this process; the first use takes some tenths of a second.
    pub(super) fn context(&mut self, gpu: u32) -> Result<Rc<dyn GpuContext>, DeviceError> {
        self.contexts.get(gpu)
    }

    /// Sees that rank r has at least `bytes` on GPU `gpus[r]`, and gives the handle of each rank's heap.
    /// Where anything changes, no other process may have a heap open.
    ///
    /// # Errors
    /// There is not enough memory, or no GPU of that number.
    pub fn reserve(&mut self, gpus: &[u32], bytes: u64) -> Result<Vec<HeapHandle>, DeviceError> {
        let bytes = bytes.max(1).next_multiple_of(GRANULE);
        for (rank, gpu) in gpus.iter().enumerate() {
            if let Some(heap) = self.heaps.get(rank) {
                if heap.gpu == *gpu && heap.bytes >= bytes {
                    continue;
                }
                let (old, address) = (heap.gpu, heap.address);
                self.context(old)?.free(address)?;
            }
            let context = self.context(*gpu)?;
            let address = context.allocate(bytes)?;
            let device = self.contexts.driver().device().to_string();
            let handle = HeapHandle::GpuIpc { device, handle: context.export(address)?, offset: 0 };
            let heap = Heap { gpu: *gpu, address, bytes, handle };
            match self.heaps.get_mut(rank) {
                Some(place) => *place = heap,
                None => self.heaps.push(heap),
            }
        }
        Ok(self.heaps[..gpus.len()].iter().map(|heap| heap.handle.clone()).collect())
    }

    /// The addresses of the first `ranks` heaps in this process, by rank.
    ///
    /// # Errors
    /// A rank has no heap.
    pub fn addresses(&mut self, ranks: u32) -> Result<Vec<u64>, DeviceError> {
        (0..ranks).map(|rank| Ok(self.place(Rank(rank))?.1)).collect()
    }

    /// The GPU that holds each rank's heap.
    pub fn gpus(&self) -> Vec<u32> {
        self.heaps.iter().map(|heap| heap.gpu).collect()
    }

    /// A heap's GPU and its first byte there.
    fn place(&mut self, rank: Rank) -> Result<(Rc<dyn GpuContext>, Address), DeviceError> {
        let heap = self.heaps.get(rank.index()).ok_or(DeviceError::NoRank(rank, "heap"))?;
        let (gpu, address) = (heap.gpu, heap.address);
        Ok((self.context(gpu)?, address))
    }

    /// Copies a part of a heap to the host.
    ///
    /// # Errors
    /// The rank has no heap, or the driver refuses.
    pub fn read(&mut self, rank: Rank, offset: u64, bytes: &mut [u8]) -> Result<(), DeviceError> {
        let (context, address) = self.place(rank)?;
        Ok(context.read(address + offset, bytes)?)
    }

    /// Sets every byte of a part of a heap's memory; returns when that is done.
    ///
    /// # Errors
    /// The rank has no heap, or the driver refuses.
    pub fn set(
        &mut self,
        rank: Rank,
        offset: u64,
        value: u8,
        bytes: u64,
    ) -> Result<(), DeviceError> {
        let (context, address) = self.place(rank)?;
        context.set(address + offset, value, bytes)?;
        Ok(context.finish()?)
    }

    /// Copies bytes to a heap.
    ///
    /// # Errors
    /// The rank has no heap, or the driver refuses.
    pub fn write(&mut self, rank: Rank, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        let (context, address) = self.place(rank)?;
        Ok(context.write(address + offset, bytes)?)
    }
}
