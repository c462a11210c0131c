//! Heaps on GPUs, as the process that judges owns them: allocated here, opened by ranks through
//! IPC, so that they outlive a rank whose kernel faults.

use collectives::Rank;

use super::driver::{Address, Context, Driver};
use ipc::HeapHandle;

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
    driver: &'static Driver,
    contexts: Vec<Context>,
    heaps: Vec<Heap>,
}

impl Heaps {
    /// None yet.
    ///
    /// # Errors
    /// There is no driver.
    pub fn new() -> Result<Heaps, DeviceError> {
        Ok(Heaps { driver: Driver::get()?, contexts: Vec::new(), heaps: Vec::new() })
    }

    /// A GPU in this process; the first use takes some tenths of a second.
    pub(crate) fn context(&mut self, gpu: u32) -> Result<Context, DeviceError> {
        if let Some(known) = self.contexts.iter().find(|context| context.number == gpu) {
            return Ok(*known);
        }
        let context = self.driver.context(gpu)?;
        self.contexts.push(context);
        Ok(context)
    }

    /// Sees that rank r has at least `bytes` on GPU `gpus[r]`, and says how to open them all.
    /// Where anything changes, no other process may have a heap open.
    ///
    /// # Errors
    /// No memory, or no such GPU.
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
            let handle =
                HeapHandle::CudaIpc { handle: context.export(address)?.bytes(), offset: 0 };
            let heap = Heap { gpu: *gpu, address, bytes, handle };
            match self.heaps.get_mut(rank) {
                Some(place) => *place = heap,
                None => self.heaps.push(heap),
            }
        }
        Ok(self.heaps[..gpus.len()].iter().map(|heap| heap.handle.clone()).collect())
    }

    /// Where the first `ranks` heaps begin, in this process.
    ///
    /// # Errors
    /// A rank that has none.
    pub fn addresses(&mut self, ranks: u32) -> Result<Vec<u64>, DeviceError> {
        (0..ranks).map(|rank| Ok(self.place(Rank(rank))?.1)).collect()
    }

    /// By rank, the GPU that holds its heap.
    pub fn gpus(&self) -> Vec<u32> {
        self.heaps.iter().map(|heap| heap.gpu).collect()
    }

    /// A heap's GPU and its first byte there.
    fn place(&mut self, rank: Rank) -> Result<(Context, Address), DeviceError> {
        let heap = self.heaps.get(rank.index()).ok_or(DeviceError::NoRank(rank, "heap"))?;
        let (gpu, address) = (heap.gpu, heap.address);
        Ok((self.context(gpu)?, address))
    }

    /// Copies a part of a heap to the host.
    ///
    /// # Errors
    /// The driver's.
    pub fn read(&mut self, rank: Rank, offset: u64, bytes: &mut [u8]) -> Result<(), DeviceError> {
        let (context, address) = self.place(rank)?;
        Ok(context.read(address + offset, bytes)?)
    }

    /// Sets every byte of a part of a heap's memory; returns when that is done.
    ///
    /// # Errors
    /// The driver's.
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
    /// The driver's.
    pub fn write(&mut self, rank: Rank, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        let (context, address) = self.place(rank)?;
        Ok(context.write(address + offset, bytes)?)
    }
}
