//! One GPU of NVIDIA's driver in this process: memory, IPC, modules, streams, launches.

use std::cell::OnceCell;
use std::ffi::{CString, c_void};

use super::driver::{
    DYNAMIC_SHARED, Driver, Functions, Handle, IpcHandle, LAZY_PEER_ACCESS, NON_BLOCKING,
};
use super::gate::Gate;
use crate::DriverError;
use crate::gpu::driver::{
    Address, Function, GpuCode, GpuContext, GpuMemory, Limits, Module, Shape, Stream,
};

/// A GPU in this process. Every method makes it current first.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) driver: &'static Driver,
    pub(super) handle: Handle,
    pub(super) limits: Limits,
    /// Where queues wait for the host; made when the first one does.
    pub(super) gate: OnceCell<Gate>,
}

impl Context {
    pub(super) fn functions(&self) -> Result<&'static Functions, DriverError> {
        let functions = self.driver.functions();
        // SAFETY: the context is retained for as long as the process lives.
        let got = unsafe { (functions.set_current)(self.handle) };
        self.driver.check("cuCtxSetCurrent", got)?;
        Ok(functions)
    }

    pub(super) fn check(&self, call: &'static str, code: i32) -> Result<(), DriverError> {
        self.driver.check(call, code)
    }
}

impl GpuContext for Context {
    fn limits(&self) -> Limits {
        self.limits
    }

    fn raw(&self) -> u64 {
        self.handle as u64
    }
}

impl GpuMemory for Context {
    fn allocate(&self, bytes: u64) -> Result<Address, DriverError> {
        let mut address = 0;
        // SAFETY: a place for one address.
        let got = unsafe { (self.functions()?.allocate)(&mut address, bytes as usize) };
        self.check("cuMemAlloc", got)?;
        Ok(address)
    }

    fn free(&self, address: Address) -> Result<(), DriverError> {
        // SAFETY: the driver checks that it is the start of an allocation.
        let got = unsafe { (self.functions()?.free)(address) };
        self.check("cuMemFree", got)
    }

    fn write(&self, to: Address, bytes: &[u8]) -> Result<(), DriverError> {
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: the driver reads `bytes.len()` bytes; addresses outside of allocations are errors.
        let got = unsafe { (self.functions()?.to_device)(to, bytes.as_ptr().cast(), bytes.len()) };
        self.check("cuMemcpyHtoD", got)
    }

    fn read(&self, from: Address, bytes: &mut [u8]) -> Result<(), DriverError> {
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: the driver writes `bytes.len()` bytes; addresses outside of allocations are errors.
        let got =
            unsafe { (self.functions()?.to_host)(bytes.as_mut_ptr().cast(), from, bytes.len()) };
        self.check("cuMemcpyDtoH", got)
    }

    fn set(&self, at: Address, value: u8, bytes: u64) -> Result<(), DriverError> {
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: addresses outside of allocations are errors.
        let got = unsafe { (self.functions()?.set_bytes)(at, value, bytes as usize) };
        self.check("cuMemsetD8", got)
    }

    fn export(&self, address: Address) -> Result<Vec<u8>, DriverError> {
        let mut handle = IpcHandle([0; 64]);
        // SAFETY: a place for one handle.
        let got = unsafe { (self.functions()?.ipc_handle)(&mut handle, address) };
        self.check("cuIpcGetMemHandle", got)?;
        Ok(handle.0.to_vec())
    }

    fn open(&self, handle: &[u8]) -> Result<Address, DriverError> {
        const CALL: &str = "cuIpcOpenMemHandle";
        let handle = handle.try_into().map(IpcHandle).map_err(|_| DriverError {
            call: CALL,
            name: "not called".into(),
            text: format!("a handle has 64 bytes, not {}", handle.len()),
            fault: None,
        })?;
        let mut address = 0;
        // SAFETY: a place for one address; the driver checks the handle.
        let got = unsafe { (self.functions()?.ipc_open)(&mut address, handle, LAZY_PEER_ACCESS) };
        self.check(CALL, got)?;
        Ok(address)
    }

    fn close(&self, address: Address) -> Result<(), DriverError> {
        // SAFETY: the driver checks that `open` returned it.
        let got = unsafe { (self.functions()?.ipc_close)(address) };
        self.check("cuIpcCloseMemHandle", got)
    }

    fn reach(&self, other: &dyn GpuContext) -> Result<(), DriverError> {
        const ALREADY: i32 = 704;
        // SAFETY: the other context is one of this driver's, made by `GpuDriver::context` and retained
        // for as long as the process lives.
        let got = unsafe { (self.functions()?.enable_peer)(other.raw() as Handle, 0) };
        if got == ALREADY {
            return Ok(());
        }
        self.check("cuCtxEnablePeerAccess", got)
    }
}

impl GpuCode for Context {
    fn load(&self, image: &[u8]) -> Result<Module, DriverError> {
        // PTX must end with zero; machine code does not mind.
        let image = [image, &[0]].concat();
        let mut module = std::ptr::null_mut();
        // SAFETY: machine code carries its own length, PTX ends with zero.
        let got = unsafe { (self.functions()?.module_load)(&mut module, image.as_ptr().cast()) };
        self.check("cuModuleLoadData", got)?;
        Ok(Module(module as u64))
    }

    fn unload(&self, module: Module) -> Result<(), DriverError> {
        // SAFETY: loaded by `load` and unloaded once, by its owner's drop.
        let got = unsafe { (self.functions()?.module_unload)(module.0 as Handle) };
        self.check("cuModuleUnload", got)
    }

    fn function(&self, module: Module, name: &str) -> Result<Function, DriverError> {
        let name = CString::new(name).unwrap_or_default();
        let mut function = std::ptr::null_mut();
        // SAFETY: the module is loaded; the name ends with zero.
        let got = unsafe {
            (self.functions()?.module_function)(&mut function, module.0 as Handle, name.as_ptr())
        };
        self.check("cuModuleGetFunction", got)?;
        Ok(Function(function as u64))
    }

    fn global(&self, module: Module, symbol: &str) -> Result<(Address, u64), DriverError> {
        let name = CString::new(symbol).unwrap_or_default();
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the module is loaded; the name ends with zero.
        let got = unsafe {
            (self.functions()?.module_global)(
                &mut address,
                &mut bytes,
                module.0 as Handle,
                name.as_ptr(),
            )
        };
        self.check("cuModuleGetGlobal", got)?;
        Ok((address, bytes as u64))
    }

    fn allow_shared(&self, function: Function, bytes: u32) -> Result<(), DriverError> {
        // SAFETY: the function's module is loaded.
        let got = unsafe {
            (self.functions()?.function_attribute)(
                function.0 as Handle,
                DYNAMIC_SHARED,
                bytes as i32,
            )
        };
        self.check("cuFuncSetAttribute", got)
    }

    fn resident_blocks(
        &self,
        function: Function,
        threads: u32,
        shared_bytes: u32,
    ) -> Result<u64, DriverError> {
        let mut blocks = 0;
        // SAFETY: the function's module is loaded.
        let got = unsafe {
            let ask = self.functions()?.occupancy;
            ask(&mut blocks, function.0 as Handle, threads as i32, shared_bytes as usize)
        };
        self.check("cuOccupancyMaxActiveBlocksPerMultiprocessor", got)?;
        Ok(blocks.max(0) as u64 * u64::from(self.limits.multiprocessors))
    }

    fn stream(&self) -> Result<Stream, DriverError> {
        let mut stream = std::ptr::null_mut();
        // SAFETY: a place for one handle.
        let got = unsafe { (self.functions()?.stream_create)(&mut stream, NON_BLOCKING) };
        self.check("cuStreamCreate", got)?;
        Ok(Stream(stream as u64))
    }

    fn forget_stream(&self, stream: Stream) -> Result<(), DriverError> {
        // SAFETY: created by `stream` and forgotten once.
        let got = unsafe { (self.functions()?.stream_destroy)(stream.0 as Handle) };
        self.check("cuStreamDestroy", got)
    }

    ///
    /// # Safety
    unsafe fn launch(
        &self,
        function: Function,
        Shape { grid, threads, shared_bytes }: Shape,
        stream: Stream,
        parameters: &mut [Vec<u8>],
    ) -> Result<(), DriverError> {
        let places: Vec<*mut c_void> =
            parameters.iter_mut().map(|bytes| bytes.as_mut_ptr().cast()).collect();
        let launch = self.functions()?.launch;
        // SAFETY: the function's module is loaded; the driver copies the parameters before it
        // returns; the caller vouches for their sizes.
        let got = unsafe {
            launch(
                function.0 as Handle,
                grid,
                1,
                1,
                threads,
                1,
                1,
                shared_bytes,
                stream.0 as Handle,
                places.as_ptr(),
                std::ptr::null(),
            )
        };
        self.check("cuLaunchKernel", got)
    }

    fn finish(&self) -> Result<(), DriverError> {
        // SAFETY: no arguments.
        let got = unsafe { (self.functions()?.synchronize)() };
        self.check("cuCtxSynchronize", got)
    }
}
