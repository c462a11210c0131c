//! NVIDIA's driver library as a [`GpuDriver`]: what this project calls of it, and nothing more. Every
//! failure carries the driver's own name for it.

use std::cell::OnceCell;
use std::ffi::{CStr, c_char, c_void};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::OnceLock;

use kernels::DeviceName;

use super::context::Context;
use crate::gpu::driver::{Address, DriverVersion, Gpu, GpuContext, GpuDriver, Limits};
use crate::library::{self, functions};
use crate::{DriverError, Fault, MissingLibrary};

pub(super) type Handle = *mut c_void;

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
        read_attribute = "cuFuncGetAttribute"(*mut i32, i32, Handle);
        host_allocate = "cuMemHostAlloc"(*mut *mut c_void, usize, u32);
        host_address = "cuMemHostGetDevicePointer_v2"(*mut Address, *mut c_void, u32);
        wait_value = "cuStreamWaitValue32_v2"(Handle, Address, u32, u32);
        copy_behind = "cuMemcpyDtoDAsync_v2"(Address, Address, usize, Handle);
        event_create = "cuEventCreate"(*mut Handle, u32);
        event_record = "cuEventRecord"(Handle, Handle);
        event_elapsed = "cuEventElapsedTime"(*mut f32, Handle, Handle);
        event_destroy = "cuEventDestroy_v2"(Handle);
        await_event = "cuStreamWaitEvent"(Handle, Handle, u32);
        error_name = "cuGetErrorName"(i32, *mut *const c_char);
        error_text = "cuGetErrorString"(i32, *mut *const c_char);
    }
}

/// How another process opens an allocation; made and read by the driver alone.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct IpcHandle(pub(super) [u8; 64]);

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
pub(super) const DYNAMIC_SHARED: i32 = 8;
/// `CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`.
pub(super) const LAZY_PEER_ACCESS: u32 = 1;
/// `CU_STREAM_NON_BLOCKING`.
pub(super) const NON_BLOCKING: u32 = 1;

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

    /// The driver's functions.
    pub(super) fn functions(&self) -> &Functions {
        &self.functions
    }

    /// What a status means that the driver returned from `call`.
    ///
    /// # Errors
    /// Any status but success, with the driver's own name for it.
    pub(super) fn check(&self, call: &'static str, code: i32) -> Result<(), DriverError> {
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
        Ok(Rc::new(Context { driver: self, handle, limits, gate: OnceCell::new() }))
    }
}
