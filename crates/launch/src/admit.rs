//! From a case to what can be attempted: built, resolved, of a size that fits; or why not.

use std::time::Duration;

use collectives::{Finding, FindingKind, HeapPlan};
use device::Borders;
use kernels::Object;
use ranks::PoolError;
use ranks::budget::show_bytes;
use scenario::{Case, Mode, Reason};

use crate::attempt::Ranks;
use crate::config::{RunConfig, patience};
use crate::job::Job;
use crate::once;
use crate::tell::Context;

/// Hosts keep no more bytes of heaps than this, over all ranks and calls.
const MOST_KEPT: u64 = 1 << 30;

/// A case that can be attempted, in one mode. Nothing of it changes.
#[derive(Debug, Clone)]
pub struct Admitted<'a> {
    /// The case itself.
    pub case: &'a Case,
    /// How ranks exist.
    pub mode: Mode,
    /// What all cases of the run share.
    pub config: &'a RunConfig,
    /// Where everything lies in a heap: the case's own plan.
    pub plan: &'a HeapPlan,
    /// By call, the object that runs in it.
    pub objects: Vec<Object>,
    /// By call, the launches of its ranks.
    pub jobs: Vec<Job>,
    /// Bytes of all heaps that memory backs.
    pub heap_bytes: u64,
    /// Whether ranks are in the kernel at once.
    pub together: bool,
    /// Whether a rank's next call may begin when its own has ended, whatever the other ranks do.
    pub overlaps: bool,
}

/// Why a case is not attempted.
#[derive(Debug)]
pub enum Refusal {
    /// It cannot run here.
    Unsupported(Reason),
    /// Its kernel or its launch is wrong already.
    Wrong {
        /// What is wrong.
        finding: Box<Finding>,
        /// The hash of the source, where something of it was built.
        source_sha256: String,
    },
}

/// Which of its builds a case is admitted with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observe {
    /// The one that reports accesses only where ranks are in the kernel at once.
    WhereNeeded,
    /// The one that reports accesses.
    Always,
}

/// Builds a case's objects and resolves its launches; how its heaps lie, it knows already.
///
/// # Errors
/// See [`Refusal`].
pub fn admit<'a>(
    case: &'a Case,
    mode: Mode,
    config: &'a RunConfig,
    observe: Observe,
) -> Result<Admitted<'a>, Refusal> {
    if let Some(reason) = unsupported(case, mode, config) {
        return Err(Refusal::Unsupported(reason));
    }
    let mut source_sha256 = String::new();
    let wrong = |kind, call, error: String, source_sha256: &str| Refusal::Wrong {
        finding: Box::new(Finding::event(kind, None, call, error)),
        source_sha256: source_sha256.to_owned(),
    };
    let plan: &HeapPlan = &case.plan;
    if let Some(reason) = does_not_fit(case, config, plan) {
        return Err(Refusal::Unsupported(reason));
    }
    let together = together(case, mode, config);
    // A kernel that waits may poll with plain volatile loads: only observed builds see that.
    let build = config.builder.build(together || observe == Observe::Always);
    let (mut objects, mut jobs) = (Vec::new(), Vec::new());
    for call in 0..case.problem.calls.len() {
        let object = config.builder.object(case, call, build).map_err(|error| {
            wrong(FindingKind::CompileFailed, None, error.to_string(), &source_sha256)
        })?;
        source_sha256.clone_from(&object.source_sha256);
        let job = Job::new(case, plan, call, &object).map_err(|error| {
            wrong(FindingKind::LaunchMismatch, Some(call), error.to_string(), &source_sha256)
        })?;
        objects.push(object);
        jobs.push(job);
    }
    let heap_bytes = heap_bytes(case, plan);
    let overlaps = overlaps(case, config, plan);
    Ok(Admitted { case, mode, config, plan, objects, jobs, heap_bytes, together, overlaps })
}

impl Admitted<'_> {
    /// Whether one process hosts all ranks.
    pub fn alone(&self) -> bool {
        self.mode == Mode::Logical
    }

    /// How many processes host the ranks.
    pub fn processes(&self) -> usize {
        if self.alone() { 1 } else { self.case.problem.world as usize }
    }

    /// Makes room on all ranks for heaps and for what calls leave in them.
    ///
    /// # Errors
    /// No rank process can be had.
    pub fn reserve(&self, ranks: &mut dyn Ranks) -> Result<(), PoolError> {
        let parts = if self.overlaps { Borders::parts(self.jobs.len() as u32) } else { 1 };
        ranks.reserve(self.case.problem.world, parts * self.plan.bytes, self.processes())
    }

    /// How long a launch may take.
    pub fn patience(&self) -> Duration {
        patience(self.config.timeout, self.case, self.heap_bytes)
    }

    /// What findings about a call refer to.
    pub fn context(&self, call: usize) -> Context<'_> {
        let source = self.case.kernel.source();
        Context {
            problem: &self.case.problem,
            plan: self.plan,
            call,
            object: &self.objects[call].path,
            source_name: source.map_or("none", |source| &source.name),
            source_path: source.map_or("none".as_ref(), |source| &source.path),
            one_rank_a_process: !self.alone(),
            waits: self.case.waits(),
        }
    }
}

/// Whether ranks run at once: they must where they wait for each other, and may where the user
/// wants to see races.
fn together(case: &Case, mode: Mode, config: &RunConfig) -> bool {
    let observable = config.capabilities().observes_accesses;
    case.waits() || (mode == Mode::Logical && config.schedules.everywhere && observable)
}

/// Whether calls of a case may overlap: its kernel waits for its peers and says nothing else, hosts can keep
/// what each call leaves, and there is more than one call.
fn overlaps(case: &Case, config: &RunConfig, plan: &HeapPlan) -> bool {
    let calls = case.problem.calls.len() as u64;
    let kept = plan.bytes * u64::from(case.problem.world) * Borders::parts(calls as u32);
    config.capabilities().overlaps_calls
        && case.waits()
        && case.kernel.manifest.overlap
        && calls > 1
        && plan.gaps(&case.problem).is_empty()
        && kept <= MOST_KEPT
}

fn unsupported(case: &Case, mode: Mode, config: &RunConfig) -> Option<Reason> {
    if mode == Mode::Host {
        let needed = "the user's own program (rankcheck exec, or pytest)";
        return Some(Reason::new(needed, "a run of rankcheck's own"));
    }
    let missing = || {
        let missing = config.builder.missing_code(&case.kernel)?;
        Some(Reason::new(missing.needed, missing.found))
    };
    let unsupported = case.unsupported(config.target.device()).or_else(missing);
    unsupported.or_else(|| sharing_gpus(case, mode, config))
}

/// Kernels that wait for each other in processes of their own crawl where they share a GPU: it
/// gives each of them a turn of milliseconds. Only scenarios that say so do that.
fn sharing_gpus(case: &Case, mode: Mode, config: &RunConfig) -> Option<Reason> {
    let world = case.problem.world;
    let mut gpus = config.target.gpus_of(world, world as usize);
    gpus.sort_unstable();
    gpus.dedup();
    let shared = mode == Mode::Process && !gpus.is_empty() && gpus.len() < world as usize;
    (shared && case.waits() && !case.shares_gpu).then(|| {
        let needed =
            format!("{world} GPUs, or a scenario with `shares_gpu: true` (ranks share a GPU)");
        Reason::new(needed, gpus.len().to_string())
    })
}

fn heap_bytes(case: &Case, plan: &HeapPlan) -> u64 {
    plan.backed_bytes(&case.problem) * u64::from(case.problem.world)
}

fn does_not_fit(case: &Case, config: &RunConfig, plan: &HeapPlan) -> Option<Reason> {
    let unbacked = !plan.gaps(&case.problem).is_empty();
    if unbacked && !config.capabilities().leaves_gaps_unbacked {
        return Some(Reason::new(
            "gaps between rows that no memory backs",
            "a GPU, whose memory has none",
        ));
    }
    let (bytes, budget) = (heap_bytes(case, plan), config.budget.total());
    if bytes > budget {
        return Some(Reason::new(
            format!("{} for the heaps of {} ranks", show_bytes(bytes), case.problem.world),
            format!("{} that may be used", show_bytes(budget)),
        ));
    }
    let (found, most) = once::too_many(&case.problem, plan).filter(|_| case.write_once)?;
    let needed = format!("at most {most} elements of outputs (write_once)");
    Some(Reason::new(needed, found.to_string()))
}
