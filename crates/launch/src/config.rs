//! What all cases of a run share.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use device::Capabilities;
use ranks::Target;
use ranks::budget::Budget;
use scenario::{Case, Mode};
use verdict::{CaseResult, Identity, Replay, Source};

use crate::builder::Builder;
use crate::schedules::Schedules;

/// Besides the time-out, a launch may take a second for this many bytes of heaps.
const BYTES_A_SECOND: u64 = 50 << 20;
/// No launch may take longer, whatever is said.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(24 * 3600);
/// How long a launch may take where neither run nor scenario says.
const TIMEOUT: Duration = Duration::from_secs(30);

/// What all cases of a run share.
#[derive(Debug)]
pub struct RunConfig {
    /// Builds objects, each once.
    pub builder: Builder,
    /// The device that kernels run on.
    pub target: Target,
    /// Set when the device is lost; nothing more runs then.
    pub lost: AtomicBool,
    /// The memory that heaps may use.
    pub budget: Budget,
    /// How long a launch may take, sizes aside; absent where the scenario or the default decides.
    pub timeout: Option<Duration>,
    /// Whether every permutation of ranks runs, whatever it costs.
    pub all_orders: bool,
    /// The schedules of ranks that are in the kernel at once.
    pub schedules: Schedules,
    /// The folder in which failing cases leave their heaps; absent where they do not.
    pub keep_heaps: Option<PathBuf>,
    /// Arguments that a replay needs besides path, id, mode and seed, each with a blank in front.
    pub replay_arguments: String,
    /// The commit of the working tree, where there is one.
    pub commit: Option<String>,
    /// Whether the working tree differs from its commit, where there is one.
    pub dirty: Option<bool>,
}

impl RunConfig {
    /// The abilities of the device.
    pub fn capabilities(&self) -> Capabilities {
        Capabilities::of(self.target.device())
    }

    /// The result of a case in which nothing has run yet.
    pub fn result(&self, case: &Case, mode: Mode) -> CaseResult {
        let source = Source {
            path: case.kernel.shown_file(),
            commit: self.commit.clone(),
            dirty: self.dirty,
            sha256: String::new(),
        };
        let replay = Replay::of(case, mode, &self.replay_arguments);
        let world = case.problem.world;
        let processes = if mode == Mode::Process { world as usize } else { 1 };
        CaseResult {
            device: self.target.device(),
            gpus: self.target.gpus_of(world, processes),
            ..CaseResult::new(case, mode, Identity { source, replay })
        }
    }
}

/// How long a launch of `case` on heaps of so many bytes may take; `stated` is the run's own word.
pub fn patience(stated: Option<Duration>, case: &Case, heap_bytes: u64) -> Duration {
    let stated = stated.or(case.timeout.map(Duration::from_secs));
    stated.unwrap_or(TIMEOUT).min(LONGEST_TIMEOUT)
        + Duration::from_secs(heap_bytes / BYTES_A_SECOND)
}
