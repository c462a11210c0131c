//! The way of a case: plan, build, then for every order fill, launch, judge.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use collectives::fill::mix;
use collectives::{Finding, FindingKind, HeapPlan, Rank};
use device::WatchedByte;
use kernels::{Build, DeviceName, Object};
use scenario::{Case, Mode, Reason};
use simt::{End, Outcome, Recorded, ThreadId};

use crate::attribution;
use crate::blank::{blank, device_lost, not_run};
use crate::builder::Builder;
use crate::findings::{Asked, Context, launch_mismatch};
use crate::job::Job;
use crate::orders::{self, Effort, Orders};
use crate::sanitizer;
use crate::schedules::{Schedules, Strategy, Way, show_turns};
use crate::trace;
use crate::write_once;
use ranks::budget::{Budget, show_bytes};
use ranks::command::{Command, Reply, Start};
use ranks::pool::{Pool, PoolError};
use ranks::target::Target;
use verdict::{CaseResult, Effective, Verdict};

/// Besides the time-out, a launch may take a second for this many bytes of heaps.
const BYTES_A_SECOND: u64 = 50 << 20;
/// Pools that hold more than this are emptied after a case.
const HELD_BYTES: u64 = 2 << 30;

/// What all cases of a run share.
#[derive(Debug)]
pub struct Surroundings {
    /// Builds objects.
    pub builder: Builder,
    /// What it runs on.
    pub target: Target,
    /// Set when the device is lost; nothing more runs then.
    pub lost: AtomicBool,
    /// Memory for heaps.
    pub budget: Budget,
    /// How long a launch may take, sizes aside.
    pub timeout: Option<Duration>,
    /// Every permutation of ranks, whatever it costs.
    pub all_orders: bool,
    /// Under which schedules ranks run that are in the kernel at once.
    pub schedules: Schedules,
    /// Where failing cases leave their heaps.
    pub keep_heaps: Option<std::path::PathBuf>,
    /// Arguments that a replay needs besides path, id, mode and seed.
    pub replay_arguments: String,
    /// Commit of the working tree.
    pub commit: Option<String>,
    /// Whether it differs.
    pub dirty: Option<bool>,
}

/// No launch may take longer, whatever is said.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(24 * 3600);
/// How long a launch may take where nobody says.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Runs a case in a mode and judges it. Never fails: what goes wrong is in the verdict.
pub fn run_case(case: &Case, mode: Mode, pool: &mut Pool, around: &Surroundings) -> CaseResult {
    let started = Instant::now();
    let mut result = blank(case, mode, around);
    // A kernel that waits may poll with plain volatile loads: only observed builds see that.
    let build = match around.builder.device() {
        DeviceName::Cpu if together(case, mode, around) => Build::Observed,
        DeviceName::Cpu => Build::Fast,
        gpu => Build::Gpu(gpu),
    };
    match Run::new(case, mode, around, build, &mut result) {
        Err(Ended::Unsupported(reason)) => {
            result.verdict = Verdict::Unsupported;
            result.reason = Some(reason);
        }
        Err(Ended::Finding(finding)) => result.findings.push(*finding),
        Ok(mut run) => match run.all_orders(pool) {
            Ok(()) => {}
            Err(PoolError::Interrupted) => return not_run(case, mode, around),
            Err(PoolError::DoesNotFit { needed, found }) => {
                result.verdict = Verdict::Unsupported;
                result.reason = Some(Reason::new(needed, found));
            }
            Err(PoolError::DeviceLost(why)) => {
                around.lost.store(true, Ordering::Relaxed);
                return device_lost(case, mode, around, why);
            }
            Err(error) => {
                let kind = FindingKind::MissingRank;
                result.findings.push(Finding::event(kind, None, None, error.to_string()));
            }
        },
    }
    if result.verdict == Verdict::Pass && !result.findings.is_empty() {
        result.verdict = Verdict::Fail;
    }
    // On a GPU a kernel that ended cannot have harmed its process.
    let harmless = mode != Mode::Host
        && around.target.device() != DeviceName::Cpu
        && !result.findings.iter().any(|finding| is_loss(finding.kind));
    if result.verdict == Verdict::Fail && !harmless {
        pool.stop();
    }
    if pool.held_bytes() > HELD_BYTES {
        // Losing the memory of an empty pool would stop the run anyway.
        let _ = pool.renew();
    }
    result.duration_s = started.elapsed().as_secs_f64();
    result
}

/// Whether ranks run at once: they must where they wait for each other, and may where the user
/// wants to see races.
fn together(case: &Case, mode: Mode, around: &Surroundings) -> bool {
    let observable = around.builder.device() == DeviceName::Cpu;
    case.waits() || (mode == Mode::Logical && around.schedules.everywhere && observable)
}

/// Kernels that wait for each other in processes of their own crawl where they share a GPU: it
/// gives each of them a turn of milliseconds. Only scenarios that say so do that.
fn sharing_gpus(case: &Case, mode: Mode, around: &Surroundings) -> Option<Reason> {
    let world = case.problem.world;
    let mut gpus = around.target.gpus_of(world, world as usize);
    gpus.sort_unstable();
    gpus.dedup();
    let shared = mode == Mode::Process && !gpus.is_empty() && gpus.len() < world as usize;
    (shared && case.waits() && !case.shares_gpu).then(|| {
        let needed =
            format!("{world} GPUs, or a scenario with `shares_gpu: true` (ranks share a GPU)");
        Reason::new(needed, gpus.len().to_string())
    })
}

/// Why a case ends before it runs.
pub(crate) enum Ended {
    Unsupported(Reason),
    Finding(Box<Finding>),
}

/// A case on its way.
pub(crate) struct Run<'a> {
    pub(crate) case: &'a Case,
    mode: Mode,
    pub(crate) around: &'a Surroundings,
    pub(crate) plan: HeapPlan,
    /// By call.
    objects: Vec<Object>,
    pub(crate) jobs: Vec<Job>,
    pub(crate) heap_bytes: u64,
    /// Names the schedule, where ranks are in the kernel at once.
    pub(crate) seed: u64,
    /// Which of those that it leaves open.
    pub(crate) way: Way,
    /// Hash of the interleavings since the first call.
    pub(crate) schedule_hash: u64,
    /// How they went, by call, where the way says so.
    pub(crate) recorded: Vec<Recorded>,
    /// Threads that the findings of the last launch are about.
    pub(crate) involved: Vec<ThreadId>,
    /// Bytes whose writers are wanted (logical mode, observed objects).
    watched: Vec<WatchedByte>,
    /// Whether every element of an output is watched, for none may be written twice.
    once: bool,
    /// Who wrote them in the last launch.
    pub(crate) writes: Vec<Option<simt::Write>>,
    pub(crate) result: &'a mut CaseResult,
}

impl<'a> Run<'a> {
    pub(crate) fn new(
        case: &'a Case,
        mode: Mode,
        around: &'a Surroundings,
        build: Build,
        result: &'a mut CaseResult,
    ) -> Result<Self, Ended> {
        if mode == Mode::Host {
            let needed = "the user's own program (rankcheck exec, or pytest)";
            return Err(Ended::Unsupported(Reason::new(needed, "a run of rankcheck's own")));
        }
        let device = around.builder.device();
        let missing = || around.builder.missing_code(&case.kernel);
        let missing = || missing().map(|missing| Reason::new(missing.needed, missing.found));
        let shared = || sharing_gpus(case, mode, around);
        if let Some(reason) = case.unsupported(device).or_else(missing).or_else(shared) {
            return Err(Ended::Unsupported(reason));
        }
        let failed = |kind, call, error: String| {
            Ended::Finding(Box::new(Finding::event(kind, None, call, error)))
        };
        let plan = HeapPlan::new(&case.problem)
            .map_err(|error| failed(FindingKind::LaunchMismatch, None, error.to_string()))?;
        let gaps = plan.gaps(&case.problem);
        if !gaps.is_empty() && around.builder.device() != DeviceName::Cpu {
            return Err(Ended::Unsupported(Reason::new(
                "gaps between rows that no memory backs",
                "a GPU, whose memory has none",
            )));
        }
        let heap_bytes = plan.backed_bytes(&case.problem) * u64::from(case.problem.world);
        if heap_bytes > around.budget.total() {
            return Err(Ended::Unsupported(Reason::new(
                format!("{} for the heaps of {} ranks", show_bytes(heap_bytes), case.problem.world),
                format!("{} that may be used", show_bytes(around.budget.total())),
            )));
        }
        if let Some((found, most)) =
            write_once::too_many(&case.problem, &plan).filter(|_| case.write_once)
        {
            let needed = format!("at most {most} elements of outputs (write_once)");
            return Err(Ended::Unsupported(Reason::new(needed, found.to_string())));
        }
        let mut objects = Vec::new();
        let mut jobs = Vec::new();
        for call in 0..case.problem.calls.len() {
            let object = around.builder.object(case, call, build);
            let object = object
                .map_err(|error| failed(FindingKind::CompileFailed, None, error.to_string()))?;
            let job = Job::new(case, &plan, call, &object);
            let job = job.map_err(|error| {
                failed(FindingKind::LaunchMismatch, Some(call), error.to_string())
            })?;
            result.source.sha256.clone_from(&object.source_sha256);
            objects.push(object);
            jobs.push(job);
        }
        let (watched, writes) = (Vec::new(), Vec::new());
        let (seed, schedule_hash) = (0, 0);
        Ok(Run {
            case,
            mode,
            around,
            plan,
            objects,
            jobs,
            heap_bytes,
            seed,
            way: Way::Seed,
            schedule_hash,
            recorded: Vec::new(),
            involved: Vec::new(),
            watched,
            once: false,
            writes,
            result,
        })
    }

    /// The same case once more, built to report its accesses, to find out who wrote what.
    fn attribute(
        &self,
        pool: &mut Pool,
        order: &[Rank],
        findings: &mut [Finding],
    ) -> Result<(), PoolError> {
        // Only the CPU's objects report their accesses.
        let cpu = self.around.builder.device() == DeviceName::Cpu;
        if !cpu || !attribution::is_wanted(findings) {
            return Ok(());
        }
        let watched = attribution::watched(findings);
        let mut scratch = self.result.clone();
        let (case, around) = (self.case, self.around);
        let run = Run::new(case, Mode::Logical, around, Build::Observed, &mut scratch);
        // What was built fast can be built observed; if not, the finding stands without a writer.
        let Ok(mut observed) = run else { return Ok(()) };
        observed.watched = watched;
        observed.seed = self.seed;
        observed.way = self.way.clone();
        attribution::attribute(&mut observed, pool, order, findings)
    }

    /// Every order or schedule; findings are those of the first that fails.
    fn all_orders(&mut self, pool: &mut Pool) -> Result<(), PoolError> {
        let share = self.around.budget.take(self.heap_bytes);
        let _share = share.expect("checked against the whole budget");
        let world = self.case.problem.world;
        let processes = if self.mode == Mode::Process { world as usize } else { 1 };
        pool.reserve(world, self.plan.bytes, processes)?;
        let effort = match self.around.builder.device() {
            _ if self.around.all_orders => Effort::All,
            DeviceName::Cpu => Effort::Affordable,
            DeviceName::Cuda | DeviceName::Hip => Effort::Few,
        };
        let mut all = Orders::new(&self.case.problem, self.heap_bytes, effort);
        match (self.mode, together(self.case, self.mode, self.around)) {
            (Mode::Logical, true) => match self.around.schedules.strategy {
                Strategy::Seeded => self.all_schedules(pool, &all.list[0])?,
                Strategy::Exhaustive => self.all_interleavings(pool, &all.list[0])?,
            },
            (Mode::Logical, false) => self.one_after_another(pool, &all.list)?,
            (Mode::Process | Mode::Host, _) => {
                all.list.truncate(1);
                let findings = self.one_order(pool, &all.list[0])?;
                let passed = findings.is_empty();
                self.take_first(pool, &all.list[0], findings)?;
                let delay = self.around.schedules.delay.filter(|_| passed && self.case.waits());
                if let Some(time) = delay {
                    self.all_delays(pool, &all.list[0], time)?;
                }
            }
        }
        let cpu = self.around.builder.device() == DeviceName::Cpu;
        if self.case.write_once && cpu && self.result.findings.is_empty() {
            self.written_once(pool, &all.list[0])?;
        }
        self.result.not_proved = self.not_proved(all.complete);
        Ok(())
    }

    /// The same case once more, logical and observed: nobody may write an element twice.
    fn written_once(&mut self, pool: &mut Pool, order: &[Rank]) -> Result<(), PoolError> {
        let mut scratch = self.result.clone();
        let (case, around) = (self.case, self.around);
        match Run::new(case, Mode::Logical, around, Build::Observed, &mut scratch) {
            Ok(mut observed) => {
                observed.once = true;
                self.result.findings = observed.one_order(pool, order)?;
            }
            Err(Ended::Finding(finding)) => self.result.findings.push(*finding),
            Err(Ended::Unsupported(reason)) => {
                self.result.verdict = Verdict::Unsupported;
                self.result.reason = Some(reason);
            }
        }
        Ok(())
    }

    /// Ranks one after another, in every order of the list.
    fn one_after_another(&mut self, pool: &mut Pool, list: &[Vec<Rank>]) -> Result<(), PoolError> {
        let (mut passed, mut failed) = (Vec::new(), Vec::new());
        for order in list {
            self.result.orders += 1;
            let findings = self.one_order(pool, order)?;
            if findings.is_empty() {
                passed.push(orders::show(order));
                continue;
            }
            if failed.is_empty() {
                self.take_first(pool, order, findings)?;
            }
            failed.push(orders::show(order));
            if self.result.findings.iter().any(|finding| is_loss(finding.kind)) {
                break;
            }
        }
        if !failed.is_empty() && !passed.is_empty() {
            let text = format!(
                "the result depends on the order in which ranks run: right in {} ({}), wrong in {} ({})",
                passed.len(),
                first_few(&passed),
                failed.len(),
                first_few(&failed),
            );
            self.result.findings.push(Finding::event(
                FindingKind::OrderDependent,
                None,
                None,
                text,
            ));
        }
        Ok(())
    }

    /// All ranks at once, under every schedule.
    fn all_schedules(&mut self, pool: &mut Pool, order: &[Rank]) -> Result<(), PoolError> {
        let observed = self.around.builder.device() == DeviceName::Cpu;
        self.result.race = self.around.schedules.race && observed;
        if let Some(turns) = &self.around.schedules.turns {
            self.way = Way::Turns(turns.clone());
        }
        // A GPU makes its own schedule: one run, whatever was asked for.
        let runs = if observed { usize::MAX } else { 1 };
        for seed in self.around.schedules.seeds().take(runs) {
            self.seed = seed;
            self.result.schedules += 1;
            let findings = self.one_order(pool, order)?;
            let hash = format!("{:016x}", self.schedule_hash);
            if findings.is_empty() {
                if self.result.failing_schedule.is_none() {
                    self.result.schedule_hash = Some(hash);
                }
                continue;
            }
            self.result.schedules_failed += 1;
            let lost = findings.iter().any(|finding| loses_process(finding.kind));
            if self.result.failing_schedule.is_none() {
                self.result.failing_schedule = Some(seed);
                self.result.schedule_hash = Some(hash);
                if observed {
                    self.result.replay += &format!(" --schedule-seed {seed}");
                }
                if let Way::Turns(turns) = &self.way {
                    let turns = show_turns(turns);
                    self.result.replay += &format!(" --switches '{turns}'");
                    self.result.switches = Some(turns);
                }
                self.take_first(pool, order, findings)?;
            } else {
                self.add_new_kinds(findings);
            }
            if lost {
                break;
            }
        }
        Ok(())
    }

    /// Findings of the first order or schedule that fails, with their writers.
    pub(crate) fn take_first(
        &mut self,
        pool: &mut Pool,
        order: &[Rank],
        mut findings: Vec<Finding>,
    ) -> Result<(), PoolError> {
        if findings.is_empty() {
            return Ok(());
        }
        self.keep_heaps(pool)?;
        self.attribute(pool, order, &mut findings)?;
        self.result.findings = findings;
        Ok(())
    }

    /// What a later schedule found that none before it had.
    fn add_new_kinds(&mut self, findings: Vec<Finding>) {
        let known: Vec<FindingKind> = self.result.findings.iter().map(|f| f.kind).collect();
        for mut finding in findings.into_iter().filter(|finding| !known.contains(&finding.kind)) {
            finding.explanation += &format!(" (--schedule-seed {})", self.seed);
            self.result.findings.push(finding);
        }
    }

    /// The whole sequence of calls in one order, up to the first call that is wrong.
    pub(crate) fn one_order(
        &mut self,
        pool: &mut Pool,
        order: &[Rank],
    ) -> Result<Vec<Finding>, PoolError> {
        self.schedule_hash = 0;
        self.recorded.clear();
        let mut loaded: Option<&Object> = None;
        for call in 0..self.case.problem.calls.len() {
            let object = self.objects[call].clone();
            if loaded.is_none_or(|loaded| loaded.sha256 != object.sha256) {
                let findings = self.prepare(pool, order, call, &object)?;
                if !findings.is_empty() {
                    return Ok(findings);
                }
            }
            pool.fill(&self.case.problem, &self.plan, call)?;
            let mut findings = self.launch(pool, order, call)?;
            if !findings.iter().any(|finding| is_loss(finding.kind)) {
                let mut wrong = pool.compare(&self.case.problem, &self.plan, call)?;
                if wrong.is_empty() {
                    findings.iter_mut().for_each(outputs_were_right);
                }
                if findings.iter().any(|finding| finding.kind == FindingKind::DataRace) {
                    // What stands in a racing place is a matter of chance, and looks like anything.
                    wrong.iter_mut().for_each(|wrong| wrong.looks_like = None);
                }
                findings.extend(wrong);
            }
            if self.once && findings.is_empty() {
                let watched = write_once::watched(&self.case.problem, &self.plan, call);
                findings = write_once::findings(&self.context(call), &watched, &self.writes);
            }
            if !findings.is_empty() {
                return Ok(findings);
            }
            loaded = Some(&self.objects[call]);
        }
        for process in self.all_processes(order) {
            pool.tell(process, &Command::Judged);
        }
        Ok(Vec::new())
    }

    /// The processes that take part in some call.
    fn all_processes(&self, order: &[Rank]) -> Vec<usize> {
        match self.mode {
            Mode::Logical => vec![0],
            Mode::Process | Mode::Host => order.iter().map(|rank| rank.index()).collect(),
        }
    }

    /// The processes that take part in a call.
    fn processes(&self, call: usize, order: &[Rank]) -> Vec<usize> {
        match self.mode {
            Mode::Logical => vec![0],
            Mode::Process | Mode::Host => {
                self.jobs[call].in_order(order).iter().map(|launch| launch.rank.index()).collect()
            }
        }
    }

    fn prepare(
        &self,
        pool: &mut Pool,
        order: &[Rank],
        call: usize,
        object: &Object,
    ) -> Result<Vec<Finding>, PoolError> {
        let world = self.case.problem.world;
        let alone = self.mode == Mode::Logical;
        let processes = self.all_processes(order);
        for process in &processes {
            let hosted = if alone { order.to_vec() } else { vec![Rank(*process as u32)] };
            let command = Command::Prepare {
                hosted,
                alone,
                heaps: pool.handles(world),
                heap_bytes: self.plan.bytes,
                gaps: self.plan.gaps(&self.case.problem),
                object: object.path.display().to_string(),
                symbols: object.symbols.clone(),
            };
            pool.tell(*process, &command);
        }
        let replies = pool.gather(&processes, self.patience())?;
        let context = self.context(call);
        Ok(replies
            .iter()
            .zip(&processes)
            .filter_map(|(reply, process)| match reply {
                Ok(Reply::Prepared) => None,
                Ok(Reply::Failed(reason)) => {
                    Some(self.refused(FindingKind::CompileFailed, *process, call, reason))
                }
                Ok(other) => Some(self.unexpected(*process, call, other)),
                Err(loss) => Some(context.lost(loss)),
            })
            .collect())
    }

    fn launch(
        &mut self,
        pool: &mut Pool,
        order: &[Rank],
        call: usize,
    ) -> Result<Vec<Finding>, PoolError> {
        let watched = match self.once {
            true => write_once::watched(&self.case.problem, &self.plan, call),
            false => self.watched.clone(),
        };
        let launches = self.jobs[call].in_order(order);
        let mut options = self.around.schedules.clone();
        options.residency = options.residency.or(self.case.residency);
        let together = together(self.case, self.mode, self.around);
        let alone = self.mode == Mode::Logical;
        let interleaving = |rank: Rank| {
            let plan = self.way.plan(call, rank);
            self.jobs[call].interleaving(together, alone, &options, self.seed, plan)
        };
        let processes = self.processes(call, order);
        self.result.launches += launches.len() as u64;
        match self.mode {
            Mode::Logical => {
                let interleaving = interleaving(Rank(0));
                pool.tell(0, &Command::Launch { launches, interleaving, start: None, watched });
            }
            Mode::Process | Mode::Host => {
                let (met, ranks) = (pool.met_so_far(), launches.len() as u32);
                let start = Some(Start {
                    ready_at: met.wrapping_add(ranks),
                    inside_at: met.wrapping_add(2 * ranks),
                });
                for launch in launches {
                    let process = launch.rank.index();
                    let launches = vec![launch];
                    let (watched, interleaving) = (Vec::new(), interleaving(Rank(process as u32)));
                    pool.tell(process, &Command::Launch { launches, interleaving, start, watched });
                }
            }
        }
        let replies = pool.gather(&processes, self.patience())?;
        self.result.kernel_s += longest(pool, &processes);
        let mut findings = Vec::new();
        let mut outcomes = Vec::new();
        let mut writes = Vec::new();
        let mut hash = self.schedule_hash;
        let (mut recorded, mut involved) = (Vec::new(), Vec::new());
        let context = self.context(call);
        let sanitized = self.around.target.sanitizer().is_some();
        for (reply, process) in replies.into_iter().zip(&processes) {
            match reply {
                Ok(Reply::Finished(launched)) => {
                    findings.extend(context.outcome(&launched.outcome, &launched.flags));
                    findings.extend(launched.races.iter().map(|race| context.race(race)));
                    hash = mix(hash ^ launched.outcome.schedule_hash);
                    involved = trace::involved(&launched);
                    recorded.extend(launched.recorded);
                    writes = launched.writes;
                    outcomes.push(launched.outcome);
                }
                Ok(Reply::Failed(reason)) => {
                    findings.push(self.refused(
                        FindingKind::LaunchMismatch,
                        *process,
                        call,
                        &reason,
                    ));
                }
                Ok(Reply::DoesNotFit { needed, found }) => {
                    return Err(PoolError::DoesNotFit { needed, found });
                }
                Ok(Reply::Faulted { fault, rank, text }) => {
                    let own = (self.mode == Mode::Process).then_some(Rank(*process as u32));
                    findings.push(context.faulted(fault, rank.or(own), &text, sanitized));
                }
                Ok(other) => findings.push(self.unexpected(*process, call, &other)),
                Err(loss) => findings.push(context.lost(&loss)),
            }
        }
        self.writes = writes;
        self.schedule_hash = hash;
        self.recorded.extend(recorded);
        self.involved = involved;
        if sanitized {
            for process in &processes {
                let rank = (self.mode == Mode::Process).then_some(Rank(*process as u32));
                findings.extend(sanitizer::findings(&pool.printed(*process), rank, call));
            }
        }
        // The rank that was lost first comes first, those that it took along behind it.
        findings.sort_by_key(|finding| finding.kind == FindingKind::MissingRank);
        findings.extend(self.lost_bystanders(pool, &processes, call));
        if findings.is_empty() {
            findings.extend(self.overlap(pool, &processes, call));
            findings.extend(self.as_asked(&outcomes, call));
        }
        Ok(findings)
    }

    /// Sees that every rank ran what was asked, and notes what ran.
    fn as_asked(&mut self, outcomes: &[Outcome], call: usize) -> Vec<Finding> {
        let problem = &self.case.problem;
        let shape = &problem.calls[call];
        let mut findings = Vec::new();
        for outcome in outcomes.iter().filter(|outcome| outcome.end == End::Finished) {
            for rank in &outcome.ranks {
                let launches = &self.jobs[call].launches;
                let launch = launches.iter().find(|launch| launch.rank == rank.rank);
                let launch = launch.expect("outcomes are of the launches");
                let asked = Asked {
                    tile: shape.tile,
                    blocks: launch.grid,
                    threads: launch.threads,
                    group_size: shape.group.size(),
                };
                let complete = u64::from(launch.grid) * u64::from(launch.threads);
                let did_not_run = |what: String| {
                    let kind = FindingKind::KernelDidNotRun;
                    Finding::event(kind, Some(rank.rank), Some(call), what)
                };
                match rank.record {
                    Some(record) => {
                        findings.extend(launch_mismatch(&asked, &record, rank.rank, call));
                    }
                    None if self.objects[call].records_launch => findings.push(did_not_run(format!(
                        "rank {}: the kernel wrote no launch record, though its source has RC_RECORD_LAUNCH",
                        rank.rank
                    ))),
                    None => {}
                }
                if rank.threads_finished != complete {
                    findings.push(did_not_run(format!(
                        "rank {}: {} of {complete} threads ran",
                        rank.rank, rank.threads_finished
                    )));
                }
                let (tile, source) = match rank.record {
                    Some(record) => (
                        collectives::Tile { m: record.tile_m.into(), n: record.tile_n.into() },
                        "kernel",
                    ),
                    None if self.around.builder.device() == DeviceName::Cpu => {
                        (shape.tile, "executor")
                    }
                    None => (shape.tile, "driver"),
                };
                self.result.calls[call].effective = Some(Effective {
                    entry: self.case.variant().entry.clone(),
                    tile,
                    blocks: rank.record.map_or(launch.grid, |record| record.blocks),
                    threads: rank.record.map_or(launch.threads, |record| record.threads),
                    group_size: rank.record.map_or(asked.group_size, |record| record.group_size),
                    source: source.into(),
                });
            }
        }
        findings
    }

    /// Processes of ranks that take no part in the call, and that are gone all the same.
    fn lost_bystanders(&self, pool: &mut Pool, active: &[usize], call: usize) -> Vec<Finding> {
        if self.mode == Mode::Logical {
            return Vec::new();
        }
        let idle = (0..self.case.problem.world as usize).filter(|p| !active.contains(p));
        let losses = idle.filter_map(|process| pool.lost(process));
        losses
            .map(|loss| {
                let mut finding = self.context(call).lost(&loss);
                finding.kind = FindingKind::MissingRank;
                finding.explanation += "; it takes no part in this call";
                finding
            })
            .collect()
    }

    /// Whether all ranks were inside the kernel at one time; kernels that wait must have been.
    fn overlap(&mut self, pool: &Pool, processes: &[usize], call: usize) -> Option<Finding> {
        if self.mode == Mode::Logical {
            return None;
        }
        let inside: Vec<(u64, u64)> =
            processes.iter().map(|process| pool.board(*process).inside()).collect();
        let last_in = inside.iter().map(|(entered, _)| *entered).max()?;
        let first_out = inside.iter().map(|(_, left)| *left).min()?;
        let overlapped = last_in <= first_out;
        self.result.overlapped = Some(self.result.overlapped.unwrap_or(true) && overlapped);
        (self.case.waits() && !overlapped).then(|| {
            let kind = FindingKind::MissingRank;
            let text = "the kernel waits for other ranks, but they were not inside it at one time";
            Finding::event(kind, None, Some(call), text)
        })
    }

    pub(crate) fn context(&self, call: usize) -> Context<'_> {
        Context {
            problem: &self.case.problem,
            plan: &self.plan,
            call,
            object: &self.objects[call].path,
            source_name: self.case.kernel.source().map_or("none", |source| &source.name),
            source_path: self.case.kernel.source().map_or("none".as_ref(), |source| &source.path),
            one_rank_a_process: self.mode == Mode::Process,
            waits: self.case.waits(),
        }
    }

    fn patience(&self) -> Duration {
        patience(self.around.timeout, self.case, self.heap_bytes)
    }

    fn refused(&self, kind: FindingKind, process: usize, call: usize, reason: &str) -> Finding {
        let rank = (self.mode == Mode::Process).then_some(Rank(process as u32));
        Finding::event(kind, rank, Some(call), reason)
    }

    fn unexpected(&self, process: usize, call: usize, reply: &Reply) -> Finding {
        let what = match reply {
            Reply::Hello { .. } => "a greeting",
            Reply::Prepared => "that it is ready",
            Reply::Finished(_) => "that a launch has ended",
            Reply::DoesNotFit { .. } => "that ranks do not fit the device",
            Reply::Faulted { text, .. } | Reply::Failed(text) => text,
        };
        let text = format!(
            "it said {what} when that was not asked for (was the rank process forked by its kernel?)"
        );
        self.refused(FindingKind::ProtocolError, process, call, &text)
    }

    fn keep_heaps(&self, pool: &mut Pool) -> Result<(), PoolError> {
        let Some(folder) = &self.around.keep_heaps else { return Ok(()) };
        let name = self.case.id.replace('/', "_");
        for rank in self.case.problem.ranks() {
            let heap = pool.copy_of_heap(rank, self.plan.bytes)?;
            let file = folder.join(format!("{name}.{}.rank{rank}.heap", self.mode));
            if let Err(error) = std::fs::write(&file, heap) {
                eprintln!("cannot keep the heap {}: {error}", file.display());
            }
        }
        Ok(())
    }

    /// What a pass on GPUs leaves open, and what it does not.
    fn on_gpus(&self, open: &mut Vec<String>) {
        let mut used = self.result.gpus.clone();
        used.sort_unstable();
        used.dedup();
        if used.len() == self.result.gpus.len() && used.len() > 1 {
            open.retain(|what| !what.starts_with("transport"));
        }
        open.push("data races (a GPU does not report accesses)".into());
        open.push("writes far from a heap that hit other memory of the GPU".into());
    }

    /// What a pass of this case leaves open.
    fn not_proved(&self, every_order: bool) -> Vec<String> {
        let mut open = vec![
            "transport between GPUs".to_owned(),
            "the host code that launches the kernel in production".to_owned(),
        ];
        if !self.result.gpus.is_empty() {
            self.on_gpus(&mut open);
        }
        if self.case.write_once && !self.result.gpus.is_empty() {
            open.push(
                "that no element is written twice (only the CPU's objects report accesses)".into(),
            );
        }
        if !self.plan.gaps(&self.case.problem).is_empty() {
            open.push(
                "reads and writes near rows only: gaps between rows are judged by fault".into(),
            );
        }
        match (self.mode, together(self.case, self.mode, self.around)) {
            (Mode::Logical, false) => {
                open.push("concurrent ranks (they ran one after another)".into());
                if !every_order {
                    open.push(format!(
                        "orders of ranks beyond the {} that ran",
                        self.result.orders
                    ));
                }
            }
            (Mode::Logical, true) if !self.result.gpus.is_empty() => {
                open.push("interleavings beyond the one that happened".into());
            }
            (Mode::Logical, true) => {
                open.push(match self.result.complete {
                    Some(_) => "late visibility of relaxed and volatile accesses".into(),
                    None => format!("schedules beyond the {} that ran", self.result.schedules),
                });
                if !self.result.race {
                    open.push("data races (--no-race)".into());
                }
            }
            (Mode::Process | Mode::Host, _) => open.push(match self.result.delays {
                0 => "interleavings beyond the one that happened".into(),
                delays => format!(
                    "interleavings beyond those that happened ({} of {delays} delays failed)",
                    self.result.delays_failed
                ),
            }),
        }
        open
    }
}

/// How long a launch on heaps of so many bytes may take.
pub fn patience(stated: Option<Duration>, case: &Case, heap_bytes: u64) -> Duration {
    let stated = stated.or(case.timeout.map(Duration::from_secs));
    stated.unwrap_or(TIMEOUT).min(LONGEST_TIMEOUT)
        + Duration::from_secs(heap_bytes / BYTES_A_SECOND)
}

/// Seconds that the slowest of some processes spent in its last kernel.
fn longest(pool: &Pool, processes: &[usize]) -> f64 {
    let spent = processes.iter().map(|process| {
        let (entered, left) = pool.board(*process).inside();
        left.saturating_sub(entered)
    });
    spent.max().unwrap_or(0) as f64 / 1e9
}

/// Whether a finding means that heaps are not worth judging.
fn is_loss(kind: FindingKind) -> bool {
    matches!(
        kind,
        FindingKind::Crashed
            | FindingKind::Timeout
            | FindingKind::OutOfBounds
            | FindingKind::MisalignedAccess
            | FindingKind::MissingRank
            | FindingKind::ProtocolError
            | FindingKind::Deadlock
            | FindingKind::LaunchMismatch
            | FindingKind::CompileFailed
    )
}

/// Whether a finding means that the process of all ranks is no more.
pub(crate) fn loses_process(kind: FindingKind) -> bool {
    is_loss(kind) && kind != FindingKind::Deadlock
}

/// A race that did no harm this time is the finding that nobody else makes.
fn outputs_were_right(finding: &mut Finding) {
    if finding.kind == FindingKind::DataRace {
        finding.explanation += " (the outputs were right: comparing would have passed)";
    }
}

/// The first three orders as text, and whether there are more.
pub fn first_few(orders: &[String]) -> String {
    let shown: Vec<&str> = orders.iter().take(3).map(String::as_str).collect();
    let more = if orders.len() > 3 { ", .." } else { "" };
    format!("{}{more}", shown.join(" and "))
}
