//! The host's processor in a rank process.

use std::collections::BTreeMap;
use std::ops::Range;
use std::os::fd::BorrowedFd;

use collectives::Rank;
use ipc::HeapHandle;
use simt::{
    Delay, Directed, End, Exploring, Host, Idle, LastWriters, Log, Module, ModuleError, NoObserver,
    Observer, Outcome, Parameters, Races, RankLaunch, Recorded, Recorder, Schedule, Seeded,
    Sequential, Switches, run_calls,
};

use super::arguments::ArgumentPages;
use super::caches;
use super::heap::{self, MappedHeap, heap_address};
use super::hosts::Hosts;
use crate::arguments::bind;
use crate::{
    Caches, Device, DeviceError, Interleave, Interleaving, Launch, Launched, Measured, Watch,
    WatchedByte,
};

/// The host's processor, in one rank process.
#[derive(Debug)]
pub struct CpuDevice {
    /// Which address layout this process sees: its rank, or 0 where all ranks live in it.
    viewer: Rank,
    /// Whether ranks in other processes may change memory.
    idle: Idle,
    heaps: BTreeMap<Rank, MappedHeap>,
    modules: BTreeMap<Rank, Module>,
    arguments: ArgumentPages,
}

impl CpuDevice {
    /// A device for a process that hosts one rank (`alone` false) or all of them.
    pub fn new(viewer: Rank, alone: bool) -> CpuDevice {
        CpuDevice {
            viewer,
            idle: if alone { Idle::Deadlock } else { Idle::Elsewhere },
            heaps: BTreeMap::new(),
            modules: BTreeMap::new(),
            arguments: ArgumentPages::default(),
        }
    }
}

impl Device for CpuDevice {
    fn host(&mut self, viewer: Rank, alone: bool) -> Result<(), DeviceError> {
        // Heaps lie elsewhere for every viewer.
        if self.viewer != viewer {
            self.heaps.clear();
        }
        self.viewer = viewer;
        self.idle = if alone { Idle::Deadlock } else { Idle::Elsewhere };
        Ok(())
    }

    fn import(&mut self, rank: Rank, handle: &HeapHandle, bytes: u64) -> Result<(), DeviceError> {
        let HeapHandle::Memfd(fd) = handle else {
            return Err(DeviceError::Handle { device: "cpu", handle: handle.clone() });
        };
        if let Some(heap) = self.heaps.get_mut(&rank)
            && heap.resize(bytes)?
        {
            return Ok(());
        }
        self.heaps.remove(&rank);
        // SAFETY: the parent hands these descriptors to the process when it starts, and no code of the
        // process closes them.
        let fd = unsafe { BorrowedFd::borrow_raw(*fd) };
        self.heaps.insert(rank, MappedHeap::new(fd, heap_address(rank, self.viewer), bytes)?);
        Ok(())
    }

    fn unback(&mut self, gaps: &[Range<u64>]) -> Result<(), DeviceError> {
        self.heaps.values_mut().try_for_each(|heap| heap.unback(gaps))
    }

    fn load(&mut self, rank: Rank, object: &[u8], _: &[String]) -> Result<(), DeviceError> {
        self.modules.insert(rank, Module::load(object)?);
        Ok(())
    }

    fn unload(&mut self) {
        self.modules.clear();
    }

    fn launch(
        &mut self,
        launches: &[Launch],
        interleaving: Interleaving,
        watched: &[WatchedByte],
    ) -> Result<Launched, DeviceError> {
        let parameters = self.bind(launches)?;
        let mut rank_launches = self.rank_launches(launches, parameters)?;
        let borders = match &interleaving {
            Interleaving::CoResident { borders, .. } => borders.clone(),
            Interleaving::Sequential => None,
        };
        let mut hosts = borders.as_ref().map(|borders| Hosts::new(borders, launches, &self.heaps));
        let host = hosts.as_mut().map(|hosts| hosts as &mut dyn Host);
        let quiet = |(outcome, recorded)| Launched {
            recorded,
            outcome,
            ..Launched::unobserved(Vec::new())
        };
        let launched = match Watch::of(&interleaving, watched) {
            Watch::Nothing => {
                quiet(self.run(&mut rank_launches, host, interleaving, &mut NoObserver)?)
            }
            Watch::Writers(bytes) => {
                let mut writers = LastWriters::of(self.addresses(bytes)?);
                let ran = self.run(&mut rank_launches, host, interleaving, &mut writers)?;
                Launched { writes: writers.writes(), ..quiet(ran) }
            }
            Watch::Delay(late, time) => {
                let own = self.heaps.get(&launches[0].rank).map_or(0..0, MappedHeap::range);
                let mut delay = Delay::new(late, time, heap::ADDRESSES, own);
                let ran = self.run(&mut rank_launches, host, interleaving, &mut delay)?;
                delay.returned();
                quiet(ran)
            }
            Watch::Races { late_stores } => {
                let mut races = match late_stores {
                    Some(seed) => Races::with_late_stores(heap::ADDRESSES, seed),
                    None => Races::new(heap::ADDRESSES),
                };
                let ran = self.run(&mut rank_launches, host, interleaving, &mut races)?;
                let flags = match ran.0.end {
                    End::Finished => Vec::new(),
                    End::Deadlock(_) => races.flags(),
                };
                Launched { flags, races: races.into_found(), ..quiet(ran) }
            }
        };
        let changed = hosts.map_or(Ok(Vec::new()), Hosts::finish)?;
        Ok(Launched { changed, ..launched })
    }

    fn time(
        &mut self,
        launches: &[Launch],
        interleaving: Interleaving,
        caches: Caches,
        begin: &mut dyn FnMut(),
    ) -> Result<Launched, DeviceError> {
        let parameters = self.bind(launches)?;
        let mut bound = self.rank_launches(launches, parameters)?;
        if caches == Caches::Cold {
            self.heaps.values().flat_map(MappedHeap::backed).for_each(caches::flush);
        }
        // Ranks that run one after another are timed one by one.
        let parts: Vec<&mut [RankLaunch<'_>]> = match interleaving {
            Interleaving::Sequential => bound.chunks_mut(1).collect(),
            Interleaving::CoResident { .. } => vec![&mut bound],
        };
        let mut times = Vec::new();
        let mut whole: Option<Outcome> = None;
        begin();
        for part in parts {
            let started = caches::now();
            let (outcome, _) = self.run(part, None, interleaving.clone(), &mut NoObserver)?;
            times.extend(std::iter::repeat_n(started..caches::now(), part.len()));
            match &mut whole {
                Some(whole) => whole.append(outcome),
                None => whole = Some(outcome),
            }
        }
        let launched = Launched::unobserved(Vec::new());
        let outcome = whole.unwrap_or(launched.outcome);
        let measured = Some(Measured { times, registers: None, spilled_bytes: None });
        Ok(Launched { outcome, measured, ..launched })
    }

    /// What one process copies is no bound for several.
    fn copy_speed(&mut self, _: u64) -> Result<Option<f64>, DeviceError> {
        Ok(None)
    }
}

impl CpuDevice {
    /// The arguments of launches with this process's addresses.
    fn bind(&mut self, launches: &[Launch]) -> Result<Vec<Parameters>, DeviceError> {
        self.arguments.clear();
        let mut bound = Vec::new();
        for launch in launches {
            let heaps = &self.heaps;
            let address = |rank: Rank| {
                let heap = heaps.get(&rank).ok_or(DeviceError::NoRank(rank, "heap"))?;
                Ok(heap.address())
            };
            let values = bind(&launch.arguments, &address, &mut self.arguments)?;
            bound.push(Parameters::new(values.iter().map(Vec::as_slice)));
        }
        self.arguments.seal()?;
        Ok(bound)
    }

    /// Launches as the executor takes them.
    fn rank_launches(
        &self,
        launches: &[Launch],
        parameters: Vec<Parameters>,
    ) -> Result<Vec<RankLaunch<'_>>, DeviceError> {
        let of = |(launch, parameters): (&Launch, Parameters)| {
            let module = self.modules.get(&launch.rank);
            Ok(RankLaunch {
                rank: launch.rank,
                call: launch.call,
                module: module.ok_or(DeviceError::NoRank(launch.rank, "object"))?,
                entry: launch.entry as usize,
                grid: launch.grid,
                threads: launch.threads,
                shared_bytes: launch.shared_bytes,
                parameters,
            })
        };
        launches.iter().zip(parameters).map(of).collect()
    }

    /// Where bytes of heaps are mapped in this process, each with its rank and the call in which it is watched.
    fn addresses(&self, bytes: &[WatchedByte]) -> Result<Vec<(usize, Rank, u32)>, DeviceError> {
        let address = |byte: &WatchedByte| {
            let heap = self.heaps.get(&byte.rank);
            let heap = heap.ok_or(DeviceError::NoRank(byte.rank, "heap"))?;
            Ok(((heap.address() + byte.offset) as usize, byte.rank, byte.call))
        };
        bytes.iter().map(address).collect()
    }

    /// Runs launches as `interleaving` says, and records how it went where that says so.
    fn run(
        &self,
        launches: &mut [RankLaunch<'_>],
        host: Option<&mut dyn Host>,
        interleaving: Interleaving,
        observer: &mut dyn Observer,
    ) -> Result<(Outcome, Option<Recorded>), ModuleError> {
        let (resident_blocks, seed, plan, race) = match interleaving {
            Interleaving::CoResident { resident_blocks, seed, plan, race, .. } => {
                (resident_blocks, seed, plan, race)
            }
            Interleaving::Sequential => {
                let mut sequential = Sequential { idle: self.idle };
                return Ok((run_calls(launches, host, &mut sequential, observer)?, None));
            }
        };
        let mut seeded = Seeded::new(seed, resident_blocks, self.idle, heap::ADDRESSES);
        let mut directed;
        let schedule: &mut dyn Schedule = match plan {
            Interleave::Seed | Interleave::Late(..) => {
                return Ok((run_calls(launches, host, &mut seeded, observer)?, None));
            }
            Interleave::Recorded => &mut seeded,
            Interleave::Turns(turns) => {
                directed = Directed::new(seeded, &turns);
                &mut directed
            }
            Interleave::Explore(branch) => {
                // Where races are looked for, plain accesses need no places to switch: if their
                // order mattered, they would race.
                let switches = match race {
                    true => Switches::Synchronisation,
                    false => Switches::Accesses(heap::ADDRESSES),
                };
                let mut exploring = Exploring::new(branch, resident_blocks, switches);
                let outcome = run_calls(launches, host, &mut exploring, observer)?;
                return Ok((outcome, Some(exploring.into_recorded())));
            }
        };
        let (mut recorder, mut log) =
            (Recorder::new(schedule), Log::new(observer, heap::ADDRESSES));
        let outcome = run_calls(launches, host, &mut recorder, &mut log)?;
        let (turns, events) = (recorder.into_turns(), log.into_events());
        Ok((outcome, Some(Recorded { turns, events, ..Recorded::default() })))
    }
}
