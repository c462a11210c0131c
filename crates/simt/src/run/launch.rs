//! A rank's launch, and the function that runs launches.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::ops::Range;

use collectives::Rank;

use super::engine::Engine;
use super::event::on_event;
use super::fault;
use super::outcome::Outcome;
use super::shared::Shared;
use super::streams::Host;
use crate::object::abi;
use crate::object::module::{Module, ModuleError};
use crate::object::parameters::Parameters;
use crate::observe::observer::Observer;
use crate::schedule::contract::{Live, Schedule, Switches};

/// One rank's launch of one entry of an object.
#[derive(Debug)]
pub struct RankLaunch<'a> {
    /// The rank that launches.
    pub rank: Rank,
    /// The number of its call among those of the run, from 0. A rank's launches are in order of their calls.
    pub call: u32,
    /// The rank's own copy of the object: copies share no device globals.
    pub module: &'a Module,
    /// The index of the entry in the object's table, in the order in which the build was given the
    /// names.
    pub entry: usize,
    /// The number of thread blocks.
    pub grid: u32,
    /// The number of threads of each block.
    pub threads: u32,
    /// The size of each block's dynamic shared memory in bytes.
    pub shared_bytes: u32,
    /// The entry's arguments.
    pub parameters: Parameters,
}

/// Runs one launch a rank until every thread has returned or no thread can go on.
///
/// # Errors
/// A launch does not fit its object. What the kernels do wrong is no error, but stands in the
/// outcome.
pub fn run(
    launches: &mut [RankLaunch<'_>],
    schedule: &mut dyn Schedule,
    observer: &mut dyn Observer,
) -> Result<Outcome, ModuleError> {
    run_calls(launches, None, schedule, observer)
}

/// Runs any number of launches a rank: each begins when the rank's launch before has ended and `host`, without
/// which each rank has one, has done its part. Calls of several launches a rank need a schedule in which all ranks live.
///
/// # Errors
/// As for [`run`].
pub fn run_calls(
    launches: &mut [RankLaunch<'_>],
    host: Option<&mut dyn Host>,
    schedule: &mut dyn Schedule,
    observer: &mut dyn Observer,
) -> Result<Outcome, ModuleError> {
    fault::begins();
    for launch in launches.iter() {
        launch.module.accepts(launch.entry, &launch.parameters)?;
        launch.module.clear_record();
    }
    let arguments: Vec<Vec<*mut c_void>> =
        launches.iter_mut().map(|launch| launch.parameters.pointers()).collect();
    let switches = schedule.switches();
    let watched = observer.watches();
    let shared = Shared {
        host: abi::Host { event: on_event, watch_first: Cell::new(0), watch_end: Cell::new(0) },
        progress: Cell::new(false),
        wrote: Cell::new(false),
        stored: RefCell::default(),
        reported: match &switches {
            Switches::Accesses(heaps) => covering(&watched, heaps),
            _ => watched.clone(),
        },
        switches,
        tile_steps: schedule.live() == Live::AllRanks,
        watched,
        watches_shared_memory: observer.watches_shared_memory(),
        violations: RefCell::default(),
        // SAFETY: only the lifetime is erased. The pointer is used through `shared` alone, which
        // ends with this function, and the borrow of `observer` lasts longer.
        observer: unsafe {
            std::mem::transmute::<*mut (dyn Observer + '_), *mut (dyn Observer + 'static)>(observer)
        },
    };
    shared.ask_for(&shared.reported);
    // Borrowed for no longer than the engine lives.
    let host = host.map(|host| -> &mut dyn Host { host });
    let mut engine = Engine::new(launches, arguments, host, &shared, schedule);
    let end = engine.run(schedule);
    shared.observe(|observer| observer.settle());
    Ok(engine.into_outcome(end))
}

/// The smallest range that holds both.
fn covering(one: &Range<usize>, other: &Range<usize>) -> Range<usize> {
    match (one.is_empty(), other.is_empty()) {
        (true, _) => other.clone(),
        (_, true) => one.clone(),
        _ => one.start.min(other.start)..one.end.max(other.end),
    }
}
