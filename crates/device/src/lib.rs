//! What runs kernel code.
//!
//! A [`Device`] lives in a rank process. It imports the heaps of all ranks, loads objects and
//! launches them; the parent, which never runs kernel code, owns the clock and judges. Each
//! device has a folder, and the same file name means the same job in each.

mod arguments;
pub mod cpu;
pub mod cuda;
pub mod hardware;

use std::ops::Range;
use std::time::Duration;

use collectives::Rank;
use ipc::{HeapHandle, IpcError};
use kernels::Argument;
use serde::{Deserialize, Serialize};
use simt::{Access, Branch, Late, ModuleError, Outcome, Race, Recorded, Turn, Write};

/// One rank's launch, addresses aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// Whose.
    pub rank: Rank,
    /// Which entry of the object.
    pub entry: u32,
    /// Blocks.
    pub grid: u32,
    /// Threads a block.
    pub threads: u32,
    /// Bytes of dynamic block-shared memory.
    pub shared_bytes: u32,
    /// The entry's arguments.
    pub arguments: Vec<Argument>,
}

/// Which of the interleavings that a seed leaves open.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Plan {
    /// The one that the seed names.
    #[default]
    Seed,
    /// The same, with a record of it.
    Recorded,
    /// The one with these switches, where the seed has places for them; with a record of it.
    Turns(Vec<Turn>),
    /// A part of an exploration, whatever the seed; with a record of it.
    Explore(Branch),
    /// The one that the seed names, but the rank is late at a place of its kernel. For a process
    /// of one rank.
    Late(Late, Duration),
}

/// How the launches of one process run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Interleaving {
    /// One after another, in order.
    Sequential,
    /// All at once, with this many blocks a rank resident.
    CoResident {
        /// Blocks a rank.
        resident_blocks: u32,
        /// Names the schedule.
        seed: u64,
        /// Where it departs from that.
        plan: Plan,
        /// Whether data races are looked for.
        race: bool,
        /// Whether plain stores show late and out of order (data races are looked for then too).
        weak: bool,
    },
}

/// A byte of a heap whose writer somebody wants to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedByte {
    /// Whose heap.
    pub rank: Rank,
    /// Bytes from its start.
    pub offset: u64,
}

/// What a set of launches left, memory aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launched {
    /// How they ended.
    pub outcome: Outcome,
    /// The last write of each watched byte, as far as the object reports its accesses.
    pub writes: Vec<Option<Write>>,
    /// Data races, where they were looked for.
    pub races: Vec<Race>,
    /// Where nobody could go on and races were looked for: the last store to each flag.
    pub flags: Vec<Access>,
    /// How it went, where the plan says so.
    pub recorded: Option<Recorded>,
}

/// Something that a device could not do. Kernels that do wrong are in the [`Outcome`].
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// The object does not load or does not fit.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// The system refuses shared memory.
    #[error(transparent)]
    Memory(#[from] IpcError),
    /// The system refuses.
    #[error("{what}: {reason}")]
    System {
        /// What was tried.
        what: String,
        /// Why not.
        reason: String,
    },
    /// Another device's heap.
    #[error("a {device} cannot open the heap {handle:?}")]
    Handle {
        /// This device.
        device: &'static str,
        /// What it was given.
        handle: HeapHandle,
    },
    /// A rank that was not imported or loaded.
    #[error("rank {0} has no {1} here")]
    NoRank(Rank, &'static str),
    /// A library of the vendor that is not there.
    #[error(transparent)]
    Missing(#[from] cuda::MissingLibrary),
    /// The driver refuses.
    #[error(transparent)]
    Cuda(#[from] cuda::CudaError),
    /// Ranks that must be in the kernel at once do not fit the device.
    #[error("needs {needed}, found {found}")]
    DoesNotFit {
        /// What they need.
        needed: String,
        /// What there is.
        found: String,
    },
    /// The kernel did something that lost the device's context.
    #[error("{text}")]
    Fault {
        /// What it did.
        fault: Fault,
        /// Whose kernel, where that is known.
        rank: Option<Rank>,
        /// In the driver's words.
        text: String,
    },
}

/// What a kernel on a GPU can do that ends its process's use of the GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fault {
    /// An access outside of every allocation.
    IllegalAddress,
    /// An access that is not aligned to its size.
    MisalignedAddress,
    /// Anything else: an assertion, an illegal instruction, a broken stack.
    Other,
}

/// A device, as a rank process uses it. In order: heaps, objects, launches.
///
/// Contract: heaps stay mapped until the device is dropped, another viewer hosts, or a rank is
/// imported with another handle; `import` of a known rank with another length changes the
/// accessible part only. `load` replaces a rank's object, so device globals start afresh. `launch`
/// returns when every thread has returned or nobody can go on; it may also never return, and then
/// the parent kills the process.
pub trait Device {
    /// Changes whose process this is: `viewer`'s own, or that of all ranks (`alone`).
    ///
    /// # Errors
    /// The device that the viewer runs on cannot be used.
    fn host(&mut self, viewer: Rank, alone: bool) -> Result<(), DeviceError>;
    /// Maps `rank`'s heap; bytes beyond `bytes` must fault.
    ///
    /// # Errors
    /// A handle of another device, or no room.
    fn import(&mut self, rank: Rank, handle: &HeapHandle, bytes: u64) -> Result<(), DeviceError>;
    /// Makes these parts of every heap fault, and no others: gaps that no memory backs.
    ///
    /// # Errors
    /// The system refuses, or the device cannot.
    fn unback(&mut self, gaps: &[Range<u64>]) -> Result<(), DeviceError>;
    /// Loads `rank`'s own copy of an object. `symbols` are its entries where it has no table of
    /// its own.
    ///
    /// # Errors
    /// It does not load.
    fn load(&mut self, rank: Rank, object: &[u8], symbols: &[String]) -> Result<(), DeviceError>;
    /// Forgets every object, and with it all device globals.
    fn unload(&mut self);
    /// Runs launches of this process's ranks and notes who writes the watched bytes.
    ///
    /// # Errors
    /// A launch that does not fit its object, or a rank that has none.
    fn launch(
        &mut self,
        launches: &[Launch],
        interleaving: Interleaving,
        watched: &[WatchedByte],
    ) -> Result<Launched, DeviceError>;
}
