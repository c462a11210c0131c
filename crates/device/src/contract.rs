//! What a rank process asks of a device: heaps, objects, launches.

use std::ops::Range;
use std::time::Duration;

use collectives::Rank;
use ipc::HeapHandle;
use kernels::Argument;
use serde::{Deserialize, Serialize};
use simt::{Access, Branch, End, Late, Outcome, Race, RankOutcome, Recorded, Turn, Write};

use crate::DeviceError;

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
pub enum Interleave {
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
        plan: Interleave,
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

impl Launched {
    /// What a device says that sees only that every kernel ended: no accesses, no races and no
    /// schedule.
    pub fn unobserved(ranks: Vec<RankOutcome>) -> Launched {
        let outcome = Outcome {
            ranks,
            end: End::Finished,
            divergences: Vec::new(),
            violations: Vec::new(),
            schedule_hash: 0,
            steps: 0,
        };
        let (writes, races, flags) = (Vec::new(), Vec::new(), Vec::new());
        Launched { outcome, writes, races, flags, recorded: None }
    }
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
