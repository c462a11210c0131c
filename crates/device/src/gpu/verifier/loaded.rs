//! The verifier's kernels on a GPU, in a process that loads nothing else.

use std::rc::Rc;

use super::{Entry, THREADS, VerifierDevice};
use crate::DeviceError;
use crate::gpu::Heaps;
use crate::gpu::driver::{Address, Function, GpuContext, Module, Shape, Stream};

/// Blocks of the verifier's kernels that a multiprocessor holds at once.
const BLOCKS_PER_MULTIPROCESSOR: u32 = 8;

/// A GPU with the verifier's kernels loaded.
#[derive(Debug)]
pub struct GpuVerifier {
    context: Rc<dyn GpuContext>,
    module: Module,
    /// In the order of [`Entry::ALL`].
    functions: Vec<Function>,
}

impl GpuVerifier {
    /// Loads the compiled verifier on one of the GPUs that hold heaps; it reaches the others' memory
    /// from there.
    ///
    /// # Errors
    /// The driver refuses, or a GPU cannot reach another.
    pub fn load(
        heaps: &mut Heaps,
        gpus: &[u32],
        object: &[u8],
    ) -> Result<GpuVerifier, DeviceError> {
        let own = gpus.first().copied().unwrap_or(0);
        let context = heaps.context(own)?;
        for other in gpus.iter().filter(|gpu| **gpu != own) {
            let other = heaps.context(*other)?;
            context.reach(&*other)?;
        }
        let module = context.load(object)?;
        let functions = Entry::ALL.map(|entry| context.function(module, entry.name()));
        let functions = functions.into_iter().collect::<Result<_, _>>()?;
        Ok(GpuVerifier { context, module, functions })
    }

    /// Copies a multiple of 16 bytes from one place to another: the yardstick of the verifier.
    ///
    /// # Errors
    /// The driver refuses.
    pub fn copy(&mut self, to: u64, from: u64, bytes: u64) -> Result<(), DeviceError> {
        let blocks = self.blocks();
        self.launch(Entry::Copy, blocks, &[to, from, bytes / 16])
    }

    /// Waits until everything that was launched has ended.
    ///
    /// # Errors
    /// The driver refuses.
    pub fn finish(&self) -> Result<(), DeviceError> {
        Ok(self.context.finish()?)
    }
}

impl VerifierDevice for GpuVerifier {
    fn blocks(&self) -> u32 {
        self.context.limits().multiprocessors * BLOCKS_PER_MULTIPROCESSOR
    }

    fn allocate(&mut self, bytes: u64) -> Result<Address, DeviceError> {
        Ok(self.context.allocate(bytes.max(1))?)
    }

    fn release(&mut self, address: Address) {
        // What cannot be given back is gone with the process.
        let _ = self.context.free(address);
    }

    fn upload(&mut self, address: Address, bytes: &[u8]) -> Result<(), DeviceError> {
        Ok(self.context.write(address, bytes)?)
    }

    fn clear(&mut self, address: Address, bytes: u64) -> Result<(), DeviceError> {
        Ok(self.context.set(address, 0, bytes)?)
    }

    fn download(&mut self, address: Address, bytes: &mut [u8]) -> Result<(), DeviceError> {
        Ok(self.context.read(address, bytes)?)
    }

    fn launch(&mut self, entry: Entry, blocks: u32, arguments: &[u64]) -> Result<(), DeviceError> {
        let function = self.functions[entry as usize];
        let mut parameters: Vec<Vec<u8>> =
            arguments.iter().map(|argument| argument.to_le_bytes().to_vec()).collect();
        let shape = Shape { grid: blocks, threads: THREADS, shared_bytes: 0 };
        // SAFETY: the functions are those of `verifier.cu`, whose every parameter has eight bytes;
        // `CallVerifier` and `copy` pass as many as each has.
        let launched =
            unsafe { self.context.launch(function, shape, Stream::DEFAULT, &mut parameters) };
        Ok(launched?)
    }
}

impl Drop for GpuVerifier {
    fn drop(&mut self) {
        let _ = self.context.unload(self.module);
    }
}
