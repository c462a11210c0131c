//! NVIDIA's driver library: what this project calls of it, and nothing more. Thin and safe to call
//! wrongly only where it says so; every failure carries the driver's own name for it.

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::PathBuf;
use std::sync::OnceLock;

use super::library::{self, MissingLibrary, functions};

/// A device address.
pub(crate) type Address = u64;
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
pub(crate) struct IpcHandle([u8; 64]);

impl IpcHandle {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.to_vec()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<IpcHandle> {
        bytes.try_into().ok().map(IpcHandle)
    }
}

/// What the driver said no with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{call}: {name} ({text})")]
pub struct CudaError {
    /// The function.
    pub call: &'static str,
    /// The driver's number.
    pub code: i32,
    /// Its name.
    pub name: String,
    /// What it means.
    pub text: String,
}

/// Errors of a kernel rather than of a call; the context is lost with them.
pub(crate) mod code {
    pub(crate) const ILLEGAL_ADDRESS: i32 = 700;
    pub(crate) const ASSERT: i32 = 710;
    pub(crate) const HARDWARE_STACK_ERROR: i32 = 714;
    pub(crate) const ILLEGAL_INSTRUCTION: i32 = 715;
    pub(crate) const MISALIGNED_ADDRESS: i32 = 716;
    pub(crate) const INVALID_ADDRESS_SPACE: i32 = 717;
    pub(crate) const INVALID_PC: i32 = 718;
    pub(crate) const LAUNCH_FAILED: i32 = 719;
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

/// The loaded driver library.
#[derive(Debug)]
pub(crate) struct Driver {
    functions: Functions,
    /// Where it was found.
    pub(crate) path: PathBuf,
    /// Its version, 13000 for 13.0.
    pub(crate) version: i32,
}

/// A GPU of this machine.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Gpu {
    /// Its number, as `--gpus` names it.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// Bytes of its memory.
    pub memory_bytes: u64,
    /// Compute capability, 90 for 9.0.
    pub capability: u32,
    /// Multiprocessors.
    pub multiprocessors: u32,
}

impl Driver {
    /// The driver of this machine, loaded and initialised once a process.
    ///
    /// # Errors
    /// There is none, or it finds no GPU.
    pub(crate) fn get() -> Result<&'static Driver, MissingLibrary> {
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

    fn check(&self, call: &'static str, code: i32) -> Result<(), CudaError> {
        if code == 0 {
            return Ok(());
        }
        let text = |function: unsafe extern "C" fn(i32, *mut *const c_char) -> i32| {
            let mut text = std::ptr::null();
            // SAFETY: the driver returns a string of its own that is never freed, or null.
            let known = unsafe { function(code, &mut text) } == 0 && !text.is_null();
            // SAFETY: as above.
            known.then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
        };
        let name = text(self.functions.error_name).unwrap_or_else(|| format!("error {code}"));
        let text = text(self.functions.error_text).unwrap_or_else(|| "unknown".into());
        Err(CudaError { call, code, name, text })
    }

    /// The GPUs of this machine.
    ///
    /// # Errors
    /// The driver's.
    pub(crate) fn gpus(&self) -> Result<Vec<Gpu>, CudaError> {
        let mut count = 0;
        // SAFETY: a place for one number.
        self.check("cuDeviceGetCount", unsafe { (self.functions.device_count)(&mut count) })?;
        (0..count as u32).map(|number| self.gpu(number)).collect()
    }

    fn gpu(&self, number: u32) -> Result<Gpu, CudaError> {
        let device = self.device(number)?;
        let mut name = [0 as c_char; 128];
        // SAFETY: the driver writes at most 128 bytes and ends them with zero.
        let got = unsafe { (self.functions.device_name)(name.as_mut_ptr(), 128, device) };
        self.check("cuDeviceGetName", got)?;
        // SAFETY: as above.
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
            capability: attribute(CAPABILITY_MAJOR)? * 10 + attribute(CAPABILITY_MINOR)?,
            multiprocessors: attribute(MULTIPROCESSORS)?,
        })
    }

    fn device(&self, number: u32) -> Result<i32, CudaError> {
        let mut device = 0;
        // SAFETY: a place for one number.
        let got = unsafe { (self.functions.device_get)(&mut device, number as i32) };
        self.check("cuDeviceGet", got)?;
        Ok(device)
    }

    fn attribute(&self, device: i32, which: i32) -> Result<u32, CudaError> {
        let mut value = 0;
        // SAFETY: a place for one number.
        let got = unsafe { (self.functions.device_attribute)(&mut value, which, device) };
        self.check("cuDeviceGetAttribute", got)?;
        Ok(value.max(0) as u32)
    }

    /// The GPU's context in this process, which lives as long as the process.
    ///
    /// # Errors
    /// The driver's.
    pub(crate) fn context(&'static self, number: u32) -> Result<Context, CudaError> {
        let device = self.device(number)?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: a place for one handle.
        let got = unsafe { (self.functions.retain_context)(&mut handle, device) };
        self.check("cuDevicePrimaryCtxRetain", got)?;
        let shared_bytes = self.attribute(device, SHARED_BYTES_OPTIN)?;
        let multiprocessors = self.attribute(device, MULTIPROCESSORS)?;
        Ok(Context { driver: self, handle, number, multiprocessors, shared_bytes })
    }
}

/// A GPU in this process. Every method makes it current first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context {
    driver: &'static Driver,
    handle: Handle,
    /// Which GPU.
    pub(crate) number: u32,
    pub(crate) multiprocessors: u32,
    /// Block-shared memory that a kernel may ask for.
    pub(crate) shared_bytes: u32,
}

/// A loaded module.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModuleHandle(Handle);
/// A kernel of a loaded module.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Function(Handle);
/// A queue of launches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream(Handle);

impl Stream {
    /// The context's own.
    pub(crate) const DEFAULT: Stream = Stream(std::ptr::null_mut());
}

impl Context {
    fn functions(&self) -> Result<&'static Functions, CudaError> {
        let functions = &self.driver.functions;
        // SAFETY: the context is retained for as long as the process lives.
        let got = unsafe { (functions.set_current)(self.handle) };
        self.driver.check("cuCtxSetCurrent", got)?;
        Ok(functions)
    }

    fn check(&self, call: &'static str, code: i32) -> Result<(), CudaError> {
        self.driver.check(call, code)
    }

    /// Device memory of its own, never managed.
    pub(crate) fn allocate(&self, bytes: u64) -> Result<Address, CudaError> {
        let mut address = 0;
        // SAFETY: a place for one address.
        let got = unsafe { (self.functions()?.allocate)(&mut address, bytes as usize) };
        self.check("cuMemAlloc", got)?;
        Ok(address)
    }

    /// Gives memory back. Nothing may use it any more, in any process.
    pub(crate) fn free(&self, address: Address) -> Result<(), CudaError> {
        // SAFETY: the driver checks that it is the start of an allocation.
        let got = unsafe { (self.functions()?.free)(address) };
        self.check("cuMemFree", got)
    }

    /// Copies to the device; returns when it is there.
    pub(crate) fn write(&self, to: Address, bytes: &[u8]) -> Result<(), CudaError> {
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: the driver reads `bytes.len()` bytes; addresses outside of allocations are errors.
        let got = unsafe { (self.functions()?.to_device)(to, bytes.as_ptr().cast(), bytes.len()) };
        self.check("cuMemcpyHtoD", got)
    }

    /// Copies from the device; returns when it is here.
    pub(crate) fn read(&self, from: Address, bytes: &mut [u8]) -> Result<(), CudaError> {
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: the driver writes `bytes.len()` bytes; addresses outside of allocations are errors.
        let got =
            unsafe { (self.functions()?.to_host)(bytes.as_mut_ptr().cast(), from, bytes.len()) };
        self.check("cuMemcpyDtoH", got)
    }

    /// Sets every byte of a piece of device memory.
    pub(crate) fn set(&self, at: Address, value: u8, bytes: u64) -> Result<(), CudaError> {
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: addresses outside of allocations are errors.
        let got = unsafe { (self.functions()?.set_bytes)(at, value, bytes as usize) };
        self.check("cuMemsetD8", got)
    }

    /// How other processes open the allocation that begins at `address`.
    pub(crate) fn export(&self, address: Address) -> Result<IpcHandle, CudaError> {
        let mut handle = IpcHandle([0; 64]);
        // SAFETY: a place for one handle.
        let got = unsafe { (self.functions()?.ipc_handle)(&mut handle, address) };
        self.check("cuIpcGetMemHandle", got)?;
        Ok(handle)
    }

    /// Maps an allocation of another process, also one of another GPU.
    pub(crate) fn open(&self, handle: IpcHandle) -> Result<Address, CudaError> {
        let mut address = 0;
        // SAFETY: a place for one address; the driver checks the handle.
        let got = unsafe { (self.functions()?.ipc_open)(&mut address, handle, LAZY_PEER_ACCESS) };
        self.check("cuIpcOpenMemHandle", got)?;
        Ok(address)
    }

    /// Ends a mapping.
    pub(crate) fn close(&self, address: Address) -> Result<(), CudaError> {
        // SAFETY: the driver checks that `open` returned it.
        let got = unsafe { (self.functions()?.ipc_close)(address) };
        self.check("cuIpcCloseMemHandle", got)
    }

    /// Loads compiled code.
    pub(crate) fn load(&self, image: &[u8]) -> Result<ModuleHandle, CudaError> {
        // PTX must end with zero; machine code does not mind.
        let image = [image, &[0]].concat();
        let mut module = std::ptr::null_mut();
        // SAFETY: machine code carries its own length, PTX ends with zero.
        let got = unsafe { (self.functions()?.module_load)(&mut module, image.as_ptr().cast()) };
        self.check("cuModuleLoadData", got)?;
        Ok(ModuleHandle(module))
    }

    /// Forgets a module; nothing of it may run.
    pub(crate) fn unload(&self, module: ModuleHandle) -> Result<(), CudaError> {
        // SAFETY: loaded by `load` and unloaded once, by its owner's drop.
        let got = unsafe { (self.functions()?.module_unload)(module.0) };
        self.check("cuModuleUnload", got)
    }

    /// A kernel by its symbol.
    pub(crate) fn function(&self, module: ModuleHandle, name: &str) -> Result<Function, CudaError> {
        let name = CString::new(name).unwrap_or_default();
        let mut function = std::ptr::null_mut();
        // SAFETY: the module is loaded; the name ends with zero.
        let got =
            unsafe { (self.functions()?.module_function)(&mut function, module.0, name.as_ptr()) };
        self.check("cuModuleGetFunction", got)?;
        Ok(Function(function))
    }

    /// A device variable by its symbol: where and how large.
    pub(crate) fn global(
        &self,
        module: ModuleHandle,
        name: &CStr,
    ) -> Result<(Address, u64), CudaError> {
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the module is loaded; the name ends with zero.
        let got = unsafe {
            (self.functions()?.module_global)(&mut address, &mut bytes, module.0, name.as_ptr())
        };
        self.check("cuModuleGetGlobal", got)?;
        Ok((address, bytes as u64))
    }

    /// Allows a kernel so much dynamic block-shared memory.
    pub(crate) fn allow_shared(&self, function: Function, bytes: u32) -> Result<(), CudaError> {
        // SAFETY: the function's module is loaded.
        let got = unsafe {
            (self.functions()?.function_attribute)(function.0, DYNAMIC_SHARED, bytes as i32)
        };
        self.check("cuFuncSetAttribute", got)
    }

    /// How many blocks of a kernel are resident on the whole GPU at once.
    pub(crate) fn resident_blocks(
        &self,
        function: Function,
        threads: u32,
        shared_bytes: u32,
    ) -> Result<u64, CudaError> {
        let mut blocks = 0;
        // SAFETY: the function's module is loaded.
        let got = unsafe {
            let ask = self.functions()?.occupancy;
            ask(&mut blocks, function.0, threads as i32, shared_bytes as usize)
        };
        self.check("cuOccupancyMaxActiveBlocksPerMultiprocessor", got)?;
        Ok(blocks.max(0) as u64 * u64::from(self.multiprocessors))
    }

    /// A queue of its own.
    pub(crate) fn stream(&self) -> Result<Stream, CudaError> {
        let mut stream = std::ptr::null_mut();
        // SAFETY: a place for one handle.
        let got = unsafe { (self.functions()?.stream_create)(&mut stream, NON_BLOCKING) };
        self.check("cuStreamCreate", got)?;
        Ok(Stream(stream))
    }

    /// Forgets a queue; what is in it still runs.
    pub(crate) fn forget_stream(&self, stream: Stream) -> Result<(), CudaError> {
        // SAFETY: created by `stream` and forgotten once.
        let got = unsafe { (self.functions()?.stream_destroy)(stream.0) };
        self.check("cuStreamDestroy", got)
    }

    /// Starts a kernel and does not wait for it.
    ///
    /// # Safety
    /// `parameters` must be as many and as large as the kernel's own. What the kernel does with
    /// device addresses stays on the device: a wrong one is an error of the context, seen at the
    /// next [`Context::finish`].
    pub(crate) unsafe fn launch(
        &self,
        function: Function,
        [grid, threads, shared_bytes]: [u32; 3],
        stream: Stream,
        parameters: &mut [Vec<u8>],
    ) -> Result<(), CudaError> {
        let places: Vec<*mut c_void> =
            parameters.iter_mut().map(|bytes| bytes.as_mut_ptr().cast()).collect();
        let launch = self.functions()?.launch;
        // SAFETY: the function's module is loaded; the driver copies the parameters before it
        // returns; the caller vouches for their sizes.
        let got = unsafe {
            launch(
                function.0,
                grid,
                1,
                1,
                threads,
                1,
                1,
                shared_bytes,
                stream.0,
                places.as_ptr(),
                std::ptr::null(),
            )
        };
        self.check("cuLaunchKernel", got)
    }

    /// Lets this GPU read and write another's memory.
    pub(crate) fn reach(&self, other: Context) -> Result<(), CudaError> {
        const ALREADY: i32 = 704;
        // SAFETY: the other context is retained for as long as the process lives.
        let got = unsafe { (self.functions()?.enable_peer)(other.handle, 0) };
        if got == ALREADY {
            return Ok(());
        }
        self.check("cuCtxEnablePeerAccess", got)
    }

    /// Waits until everything that was started on this GPU by this process has ended.
    pub(crate) fn finish(&self) -> Result<(), CudaError> {
        // SAFETY: no arguments.
        let got = unsafe { (self.functions()?.synchronize)() };
        self.check("cuCtxSynchronize", got)
    }
}

// SAFETY: contexts, modules, functions and streams are handles that any thread may use; calls
// make the context current in their thread first.
unsafe impl Send for Context {}
