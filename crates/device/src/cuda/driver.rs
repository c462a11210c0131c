//! NVIDIA's driver library as a [`GpuDriver`]: what this project calls of it, and nothing more. Every
//! failure carries the driver's own name for it.

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::OnceLock;

use kernels::DeviceName;

use crate::gpu::driver::{
    Address, DriverVersion, Function, Gpu, GpuCode, GpuContext, GpuDriver, GpuMemory, Limits,
    Module, Shape, Stream,
};
use crate::library::{self, functions};
use crate::{DriverError, Fault, MissingLibrary};

type Handle = *mut c_void;

functions! {
    /// The driver's functions, by its own names.
    Functions {
        init = "cuInit"(u32);
        driver_version = "cuDriverGetVersion"(*mut i32);
        device_count = "cuDeviceGetCount"(*mut i32);
        device_get = "cuDeviceGet"(*mut i32, i32);
        device_name = "cuDeviceGetName"(*mut c_char, i32, i32);
        device_memory = "cuDeviceTotalMem_v2"(*mut usize, i32);
        device_attribute = "cuDeviceGetAttribute"(*mut i32, i32, i32);
        enable_peer = "cuCtxEnablePeerAccess"(Handle, u32);
        retain_context = "cuDevicePrimaryCtxRetain"(*mut Handle, i32);
        set_current = "cuCtxSetCurrent"(Handle);
        synchronize = "cuCtxSynchronize"();
        allocate = "cuMemAlloc_v2"(*mut Address, usize);
        free = "cuMemFree_v2"(Address);
        to_device = "cuMemcpyHtoD_v2"(Address, *const c_void, usize);
        to_host = "cuMemcpyDtoH_v2"(*mut c_void, Address, usize);
        set_bytes = "cuMemsetD8_v2"(Address, u8, usize);
        ipc_handle = "cuIpcGetMemHandle"(*mut IpcHandle, Address);
        ipc_open = "cuIpcOpenMemHandle_v2"(*mut Address, IpcHandle, u32);
        ipc_close = "cuIpcCloseMemHandle"(Address);
        module_load = "cuModuleLoadData"(*mut Handle, *const c_void);
        module_unload = "cuModuleUnload"(Handle);
        module_function = "cuModuleGetFunction"(*mut Handle, Handle, *const c_char);
        module_global = "cuModuleGetGlobal_v2"(*mut Address, *mut usize, Handle, *const c_char);
        function_attribute = "cuFuncSetAttribute"(Handle, i32, i32);
        occupancy = "cuOccupancyMaxActiveBlocksPerMultiprocessor"(*mut i32, Handle, i32, usize);
        launch = "cuLaunchKernel"(
            Handle, u32, u32, u32, u32, u32, u32, u32, Handle, *const *mut c_void, *const *mut c_void,
        );
        stream_create = "cuStreamCreate"(*mut Handle, u32);
        stream_destroy = "cuStreamDestroy_v2"(Handle);
        error_name = "cuGetErrorName"(i32, *mut *const c_char);
        error_text = "cuGetErrorString"(i32, *mut *const c_char);
    }
}

/// How another process opens an allocation; made and read by the driver alone.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct IpcHandle([u8; 64]);

/// `CUresult`: errors of a kernel rather than of a call; the context is lost with them.
mod code {
    pub(super) const ILLEGAL_ADDRESS: i32 = 700;
    pub(super) const ASSERT: i32 = 710;
    pub(super) const HARDWARE_STACK_ERROR: i32 = 714;
    pub(super) const ILLEGAL_INSTRUCTION: i32 = 715;
    pub(super) const MISALIGNED_ADDRESS: i32 = 716;
    pub(super) const INVALID_ADDRESS_SPACE: i32 = 717;
    pub(super) const INVALID_PC: i32 = 718;
    pub(super) const LAUNCH_FAILED: i32 = 719;
}

/// `CU_DEVICE_ATTRIBUTE_*`.
const MULTIPROCESSORS: i32 = 16;
const SHARED_BYTES_OPTIN: i32 = 97;
const CAPABILITY_MAJOR: i32 = 75;
const CAPABILITY_MINOR: i32 = 76;
/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
const DYNAMIC_SHARED: i32 = 8;
/// `CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`.
const LAZY_PEER_ACCESS: u32 = 1;
/// `CU_STREAM_NON_BLOCKING`.
const NON_BLOCKING: u32 = 1;

/// What a kernel did, where an error says that a kernel did something.
fn fault(number: i32) -> Option<Fault> {
    match number {
        code::ILLEGAL_ADDRESS => Some(Fault::IllegalAddress),
        code::MISALIGNED_ADDRESS => Some(Fault::MisalignedAddress),
        code::ASSERT
        | code::HARDWARE_STACK_ERROR
        | code::ILLEGAL_INSTRUCTION
        | code::INVALID_ADDRESS_SPACE
        | code::INVALID_PC
        | code::LAUNCH_FAILED => Some(Fault::Other),
        _ => None,
    }
}

/// The loaded driver library.
#[derive(Debug)]
pub(super) struct Driver {
    functions: Functions,
    /// The file that was loaded.
    path: PathBuf,
    /// The driver's version, 13000 for 13.0.
    version: i32,
}

impl Driver {
    /// The driver of this machine, loaded and initialised once a process.
    ///
    /// # Errors
    /// There is none, or it finds no GPU.
    pub(super) fn get() -> Result<&'static Driver, MissingLibrary> {
        static DRIVER: OnceLock<Result<Driver, MissingLibrary>> = OnceLock::new();
        DRIVER.get_or_init(Driver::load).as_ref().map_err(Clone::clone)
    }

    fn load() -> Result<Driver, MissingLibrary> {
        const NAME: &str = "NVIDIA's driver (libcuda.so.1)";
        let missing = |reason: String| MissingLibrary { name: NAME, reason };
        let candidates = ["libcuda.so.1", "libcuda.so"].map(PathBuf::from);
        let (library, path) = library::load(NAME, &candidates)?;
        let functions = Functions::resolve(&library).map_err(&missing)?;
        // Functions are called until the process ends.
        std::mem::forget(library);
        let mut driver = Driver { functions, path, version: 0 };
        let mut version = 0;
        // SAFETY: the first call, with the only value that is allowed.
        let initialised = driver.check("cuInit", unsafe { (functions.init)(0) });
        initialised.map_err(|error| missing(error.to_string()))?;
        // SAFETY: a place for one number.
        let got = unsafe { (functions.driver_version)(&mut version) };
        driver.check("cuDriverGetVersion", got).map_err(|error| missing(error.to_string()))?;
        driver.version = version;
        Ok(driver)
    }

    fn check(&self, call: &'static str, code: i32) -> Result<(), DriverError> {
        if code == 0 {
            return Ok(());
        }
        let text = |function: unsafe extern "C" fn(i32, *mut *const c_char) -> i32| {
            let mut text = std::ptr::null();
            // SAFETY: the driver returns a string of its own that is never freed, or null.
            let known = unsafe { function(code, &mut text) } == 0 && !text.is_null();
            // SAFETY: the driver said that it knows the code and set the pointer to a string of its
            // own, which ends with zero and is never freed.
            known.then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
        };
        let name = text(self.functions.error_name).unwrap_or_else(|| format!("error {code}"));
        let text = text(self.functions.error_text).unwrap_or_else(|| "unknown".into());
        Err(DriverError { call, name, text, fault: fault(code) })
    }

    fn gpu(&self, number: u32) -> Result<Gpu, DriverError> {
        let device = self.ordinal(number)?;
        let mut name = [0 as c_char; 128];
        // SAFETY: the driver writes at most 128 bytes and ends them with zero.
        let got = unsafe { (self.functions.device_name)(name.as_mut_ptr(), 128, device) };
        self.check("cuDeviceGetName", got)?;
        // SAFETY: the driver filled the array, which lives here, and ended the text with zero.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
        let mut memory = 0;
        // SAFETY: a place for one number.
        let got = unsafe { (self.functions.device_memory)(&mut memory, device) };
        self.check("cuDeviceTotalMem", got)?;
        let attribute = |which| self.attribute(device, which);
        Ok(Gpu {
            number,
            name,
            memory_bytes: memory as u64,
            architecture: format!(
                "sm_{}{}",
                attribute(CAPABILITY_MAJOR)?,
                attribute(CAPABILITY_MINOR)?
            ),
            multiprocessors: attribute(MULTIPROCESSORS)?,
        })
    }

    fn ordinal(&self, number: u32) -> Result<i32, DriverError> {
        let mut device = 0;
        // SAFETY: a place for one number.
        let got = unsafe { (self.functions.device_get)(&mut device, number as i32) };
        self.check("cuDeviceGet", got)?;
        Ok(device)
    }

    fn attribute(&self, device: i32, which: i32) -> Result<u32, DriverError> {
        let mut value = 0;
        // SAFETY: a place for one number.
        let got = unsafe { (self.functions.device_attribute)(&mut value, which, device) };
        self.check("cuDeviceGetAttribute", got)?;
        Ok(value.max(0) as u32)
    }
}

impl GpuDriver for &'static Driver {
    fn device(&self) -> DeviceName {
        DeviceName::Cuda
    }

    fn version(&self) -> DriverVersion {
        let version = format!("{}.{}", self.version / 1000, self.version % 1000 / 10);
        DriverVersion { version, path: self.path.display().to_string() }
    }

    fn gpus(&self) -> Result<Vec<Gpu>, DriverError> {
        let mut count = 0;
        // SAFETY: a place for one number.
        self.check("cuDeviceGetCount", unsafe { (self.functions.device_count)(&mut count) })?;
        (0..count.cast_unsigned()).map(|number| self.gpu(number)).collect()
    }

    fn context(&self, number: u32) -> Result<Rc<dyn GpuContext>, DriverError> {
        let device = self.ordinal(number)?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: a place for one handle.
        let got = unsafe { (self.functions.retain_context)(&mut handle, device) };
        self.check("cuDevicePrimaryCtxRetain", got)?;
        let shared_bytes = self.attribute(device, SHARED_BYTES_OPTIN)?;
        let multiprocessors = self.attribute(device, MULTIPROCESSORS)?;
        let limits = Limits { number, multiprocessors, shared_bytes };
        Ok(Rc::new(Context { driver: self, handle, limits }))
    }
}

/// A GPU in this process. Every method makes it current first.
#[derive(Debug)]
struct Context {
    driver: &'static Driver,
    handle: Handle,
    limits: Limits,
}

impl Context {
    fn functions(&self) -> Result<&'static Functions, DriverError> {
        let functions = &self.driver.functions;
        // SAFETY: the context is retained for as long as the process lives.
        let got = unsafe { (functions.set_current)(self.handle) };
        self.driver.check("cuCtxSetCurrent", got)?;
        Ok(functions)
    }

    fn check(&self, call: &'static str, code: i32) -> Result<(), DriverError> {
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
