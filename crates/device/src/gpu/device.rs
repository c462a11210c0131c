//! A GPU in a rank process: heaps are another process's device memory, opened through IPC; kernels
//! are modules that the vendor's compiler made.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use collectives::Rank;
use ipc::HeapHandle;
use simt::{LaunchRecord, RankOutcome};

use super::arguments::ArgumentPages;
use super::driver::{Address, Contexts, Function, GpuContext, GpuDriver, Module, Shape, Stream};
use crate::arguments::bind;
use crate::{
    Caches, Device, DeviceError, DriverError, Interleaving, Launch, Launched, WatchedByte,
};

/// A GPU, in one rank process.
#[derive(Debug)]
pub struct GpuDevice {
    contexts: Contexts,
    /// Which GPU each rank runs on.
    gpus: Vec<u32>,
    /// The GPU that this process's ranks run on.
    context: Option<Rc<dyn GpuContext>>,
    heaps: BTreeMap<Rank, OpenHeap>,
    modules: BTreeMap<Rank, Loaded>,
    arguments: ArgumentPages,
    /// Memory that no kernel uses, to push everything else out of the caches.
    pub(super) other: Option<Address>,
}

#[derive(Debug)]
struct OpenHeap {
    handle: HeapHandle,
    context: Rc<dyn GpuContext>,
    address: Address,
}

#[derive(Debug)]
struct Loaded {
    context: Rc<dyn GpuContext>,
    module: Module,
    entries: Vec<Function>,
    /// Where the kernel writes what it was launched with, if it does.
    record: Option<Address>,
}

/// The device variable in which a kernel writes what it was launched with.
const RECORD: &str = "rc_record";
/// The record in device memory: a flag, then the numbers of a [`LaunchRecord`].
const RECORD_BYTES: usize = 24;

impl GpuDevice {
    /// A device for a process whose ranks run on these GPUs, by rank.
    pub fn new(driver: Rc<dyn GpuDriver>, gpus: Vec<u32>) -> GpuDevice {
        GpuDevice {
            contexts: Contexts::new(driver),
            gpus,
            context: None,
            heaps: BTreeMap::new(),
            modules: BTreeMap::new(),
            arguments: ArgumentPages::default(),
            other: None,
        }
    }

    pub(super) fn context(&mut self) -> Result<Rc<dyn GpuContext>, DeviceError> {
        if self.context.is_none() {
            self.host(Rank(0), true)?;
        }
        Ok(self.context.clone().expect("a host was chosen"))
    }

    fn loaded(&self, rank: Rank) -> Result<&Loaded, DeviceError> {
        self.modules.get(&rank).ok_or(DeviceError::NoRank(rank, "object"))
    }

    /// Starts one rank's kernel.
    fn start(&mut self, launch: &Launch, stream: Stream) -> Result<(), DeviceError> {
        let mut parameters = self.bind(launch)?;
        self.go(launch, &mut parameters, stream)
    }

    /// The parameters of a launch, with what they point to in device memory.
    pub(super) fn bind(&mut self, launch: &Launch) -> Result<Vec<Vec<u8>>, DeviceError> {
        let address = |rank: Rank| {
            self.heaps.get(&rank).map(|heap| heap.address).ok_or(DeviceError::NoRank(rank, "heap"))
        };
        bind(&launch.arguments, &address, &mut self.arguments)
    }

    /// Puts one rank's kernel in a queue.
    pub(super) fn go(
        &self,
        launch: &Launch,
        parameters: &mut [Vec<u8>],
        stream: Stream,
    ) -> Result<(), DeviceError> {
        let (context, function) = self.entry(launch)?;
        let Launch { grid, threads, shared_bytes, .. } = *launch;
        let shape = Shape { grid, threads, shared_bytes };
        // SAFETY: the manifest's arguments are the kernel's parameters, as on every device; where
        // they are fewer or smaller the driver reads the caller's memory only, and the verifier
        // compares what comes of it.
        let started = unsafe { context.launch(function, shape, stream, parameters) };
        started.map_err(|error| DeviceError::of_kernel(error, Some(launch.rank)))
    }

    /// The kernel of a launch, with room for its block-shared memory.
    pub(super) fn entry(
        &self,
        launch: &Launch,
    ) -> Result<(&dyn GpuContext, Function), DeviceError> {
        let loaded = self.loaded(launch.rank)?;
        let function = loaded.entries.get(launch.entry as usize);
        let function = *function.ok_or(DeviceError::NoRank(launch.rank, "entry of that number"))?;
        let most = loaded.context.limits().shared_bytes;
        if launch.shared_bytes > most {
            return Err(DeviceError::DoesNotFit {
                needed: format!("{} bytes of block-shared memory", launch.shared_bytes),
                found: format!("{most} on this GPU"),
            });
        }
        if launch.shared_bytes > 0 {
            loaded.context.allow_shared(function, launch.shared_bytes)?;
        }
        Ok((&*loaded.context, function))
    }

    /// Refuses launches that must run at once and cannot.
    pub(super) fn fits(&self, launches: &[Launch]) -> Result<(), DeviceError> {
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
        let loaded = self.loaded(rank)?;
        let Some(record) = loaded.record else { return Ok(None) };
        let mut bytes = [0; RECORD_BYTES];
        let read = loaded.context.read(record, &mut bytes);
        read.map_err(|error| DeviceError::of_kernel(error, Some(rank)))?;
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
            let finished = self.loaded(launch.rank)?.context.finish();
            finished.map_err(|error| DeviceError::of_kernel(error, Some(launch.rank)))?;
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
        context.finish().map_err(|error| DeviceError::of_kernel(error, only))?;
        for stream in streams {
            context.forget_stream(stream)?;
        }
        Ok(())
    }
}

impl Device for GpuDevice {
    fn host(&mut self, viewer: Rank, _: bool) -> Result<(), DeviceError> {
        let gpu = self.gpus.get(viewer.index()).copied().unwrap_or(0);
        self.context = Some(self.contexts.get(gpu)?);
        Ok(())
    }

    fn import(&mut self, rank: Rank, handle: &HeapHandle, _: u64) -> Result<(), DeviceError> {
        let device = self.contexts.driver().device().name();
        let (bytes, offset) = match handle {
            HeapHandle::GpuIpc { device: of, handle, offset } if of == device => (handle, offset),
            _ => return Err(DeviceError::Handle { device, handle: handle.clone() }),
        };
        let context = self.context()?;
        if let Some(heap) = self.heaps.get(&rank) {
            if heap.handle == *handle && heap.context.limits().number == context.limits().number {
                return Ok(());
            }
            let old = self.heaps.remove(&rank).expect("just found");
            old.context.close(old.address)?;
        }
        let address = context.open(bytes)? + offset;
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
        let module = context.load(object)?;
        let entries = symbols.iter().map(|symbol| context.function(module, symbol));
        let entries = entries.collect::<Result<_, DriverError>>()?;
        let record = context.global(module, RECORD).ok();
        let record = record.filter(|(_, bytes)| *bytes == RECORD_BYTES as u64).map(|(at, _)| at);
        let loaded = Loaded { context, module, entries, record };
        if let Some(old) = self.modules.insert(rank, loaded) {
            old.context.unload(old.module)?;
        }
        Ok(())
    }

    fn unload(&mut self) {
        for loaded in std::mem::take(&mut self.modules).into_values() {
            // A context that is lost has nothing to unload.
            let _ = loaded.context.unload(loaded.module);
        }
    }

    fn launch(
        &mut self,
        launches: &[Launch],
        interleaving: Interleaving,
        _: &[WatchedByte],
    ) -> Result<Launched, DeviceError> {
        self.clear(launches)?;
        match interleaving {
            Interleaving::Sequential => self.one_after_another(launches)?,
            Interleaving::CoResident { borders: Some(_), .. } => {
                return Err(DeviceError::system("a launch", &"a GPU's calls do not overlap yet"));
            }
            Interleaving::CoResident { borders: None, .. } => self.at_once(launches)?,
        }
        Ok(Launched::unobserved(self.outcomes(launches)?))
    }

    fn time(
        &mut self,
        launches: &[Launch],
        interleaving: Interleaving,
        caches: Caches,
        begin: &mut dyn FnMut(),
    ) -> Result<Launched, DeviceError> {
        self.timed(launches, &interleaving, caches, begin)
    }

    fn copy_speed(&mut self, bytes: u64) -> Result<Option<f64>, DeviceError> {
        self.copied(bytes)
    }
}

impl GpuDevice {
    /// Makes ready for launches: nothing stands in the memory of arguments and in launch records.
    pub(super) fn clear(&mut self, launches: &[Launch]) -> Result<(), DeviceError> {
        let context = self.context()?;
        self.arguments.clear(context);
        for launch in launches {
            let loaded = self.loaded(launch.rank)?;
            if let Some(record) = loaded.record {
                loaded.context.set(record, 0, RECORD_BYTES as u64)?;
            }
        }
        Ok(())
    }

    /// What the launches left, which have all ended.
    pub(super) fn outcomes(&self, launches: &[Launch]) -> Result<Vec<RankOutcome>, DeviceError> {
        let ranks = launches.iter().map(|launch| {
            Ok(RankOutcome {
                call: launch.call,
                rank: launch.rank,
                // The driver says that the whole grid ended.
                threads_finished: u64::from(launch.grid) * u64::from(launch.threads),
                record: self.record(launch.rank)?,
            })
        });
        ranks.collect()
    }
}

impl Drop for GpuDevice {
    fn drop(&mut self) {
        self.unload();
    }
}
