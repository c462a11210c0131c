//! What a rank process asks of a device: heaps, objects, launches.

use std::ops::Range;
use std::time::Duration;

use collectives::Rank;
use ipc::HeapHandle;
use kernels::Argument;
use serde::{Deserialize, Serialize};
use simt::{Access, Branch, End, Late, Outcome, Race, RankOutcome, Recorded, Turn, Write};

use crate::DeviceError;
use crate::borders::{Borders, Changed};

/// One rank's launch, addresses aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// The rank whose kernel it is.
    pub rank: Rank,
    /// The number of its call among those that run together, from 0.
    pub call: u32,
    /// The number of the entry in the rank's object.
    pub entry: u32,
    /// The number of thread blocks.
    pub grid: u32,
    /// The number of threads of a block.
    pub threads: u32,
    /// Bytes of dynamic block-shared memory of a block.
    pub shared_bytes: u32,
    /// The values of the entry's parameters, in order.
    pub arguments: Vec<Argument>,
}

/// Which of the interleavings that a seed leaves open.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Interleave {
    /// The interleaving that the seed names.
    #[default]
    Seed,
    /// The seed's interleaving, with a record of it.
    Recorded,
    /// The interleaving with these switches, where the seed has places for them; with a record of it.
    Turns(Vec<Turn>),
    /// A part of an exploration, whatever the seed; with a record of it.
    Explore(Branch),
    /// The interleaving that the seed names, but the rank is late by a time at a place of its kernel. For
    /// a process of one rank.
    Late(Late, Duration),
}

/// How the launches of one process run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Interleaving {
    /// One after another, in order.
    Sequential,
    /// All ranks at once, with this many blocks a rank resident.
    CoResident {
        /// What stands between calls, where a rank's next one begins when its own has ended; absent where
        /// each rank has one launch.
        borders: Option<Borders>,
        /// The most blocks of a rank that are resident at once.
        resident_blocks: u32,
        /// The number that names the schedule.
        seed: u64,
        /// Which of the interleavings that the seed leaves open.
        plan: Interleave,
        /// Whether data races are looked for.
        race: bool,
        /// Whether plain stores show late and out of order (data races are looked for then too).
        weak: bool,
    },
}

/// What caches hold when a timed launch begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Caches {
    /// Nothing of the heaps.
    Cold,
    /// What the work before left there.
    Warm,
}

/// What a timed launch took, and what it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// When each launch began and ended, in nanoseconds: of the monotonic clock on a CPU, since the first
    /// began on a GPU. In the order of the launches.
    pub times: Vec<Range<u64>>,
    /// Registers of a thread, where the device tells.
    pub registers: Option<u32>,
    /// Bytes of a thread that did not fit into registers, where the device tells.
    pub spilled_bytes: Option<u32>,
}

/// A byte of a heap whose writer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedByte {
    /// The rank whose heap it is in.
    pub rank: Rank,
    /// Bytes from the start of the heap.
    pub offset: u64,
    /// The call of that rank, among those that run together, in which it is watched.
    pub call: u32,
}

/// What a device watches while launches run. It is one thing at a time, because each needs all the
/// accesses that kernels report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watch<'a> {
    /// Nothing: kernels run at their own speed.
    Nothing,
    /// The last write to each of these bytes.
    Writers(&'a [WatchedByte]),
    /// The place of its kernel at which the rank is late, by a time.
    Delay(Late, Duration),
    /// Data races between ranks and threads.
    Races {
        /// The seed by which plain stores show late and out of order; absent where they show at
        /// once.
        late_stores: Option<u64>,
    },
}

impl<'a> Watch<'a> {
    /// What a launch watches: bytes whose writers are wanted, else a delay, else data races.
    pub fn of(interleaving: &Interleaving, watched: &'a [WatchedByte]) -> Watch<'a> {
        match interleaving {
            _ if !watched.is_empty() => Watch::Writers(watched),
            Interleaving::CoResident { plan: Interleave::Late(late, time), .. } => {
                Watch::Delay(*late, *time)
            }
            Interleaving::CoResident { weak: true, seed, .. } => {
                Watch::Races { late_stores: Some(*seed) }
            }
            Interleaving::CoResident { race: true, .. } => Watch::Races { late_stores: None },
            Interleaving::CoResident { .. } | Interleaving::Sequential => Watch::Nothing,
        }
    }
}

/// What a set of launches left, memory aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launched {
    /// How the launches ended.
    pub outcome: Outcome,
    /// The last write of each watched byte, as far as the object reports its accesses.
    pub writes: Vec<Option<Write>>,
    /// The data races that were seen; empty where they were not looked for.
    pub races: Vec<Race>,
    /// The last store to each flag, where no thread could go on and races were looked for; else empty.
    pub flags: Vec<Access>,
    /// The record of the interleaving, where one was asked for.
    pub recorded: Option<Recorded>,
    /// What has changed after a rank's own call had ended, where a next one follows at once: the first byte
    /// of each rank and call.
    pub changed: Vec<Changed>,
    /// What it took, where it was timed.
    pub measured: Option<Measured>,
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
            open_waits: Vec::new(),
            schedule_hash: 0,
            steps: 0,
        };
        Launched {
            outcome,
            writes: Vec::new(),
            races: Vec::new(),
            flags: Vec::new(),
            recorded: None,
            changed: Vec::new(),
            measured: None,
        }
    }
}

/// A device, as a rank process uses it. In order: heaps, objects, launches.
///
/// Contract: heaps stay mapped until the device is dropped, another viewer hosts, or a rank is
/// imported with another handle; `import` of a known rank with another length changes the
/// accessible part only. `load` replaces a rank's object, so device globals start afresh. `launch`
/// returns when every thread has returned or none can go on; it may also never return, and then
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
    /// The object does not load.
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
    /// Runs launches at their own speed and says what they took. Everything that is not the kernel's own
    /// work comes first: arguments are bound and caches are as `caches` says when `begin` is called, and
    /// kernels begin when it returns. It is called once, or not at all where nothing could be launched.
    ///
    /// # Errors
    /// As for `launch`.
    fn time(
        &mut self,
        launches: &[Launch],
        interleaving: Interleaving,
        caches: Caches,
        begin: &mut dyn FnMut(),
    ) -> Result<Launched, DeviceError>;
    /// The bytes a second that the device reads and writes while it copies `bytes` within its own memory:
    /// no kernel that must move as much from memory is faster. Absent where one process cannot know it.
    ///
    /// # Errors
    /// No memory, or the device is lost.
    fn copy_speed(&mut self, bytes: u64) -> Result<Option<f64>, DeviceError>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const BYTES: [WatchedByte; 1] = [WatchedByte { rank: Rank(0), offset: 8, call: 0 }];
    const DELAY: (Late, Duration) = (Late::ALL[0], Duration::from_millis(5));

    fn at_once(late: bool, race: bool, weak: bool) -> Interleaving {
        let plan = match late {
            true => Interleave::Late(DELAY.0, DELAY.1),
            false => Interleave::Recorded,
        };
        Interleaving::CoResident { borders: None, resident_blocks: 1, seed: 9, plan, race, weak }
    }

    #[rstest]
    #[case(Interleaving::Sequential, &[], Watch::Nothing)]
    #[case(at_once(false, false, false), &[], Watch::Nothing)]
    #[case(at_once(false, true, false), &[], Watch::Races { late_stores: None })]
    #[case(at_once(false, false, true), &[], Watch::Races { late_stores: Some(9) })]
    #[case(at_once(false, true, true), &[], Watch::Races { late_stores: Some(9) })]
    #[case(at_once(true, true, true), &[], Watch::Delay(DELAY.0, DELAY.1))]
    #[case(at_once(true, true, true), &BYTES, Watch::Writers(&BYTES))]
    #[case(Interleaving::Sequential, &BYTES, Watch::Writers(&BYTES))]
    fn one_thing_is_watched_at_a_time(
        #[case] interleaving: Interleaving,
        #[case] watched: &[WatchedByte],
        #[case] expected: Watch<'_>,
    ) {
        assert_eq!(Watch::of(&interleaving, watched), expected);
    }
}
