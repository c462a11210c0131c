//! NVIDIA GPUs: heaps are device memory that the judge owns and ranks open through IPC, kernels
//! are modules that NVRTC compiled. Nothing is linked: the driver is loaded at run time.

mod arguments;
mod driver;
mod gpu_judge;
pub mod judge;
mod library;
mod memory;
mod nvrtc;

use std::collections::BTreeMap;
use std::ops::Range;

use collectives::Rank;
use ipc::HeapHandle;
use simt::{End, LaunchRecord, Outcome, RankOutcome};

use crate::arguments::bind;
use crate::{Device, DeviceError, Fault, Interleaving, Launch, Launched, WatchedByte};
use arguments::ArgumentPages;
use driver::{Address, Context, Driver, Function, IpcHandle, ModuleHandle, Stream, code};

pub use driver::{CudaError, Gpu};
pub use gpu_judge::GpuJudge;
pub use library::MissingLibrary;
pub use memory::Heaps;
pub use nvrtc::{Nvrtc, OVERRIDE};

/// The GPUs of this machine, and the driver's version (13000 for 13.0) and place.
///
/// # Errors
/// There is no driver, or it cannot be asked.
pub fn gpus() -> Result<(Vec<Gpu>, i32, String), DeviceError> {
    let driver = Driver::get()?;
    Ok((driver.gpus()?, driver.version, driver.path.display().to_string()))
}

/// A GPU, in one rank process.
#[derive(Debug)]
pub struct CudaDevice {
    driver: &'static Driver,
    /// Which GPU each rank runs on.
    gpus: Vec<u32>,
    context: Option<Context>,
    heaps: BTreeMap<Rank, OpenHeap>,
    modules: BTreeMap<Rank, Module>,
    arguments: ArgumentPages,
}

#[derive(Debug)]
struct OpenHeap {
    handle: HeapHandle,
    context: Context,
    address: Address,
}

#[derive(Debug)]
struct Module {
    context: Context,
    handle: ModuleHandle,
    entries: Vec<Function>,
    /// Where the kernel writes what it was launched with, if it does.
    record: Option<Address>,
}

/// The record in device memory: a flag, then the numbers of a [`LaunchRecord`].
const RECORD_BYTES: usize = 24;

impl CudaDevice {
    /// A device for a process whose ranks run on these GPUs, by rank.
    ///
    /// # Errors
    /// There is no driver.
    pub fn new(gpus: Vec<u32>) -> Result<CudaDevice, DeviceError> {
        Ok(CudaDevice {
            driver: Driver::get()?,
            gpus,
            context: None,
            heaps: BTreeMap::new(),
            modules: BTreeMap::new(),
            arguments: ArgumentPages::default(),
        })
    }

    /// The GPU that this process's ranks run on.
    fn context(&mut self) -> Result<Context, DeviceError> {
        match self.context {
            Some(context) => Ok(context),
            None => {
                self.host(Rank(0), true)?;
                Ok(self.context.expect("just made"))
            }
        }
    }

    fn module(&self, rank: Rank) -> Result<&Module, DeviceError> {
        self.modules.get(&rank).ok_or(DeviceError::NoRank(rank, "object"))
    }

    /// Starts one rank's kernel.
    fn start(&mut self, launch: &Launch, stream: Stream) -> Result<(), DeviceError> {
        let address = |rank: Rank| {
            self.heaps.get(&rank).map(|heap| heap.address).ok_or(DeviceError::NoRank(rank, "heap"))
        };
        let mut parameters = bind(&launch.arguments, &address, &mut self.arguments)?;
        let (context, function) = self.entry(launch)?;
        let shape = [launch.grid, launch.threads, launch.shared_bytes];
        // SAFETY: the manifest's arguments are the kernel's parameters, as on every device; where
        // they are fewer or smaller the driver reads the caller's memory only, and the judge
        // compares what comes of it.
        let started = unsafe { context.launch(function, shape, stream, &mut parameters) };
        started.map_err(|error| fault(error, Some(launch.rank)))
    }

    /// The kernel of a launch, with room for its block-shared memory.
    fn entry(&self, launch: &Launch) -> Result<(Context, Function), DeviceError> {
        let module = self.module(launch.rank)?;
        let function = module.entries.get(launch.entry as usize);
        let function = *function.ok_or(DeviceError::NoRank(launch.rank, "entry of that number"))?;
        if launch.shared_bytes > module.context.shared_bytes {
            return Err(DeviceError::DoesNotFit {
                needed: format!("{} bytes of block-shared memory", launch.shared_bytes),
                found: format!("{} on this GPU", module.context.shared_bytes),
            });
        }
        if launch.shared_bytes > 0 {
            module.context.allow_shared(function, launch.shared_bytes)?;
        }
        Ok((module.context, function))
    }

    /// Refuses launches that must run at once and cannot.
    fn fits(&self, launches: &[Launch]) -> Result<(), DeviceError> {
        // Each kernel's blocks as a part of what the GPU holds of them; together at most one GPU.
        let mut parts = 0.0;
        let mut blocks = 0;
        let mut most = u64::MAX;
        for launch in launches {
            let (context, function) = self.entry(launch)?;
            let resident =
                context.resident_blocks(function, launch.threads, launch.shared_bytes)?;
            parts += f64::from(launch.grid) / resident.max(1) as f64;
            blocks += u64::from(launch.grid);
            most = most.min(resident);
        }
        if parts > 1.0 {
            return Err(DeviceError::DoesNotFit {
                needed: format!("{blocks} blocks resident at once"),
                found: format!("room for {most} on this GPU"),
            });
        }
        Ok(())
    }

    /// What the kernel wrote about its launch.
    fn record(&self, rank: Rank) -> Result<Option<LaunchRecord>, DeviceError> {
        let module = self.module(rank)?;
        let Some(record) = module.record else { return Ok(None) };
        let mut bytes = [0; RECORD_BYTES];
        module.context.read(record, &mut bytes).map_err(|error| fault(error, Some(rank)))?;
        let words: Vec<u32> = bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")))
            .collect();
        let [written, tile_m, tile_n, group_size, blocks, threads] = words[..] else {
            unreachable!("six words")
        };
        Ok((written != 0).then_some(LaunchRecord { tile_m, tile_n, group_size, blocks, threads }))
    }

    fn one_after_another(&mut self, launches: &[Launch]) -> Result<(), DeviceError> {
        for launch in launches {
            self.start(launch, Stream::DEFAULT)?;
            let context = self.module(launch.rank)?.context;
            context.finish().map_err(|error| fault(error, Some(launch.rank)))?;
        }
        Ok(())
    }

    fn at_once(&mut self, launches: &[Launch]) -> Result<(), DeviceError> {
        self.fits(launches)?;
        let context = self.context()?;
        let mut streams = Vec::new();
        for launch in launches {
            let stream = context.stream()?;
            streams.push(stream);
            self.start(launch, stream)?;
        }
        let only = launches.first().filter(|_| launches.len() == 1).map(|launch| launch.rank);
        context.finish().map_err(|error| fault(error, only))?;
        for stream in streams {
            context.forget_stream(stream)?;
        }
        Ok(())
    }
}

/// An error that is the kernel's doing says so.
fn fault(error: CudaError, rank: Option<Rank>) -> DeviceError {
    let fault = match error.code {
        code::ILLEGAL_ADDRESS => Fault::IllegalAddress,
        code::MISALIGNED_ADDRESS => Fault::MisalignedAddress,
        code::ASSERT
        | code::HARDWARE_STACK_ERROR
        | code::ILLEGAL_INSTRUCTION
        | code::INVALID_ADDRESS_SPACE
        | code::INVALID_PC
        | code::LAUNCH_FAILED => Fault::Other,
        _ => return DeviceError::Cuda(error),
    };
    DeviceError::Fault { fault, rank, text: format!("{} ({})", error.name, error.text) }
}

impl Device for CudaDevice {
    fn host(&mut self, viewer: Rank, _: bool) -> Result<(), DeviceError> {
        let gpu = self.gpus.get(viewer.index()).copied().unwrap_or(0);
        if self.context.is_none_or(|context| context.number != gpu) {
            self.context = Some(self.driver.context(gpu)?);
        }
        Ok(())
    }

    fn import(&mut self, rank: Rank, handle: &HeapHandle, _: u64) -> Result<(), DeviceError> {
        let wrong = || DeviceError::Handle { device: "cuda", handle: handle.clone() };
        let HeapHandle::CudaIpc { handle: bytes, offset } = handle else { return Err(wrong()) };
        let context = self.context()?;
        if let Some(heap) = self.heaps.get(&rank) {
            if heap.handle == *handle && heap.context.number == context.number {
                return Ok(());
            }
            let old = self.heaps.remove(&rank).expect("just found");
            old.context.close(old.address)?;
        }
        let ipc = IpcHandle::from_bytes(bytes).ok_or_else(wrong)?;
        let address = context.open(ipc)? + offset;
        self.heaps.insert(rank, OpenHeap { handle: handle.clone(), context, address });
        Ok(())
    }

    fn unback(&mut self, gaps: &[Range<u64>]) -> Result<(), DeviceError> {
        match gaps.is_empty() {
            true => Ok(()),
            false => Err(DeviceError::System {
                what: "gaps between rows that no memory backs".into(),
                reason: "a GPU's memory has none".into(),
            }),
        }
    }

    fn load(&mut self, rank: Rank, object: &[u8], symbols: &[String]) -> Result<(), DeviceError> {
        let context = self.context()?;
        let handle = context.load(object)?;
        let entries = symbols.iter().map(|symbol| context.function(handle, symbol));
        let entries = entries.collect::<Result<_, _>>()?;
        let record = context.global(handle, c"rc_record").ok();
        let record = record.filter(|(_, bytes)| *bytes == RECORD_BYTES as u64).map(|(at, _)| at);
        let module = Module { context, handle, entries, record };
        if let Some(old) = self.modules.insert(rank, module) {
            old.context.unload(old.handle)?;
        }
        Ok(())
    }

    fn unload(&mut self) {
        for module in std::mem::take(&mut self.modules).into_values() {
            // A context that is lost has nothing to unload.
            let _ = module.context.unload(module.handle);
        }
    }

    fn launch(
        &mut self,
        launches: &[Launch],
        interleaving: Interleaving,
        _: &[WatchedByte],
    ) -> Result<Launched, DeviceError> {
        let context = self.context()?;
        self.arguments.clear(context);
        for launch in launches {
            let module = self.module(launch.rank)?;
            if let Some(record) = module.record {
                module.context.set(record, 0, RECORD_BYTES as u64)?;
            }
        }
        match interleaving {
            Interleaving::Sequential => self.one_after_another(launches)?,
            Interleaving::CoResident { .. } => self.at_once(launches)?,
        }
        let ranks = launches.iter().map(|launch| {
            Ok(RankOutcome {
                rank: launch.rank,
                // The driver says that the whole grid ended.
                threads_finished: u64::from(launch.grid) * u64::from(launch.threads),
                record: self.record(launch.rank)?,
            })
        });
        let outcome = Outcome {
            ranks: ranks.collect::<Result<_, DeviceError>>()?,
            end: End::Finished,
            divergences: Vec::new(),
            violations: Vec::new(),
            schedule_hash: 0,
            steps: 0,
        };
        let (writes, races, flags) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Launched { outcome, writes, races, flags, recorded: None })
    }
}

impl Drop for CudaDevice {
    fn drop(&mut self) {
        self.unload();
    }
}
