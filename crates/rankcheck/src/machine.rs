//! From `--device` and `--gpus` to what a run needs: target, toolchain, memory.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use device::gpu::driver::Gpu;
use device::gpu::verifier;
use device::vendors::vendor;
use kernels::{Cache, Compiler, DeviceName, Toolchain, plain_module};
use ranks::budget::Budget;
use ranks::{Target, probe};

/// Arguments that choose a device, the same for every verb that runs kernels.
#[derive(Debug, Args)]
pub(crate) struct DeviceArguments {
    /// What runs the kernels; `auto` is the CPU.
    #[arg(long, default_value = "auto", value_parser = device_named)]
    pub device: DeviceName,
    /// The GPUs to use: rank r of a process case runs on the r-th of them, and round again
    /// [default: all].
    #[arg(long, value_delimiter = ',', value_name = "N,..")]
    pub gpus: Vec<u32>,
    /// Where heaps on a GPU are judged: by kernels of its own, or from copies by the CPU's judge.
    #[arg(long, default_value = "device")]
    pub verify: Verify,
    /// Run ranks on a GPU under compute-sanitizer, whose reports become findings; slow.
    #[arg(long)]
    pub sanitizer: bool,
}

/// The device of a name; `auto` is the CPU.
///
/// # Errors
/// No device has the name.
pub(crate) fn device_named(name: &str) -> Result<DeviceName, String> {
    let named = DeviceName::ALL.into_iter().find(|device| device.name() == name);
    named.or((name == "auto").then_some(DeviceName::Cpu)).ok_or_else(|| {
        let known = DeviceName::ALL.map(DeviceName::name).join(", ");
        format!("expected one of auto, {known}")
    })
}

/// Where heaps on a GPU are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Verify {
    Device,
    Host,
}

/// A device that was asked for by name and is not there.
#[derive(Debug)]
pub(crate) struct MissingDevice {
    name: &'static str,
    why: String,
}

impl fmt::Display for MissingDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no device `{}`: {} (`rankcheck doctor` says what is here)", self.name, self.why)
    }
}

impl std::error::Error for MissingDevice {}

/// What a run runs on.
#[derive(Debug)]
pub(crate) struct Machine {
    pub target: Target,
    pub toolchain: Arc<dyn Toolchain>,
    pub budget: Budget,
    /// The GPUs in use.
    pub gpus: Vec<Gpu>,
}

/// NVIDIA's checker of memory accesses, in its usual places.
fn find_sanitizer() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let home = std::env::var_os("CUDA_HOME").map(|home| PathBuf::from(home).join("bin"));
    let usual = home.into_iter().chain([PathBuf::from("/usr/local/cuda/bin")]);
    let mut programs =
        std::env::split_paths(&path).chain(usual).map(|bin| bin.join("compute-sanitizer"));
    programs.find(|program| program.is_file())
}

/// Of a GPU's memory, heaps may use this part; contexts and modules need some.
const PART: f64 = 0.85;

impl DeviceArguments {
    /// The device's name in ids.
    pub(crate) fn name(&self) -> DeviceName {
        self.device
    }

    /// How many cases run at once where nobody says.
    pub(crate) fn jobs(&self) -> usize {
        match self.device.is_gpu() {
            false => std::thread::available_parallelism().map_or(1, usize::from).min(8),
            // Each has contexts of its own on the GPU, which takes turns between them.
            true => 2,
        }
    }

    /// As arguments of a command that runs a case again.
    pub(crate) fn replay(&self) -> String {
        let mut text = match self.device.is_gpu() {
            true => format!(" --device {}", self.device),
            false => String::new(),
        };
        if !self.gpus.is_empty() {
            let gpus: Vec<String> = self.gpus.iter().map(u32::to_string).collect();
            text += &format!(" --gpus {}", gpus.join(","));
        }
        if self.sanitizer {
            text += " --sanitizer";
        }
        if self.verify == Verify::Host {
            text += " --verify host";
        }
        text
    }

    /// Finds everything that the device needs.
    ///
    /// # Errors
    /// Something is missing.
    pub(crate) fn open(&self, cache: &Cache) -> anyhow::Result<Machine> {
        match self.device.is_gpu() {
            true => self.gpus_of(self.device, cache),
            false if self.sanitizer || !self.gpus.is_empty() => {
                anyhow::bail!("--gpus and --sanitizer need a GPU (--device cuda)")
            }
            false => Ok(Machine::cpu(Compiler::find()?)),
        }
    }

    fn gpus_of(&self, device: DeviceName, cache: &Cache) -> anyhow::Result<Machine> {
        let missing = |why: String| MissingDevice { name: device.name(), why };
        let vendor = vendor(device).map_err(|error| missing(error.to_string()))?;
        let found = probe::gpus(device).map_err(missing)?;
        let numbers = match self.gpus.is_empty() {
            true => found.gpus.iter().map(|gpu| gpu.number).collect(),
            false => self.gpus.clone(),
        };
        let mut gpus = Vec::new();
        for number in &numbers {
            let gpu = found.gpus.iter().find(|gpu| gpu.number == *number);
            let gpu = gpu.ok_or_else(|| {
                missing(format!("there is no GPU {number} among the {} here", found.gpus.len()))
            })?;
            gpus.push(gpu.clone());
        }
        let first = gpus.first().ok_or_else(|| missing("the driver finds no GPU".into()))?;
        if let Some(other) = gpus.iter().find(|gpu| gpu.architecture != first.architecture) {
            let why = format!(
                "GPU {} and GPU {} have different architectures; name those of one with --gpus",
                first.number, other.number
            );
            return Err(missing(why).into());
        }
        let toolchain =
            (vendor.toolchain)(&first.architecture).map_err(|error| missing(error.to_string()))?;
        let verifier = match self.verify {
            Verify::Host => None,
            Verify::Device => {
                let (name, source) = (verifier::SOURCE_NAME, verifier::SOURCE);
                Some(plain_module(cache, &*toolchain, name, source)?)
            }
        };
        let sanitizer = match self.sanitizer {
            false => None,
            true => Some(find_sanitizer().ok_or_else(|| {
                missing(
                    "no compute-sanitizer on PATH, in CUDA_HOME/bin or /usr/local/cuda/bin".into(),
                )
            })?),
        };
        let memory = gpus.iter().map(|gpu| gpu.memory_bytes).min().unwrap_or(0);
        Ok(Machine {
            target: Target::Gpus { device, gpus: numbers, verifier, sanitizer },
            toolchain,
            budget: Budget::new((memory as f64 * PART) as u64),
            gpus,
        })
    }
}

impl Machine {
    /// The host's processor.
    pub(crate) fn cpu(compiler: Compiler) -> Machine {
        Machine {
            target: Target::Cpu,
            toolchain: Arc::new(compiler),
            budget: Budget::of_this_machine(),
            gpus: Vec::new(),
        }
    }

    /// The first NVIDIA GPU.
    ///
    /// # Errors
    /// Something is missing.
    pub(crate) fn first_gpu(cache: &Cache) -> anyhow::Result<Machine> {
        let device = DeviceArguments {
            device: DeviceName::Cuda,
            gpus: vec![0],
            verify: Verify::Device,
            sanitizer: false,
        };
        device.open(cache)
    }

    /// The hardware that runs kernels, in words.
    pub(crate) fn hardware(&self) -> String {
        let Some(first) = self.gpus.first() else { return device::hardware::describe_hardware() };
        format!("{} x {}", self.gpus.len(), first.name)
    }
}
