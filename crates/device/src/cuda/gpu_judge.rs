//! The judge's kernels on a GPU: memory and launches for [`super::judge`], in a process that loads
//! nothing else.

use super::driver::{Address, Context, Function, ModuleHandle, Stream};
use super::judge::{Entry, JudgeDevice, THREADS};
use super::memory::Heaps;
use crate::DeviceError;

/// Blocks of the judge's kernels that a multiprocessor holds at once.
const BLOCKS_PER_MULTIPROCESSOR: u32 = 8;

/// A GPU with the judge's kernels loaded.
#[derive(Debug)]
pub struct GpuJudge {
    context: Context,
    module: ModuleHandle,
    /// In the order of [`Entry::ALL`].
    functions: Vec<Function>,
}

impl GpuJudge {
    /// Loads the compiled judge on one of the GPUs that hold heaps; it reaches the others' memory
    /// from there.
    ///
    /// # Errors
    /// The driver's, or a GPU that cannot reach another.
    pub fn load(heaps: &mut Heaps, gpus: &[u32], object: &[u8]) -> Result<GpuJudge, DeviceError> {
        let own = gpus.first().copied().unwrap_or(0);
        let context = heaps.context(own)?;
        for other in gpus.iter().filter(|gpu| **gpu != own) {
            let other = heaps.context(*other)?;
            context.reach(other)?;
        }
        let module = context.load(object)?;
        let functions = Entry::ALL.map(|entry| context.function(module, entry.name()));
        let functions = functions.into_iter().collect::<Result<_, _>>()?;
        Ok(GpuJudge { context, module, functions })
    }

    /// Copies a multiple of 16 bytes from one place to another: the yardstick of the judge.
    ///
    /// # Errors
    /// The driver's.
    pub fn copy(&mut self, to: u64, from: u64, bytes: u64) -> Result<(), DeviceError> {
        let blocks = self.blocks();
        self.launch(Entry::Copy, blocks, &[to, from, bytes / 16])
    }

    /// Waits until everything that was launched has ended.
    ///
    /// # Errors
    /// The driver's.
    pub fn finish(&self) -> Result<(), DeviceError> {
        Ok(self.context.finish()?)
    }
}

impl JudgeDevice for GpuJudge {
    fn blocks(&self) -> u32 {
        self.context.multiprocessors * BLOCKS_PER_MULTIPROCESSOR
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
        // SAFETY: the judge's own kernels, whose every parameter has eight bytes; `judge` passes as
        // many as each has.
        let launched = unsafe {
            self.context.launch(function, [blocks, THREADS, 0], Stream::DEFAULT, &mut parameters)
        };
        Ok(launched?)
    }
}

impl Drop for GpuJudge {
    fn drop(&mut self) {
        let _ = self.context.unload(self.module);
    }
}
