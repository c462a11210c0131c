//! What NVIDIA's GPUs say of themselves: clocks, heat, power and why clocks are held down. Loaded at run time;
//! no context is opened. GPUs are numbered in the order of their PCI addresses, as the driver numbers equal ones.

use std::ffi::{CStr, c_char, c_void};
use std::path::PathBuf;

use crate::MissingLibrary;
use crate::library::{self, functions};

type Handle = *mut c_void;

functions! {
    /// The library's functions, by its own names.
    Functions {
        init = "nvmlInit_v2"();
        driver_version = "nvmlSystemGetDriverVersion"(*mut c_char, u32);
        handle = "nvmlDeviceGetHandleByIndex_v2"(u32, *mut Handle);
        clock = "nvmlDeviceGetClockInfo"(Handle, u32, *mut u32);
        temperature = "nvmlDeviceGetTemperature"(Handle, u32, *mut u32);
        power = "nvmlDeviceGetPowerUsage"(Handle, *mut u32);
        reasons = "nvmlDeviceGetCurrentClocksThrottleReasons"(Handle, *mut u64);
        processes = "nvmlDeviceGetComputeRunningProcesses_v3"(Handle, *mut u32, *mut c_void);
    }
}

/// `NVML_CLOCK_SM`.
const PROCESSORS: u32 = 1;
/// `NVML_CLOCK_MEM`.
const MEMORY: u32 = 2;
/// `NVML_TEMPERATURE_GPU`.
const CORE: u32 = 0;
/// `NVML_ERROR_INSUFFICIENT_SIZE`: the answer is the number of processes, for which there was no room.
const NO_ROOM: i32 = 7;

/// `nvmlClocksThrottleReason*`, and what each means. That a GPU is idle or as fast as it was set to is none.
const REASONS: [(u64, &str); 7] = [
    (0x4, "software power cap"),
    (0x8, "hardware slowdown"),
    (0x10, "sync boost"),
    (0x20, "software thermal slowdown"),
    (0x40, "hardware thermal slowdown"),
    (0x80, "hardware power brake"),
    (0x100, "display clocks"),
];

/// What a GPU said of itself; absent values it does not tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GpuReading {
    /// The clock of its processors, in MHz.
    pub sm_clock_mhz: Option<u32>,
    /// The clock of its memory, in MHz.
    pub memory_clock_mhz: Option<u32>,
    /// Its temperature, in degrees Celsius.
    pub temperature_c: Option<u32>,
    /// Its power, in milliwatts.
    pub power_mw: Option<u32>,
    /// Why its clocks are held down.
    pub throttled: Vec<&'static str>,
    /// How many processes compute on it.
    pub processes: Option<u32>,
}

/// The loaded library.
#[derive(Debug, Clone, Copy)]
pub struct Nvml {
    functions: Functions,
}

impl Nvml {
    /// Loads the library.
    ///
    /// # Errors
    /// There is none, or it finds no driver.
    pub fn open() -> Result<Nvml, MissingLibrary> {
        const NAME: &str = "NVIDIA's management library (libnvidia-ml.so.1)";
        let missing = |reason: String| MissingLibrary { name: NAME, reason };
        let candidates = ["libnvidia-ml.so.1", "libnvidia-ml.so"].map(PathBuf::from);
        let (library, _) = library::load(NAME, &candidates)?;
        let functions = Functions::resolve(&library).map_err(missing)?;
        // Functions are called until the process ends.
        std::mem::forget(library);
        // SAFETY: the first call, without arguments.
        match unsafe { (functions.init)() } {
            0 => Ok(Nvml { functions }),
            code => Err(missing(format!("nvmlInit: error {code}"))),
        }
    }

    /// The driver's version as its vendor writes it, such as `570.86.15`.
    pub fn driver_version(&self) -> Option<String> {
        let mut text = [0 as c_char; 96];
        // SAFETY: the library writes at most 96 bytes and ends them with zero.
        let got = unsafe { (self.functions.driver_version)(text.as_mut_ptr(), 96) };
        // SAFETY: the library filled the array, which lives here, and ended the text with zero.
        (got == 0).then(|| unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned())
    }

    /// What a GPU says now.
    pub fn read(&self, gpu: u32) -> GpuReading {
        let mut handle = std::ptr::null_mut();
        // SAFETY: a place for one handle.
        if unsafe { (self.functions.handle)(gpu, &mut handle) } != 0 {
            return GpuReading::default();
        }
        let number = |read: &dyn Fn(*mut u32) -> i32| {
            let mut value = 0;
            (read(&mut value) == 0).then_some(value)
        };
        let Functions { clock, temperature, power, reasons, processes, .. } = self.functions;
        let mut held_down = 0;
        // SAFETY: the handle is one of this library's; a place for one number.
        let got = unsafe { reasons(handle, &mut held_down) };
        let held_down = if got == 0 { held_down } else { 0 };
        GpuReading {
            // SAFETY: the handle is one of this library's; a place for one number.
            sm_clock_mhz: number(&|value| unsafe { clock(handle, PROCESSORS, value) }),
            // SAFETY: as above.
            memory_clock_mhz: number(&|value| unsafe { clock(handle, MEMORY, value) }),
            // SAFETY: as above.
            temperature_c: number(&|value| unsafe { temperature(handle, CORE, value) }),
            // SAFETY: as above.
            power_mw: number(&|value| unsafe { power(handle, value) }),
            throttled: REASONS
                .iter()
                .filter(|(bit, _)| held_down & bit != 0)
                .map(|(_, reason)| *reason)
                .collect(),
            processes: number(&|value| {
                // SAFETY: as above; with room for none, only their number is written.
                match unsafe { processes(handle, value, std::ptr::null_mut()) } {
                    NO_ROOM => 0,
                    code => code,
                }
            }),
        }
    }
}
