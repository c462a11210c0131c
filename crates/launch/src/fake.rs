//! Ranks without processes and kernels without a compiler: tests say what each launch does.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use collectives::{Call, HeapPlan, Rank};
use device::{Interleave, Interleaving, Launch, Launched, WatchedByte};
use ipc::{Phase, SharedMemory};
use kernels::{
    Cache, CompileFailure, CompileJob, Compiled, DeviceName, Library, ObjectKind, Toolchain,
};
use ranks::budget::Budget;
use ranks::command::{Command, Reply};
use ranks::heaps::{HeapOwner, SharedHeaps};
use ranks::{Cause, Loss, PoolError, Target};
use scenario::{Case, Mode, ScenarioSource, expand};
use simt::{RankOutcome, ThreadId, Write};
use verdict::CaseResult;

use crate::attempt::Ranks;
use crate::builder::Builder;
use crate::config::RunConfig;
use crate::run_case;
use crate::schedules::Schedules;

/// What a process was asked to launch, and the heaps to do it on.
pub(crate) struct Asked<'a> {
    pub(crate) process: usize,
    /// Which attempt of the case it is, from 0.
    pub(crate) attempt: usize,
    /// Which call of the attempt, from 0.
    pub(crate) call: usize,
    pub(crate) launches: &'a [Launch],
    pub(crate) interleaving: &'a Interleaving,
    pub(crate) watched: &'a [WatchedByte],
    case: &'a Case,
    heaps: Vec<SharedMemory>,
    inside: &'a mut Range<u64>,
}

/// What became of a launch.
pub(crate) enum Did {
    Says(Reply),
    Lost(Loss),
    /// It hangs: it is stopped once another process is lost, else at the deadline.
    NeverAnswers,
    Breaks(PoolError),
}

/// What takes the place of kernels.
type Script<'s> = Box<dyn FnMut(&mut Asked<'_>) -> Did + 's>;

/// Ranks that do with a launch what a script says. The fake keeps the contract of [`Ranks`]: nothing is
/// told before `reserve`, nothing is launched before it is prepared, each process that was told something
/// answers once, and a lost process stays lost until `stop`.
pub(crate) struct FakeRanks<'s> {
    case: &'s Case,
    heaps: SharedHeaps,
    script: Script<'s>,
    /// By process, how many times it was told to prepare, and how many launches came since.
    prepared: Vec<(usize, usize)>,
    said: BTreeMap<usize, Did>,
    inside: Vec<Range<u64>>,
    /// Processes that are gone, and how.
    pub(crate) gone: BTreeMap<usize, Loss>,
    /// Everything that was told, in order.
    pub(crate) told: Vec<(usize, Command)>,
    /// How many times `stop` was called.
    pub(crate) stops: usize,
}

impl<'s> FakeRanks<'s> {
    pub(crate) fn new(
        case: &'s Case,
        script: impl FnMut(&mut Asked<'_>) -> Did + 's,
    ) -> FakeRanks<'s> {
        FakeRanks {
            case,
            heaps: SharedHeaps::new(case.problem.world).unwrap(),
            script: Box::new(script),
            prepared: Vec::new(),
            said: BTreeMap::new(),
            inside: Vec::new(),
            gone: BTreeMap::new(),
            told: Vec::new(),
            stops: 0,
        }
    }

    /// The orders in which ranks were launched, attempt by attempt.
    pub(crate) fn orders(&self) -> Vec<Vec<u32>> {
        self.told
            .iter()
            .filter_map(|(_, command)| match command {
                Command::Launch { launches, .. } => Some(launches),
                _ => None,
            })
            .map(|launches| launches.iter().map(|launch| launch.rank.0).collect())
            .collect()
    }
}

impl Ranks for FakeRanks<'_> {
    fn reserve(&mut self, ranks: u32, bytes: u64, processes: usize) -> Result<(), PoolError> {
        self.heaps.reserve(ranks, &[], bytes)?;
        let more = processes.max(self.prepared.len());
        self.prepared.resize(more, (0, 0));
        self.inside.resize(more, 0..0);
        Ok(())
    }

    fn heaps(&mut self) -> &mut dyn HeapOwner {
        &mut self.heaps
    }

    fn tell(&mut self, process: usize, command: &Command) {
        self.told.push((process, command.clone()));
        if self.gone.contains_key(&process) {
            return;
        }
        let (prepares, launched) = &mut self.prepared[process];
        match command {
            Command::Prepare { .. } => {
                (*prepares, *launched) = (*prepares + 1, 0);
                self.said.insert(process, Did::Says(Reply::Prepared));
            }
            Command::Launch { launches, interleaving, watched, .. } => {
                let attempt = prepares.checked_sub(1).expect("it was told to prepare");
                let memory = self.heaps.memory().iter();
                let open = |heap: &SharedMemory| {
                    SharedMemory::open(heap.fd().try_clone_to_owned().unwrap(), heap.len()).unwrap()
                };
                self.inside[process] = 100..200;
                let mut asked = Asked {
                    process,
                    attempt,
                    call: *launched,
                    launches,
                    interleaving,
                    watched,
                    case: self.case,
                    heaps: memory.map(open).collect(),
                    inside: &mut self.inside[process],
                };
                *launched += 1;
                let did = (self.script)(&mut asked);
                self.said.insert(process, did);
            }
            Command::Copy { .. } => drop(self.said.insert(process, Did::Says(Reply::Copied(None)))),
            Command::Judged => {}
        }
    }

    fn gather(
        &mut self,
        processes: &[usize],
        patience: Duration,
    ) -> Result<Vec<Result<Reply, Loss>>, PoolError> {
        let mut answers = Vec::new();
        let mut one_lost = false;
        for process in processes {
            let did = match self.gone.get(process) {
                Some(loss) => Did::Lost(loss.clone()),
                None => self.said.remove(process).expect("it was told something"),
            };
            one_lost |= matches!(did, Did::Lost(_));
            answers.push((*process, did));
        }
        let late = if one_lost { Cause::Stopped } else { Cause::Deadline(patience) };
        let mut replies = Vec::new();
        for (process, did) in answers {
            let loss = match did {
                Did::Says(reply) => {
                    replies.push(Ok(reply));
                    continue;
                }
                Did::Breaks(error) => return Err(error),
                Did::Lost(loss) => loss,
                Did::NeverAnswers => loss(process, late.clone()),
            };
            self.gone.insert(process, loss.clone());
            replies.push(Err(loss));
        }
        Ok(replies)
    }

    fn met_so_far(&self) -> u32 {
        0
    }

    fn inside(&self, process: usize) -> Range<u64> {
        self.inside[process].clone()
    }

    fn lost(&mut self, process: usize) -> Option<Loss> {
        self.gone.get(&process).cloned()
    }

    fn printed(&mut self, _: usize) -> String {
        String::new()
    }

    fn stop(&mut self) {
        self.stops += 1;
        self.gone.clear();
        self.said.clear();
    }

    fn release(&mut self) {}
}

/// A process that was lost inside the kernel.
pub(crate) fn loss(process: usize, cause: Cause) -> Loss {
    let output = String::new();
    Loss { process, cause, phase: Phase::Launched, running: None, address: None, output }
}

/// A thread of rank 0 in its first call.
pub(crate) fn thread(thread: u32) -> ThreadId {
    ThreadId { rank: Rank(0), call: 0, block: 0, thread }
}

/// That a byte was written so many times, the last time by `thread`.
pub(crate) fn written(thread: ThreadId, count: u64) -> Option<Write> {
    Some(Write { thread, site: 0, first: (thread, 0), count })
}

impl Asked<'_> {
    /// The seed and the choice of interleaving, where ranks run at once.
    pub(crate) fn schedule(&self) -> Option<(u64, &Interleave)> {
        match self.interleaving {
            Interleaving::Sequential => None,
            Interleaving::CoResident { seed, plan, .. } => Some((*seed, plan)),
        }
    }

    /// When the process enters and leaves the kernel.
    pub(crate) fn is_inside(&mut self, inside: Range<u64>) {
        *self.inside = inside;
    }

    /// What is said of launches that ended well; the memory is not touched.
    pub(crate) fn ended(&self) -> Launched {
        let ranks = self.launches.iter().map(|launch| RankOutcome {
            rank: launch.rank,
            call: launch.call,
            threads_finished: u64::from(launch.grid) * u64::from(launch.threads),
            record: None,
        });
        Launched::unobserved(ranks.collect())
    }

    /// Gathers the members' inputs into the outputs of the launched ranks.
    pub(crate) fn gather_all(&mut self) {
        let ranks: Vec<Rank> = self.launches.iter().map(|launch| launch.rank).collect();
        ranks.into_iter().for_each(|rank| self.gather_into(rank));
    }

    fn gather_into(&mut self, rank: Rank) {
        let problem = &self.case.problem;
        let (plan, call): (&HeapPlan, &Call) = (&self.case.plan, &problem.calls[self.call]);
        let output = plan.output(problem, call);
        for (index, member) in call.group.members().iter().enumerate() {
            let input = plan.input(problem, call, *member);
            for row in 0..call.shape.m {
                let range = |bytes: Range<u64>| bytes.start as usize..bytes.end as usize;
                let from = range(input.row_bytes(row, 0..call.shape.n));
                let row = index as u64 * call.shape.m + row;
                let to = range(output.row_bytes(row, 0..call.shape.n));
                let bytes = self.heaps[member.index()].bytes()[from].to_vec();
                self.heaps[rank.index()].bytes_mut()[to].copy_from_slice(&bytes);
            }
        }
    }

    /// A kernel that is right.
    pub(crate) fn right(&mut self) -> Did {
        self.gather_all();
        finished(self.ended())
    }

    /// A kernel that gets the first output byte of the first launched rank wrong.
    pub(crate) fn wrong(&mut self) -> Did {
        self.gather_all();
        self.spoil_output();
        finished(self.ended())
    }

    pub(crate) fn spoil_output(&mut self) {
        let problem = &self.case.problem;
        let first = self.case.plan.output(problem, &problem.calls[self.call]).start;
        let rank = self.launches[0].rank;
        self.heaps[rank.index()].bytes_mut()[first as usize] ^= 0xff;
    }
}

pub(crate) fn finished(launched: Launched) -> Did {
    Did::Says(Reply::Finished(Box::new(launched)))
}

/// A toolchain whose objects are made up.
#[derive(Debug)]
struct MadeUp(DeviceName);

impl Toolchain for MadeUp {
    fn device(&self) -> DeviceName {
        self.0
    }
    fn version(&self) -> String {
        "made up".into()
    }
    fn identity(&self) -> String {
        format!("made up for {}", self.0)
    }
    fn architecture(&self) -> Option<String> {
        None
    }
    fn include_folder(&self) -> &'static str {
        "cpu"
    }
    fn prelude(&self) -> &'static str {
        "rc_cpu.h"
    }
    fn object_kind(&self) -> ObjectKind {
        ObjectKind::SharedObject
    }
    fn compile(&self, job: &CompileJob<'_>) -> Result<Compiled, CompileFailure> {
        let object = format!("{:?} {}", job.build, job.unit).into_bytes();
        Ok(Compiled { object, symbols: Vec::new(), headers: Some(Vec::new()) })
    }
}

/// The kernels of tests, all of 1 block of 4 threads: `fake/plain` runs alone, `fake/waits` waits for
/// other ranks, `fake/records` has a launch record.
const KERNELS: [(&str, &str, &str); 3] = [
    ("plain", "", "RC_KERNEL fake();"),
    ("waits", "requires: [concurrent]", "RC_KERNEL fake();"),
    ("records", "", "RC_KERNEL fake(); // RC_RECORD_LAUNCH"),
];

/// A case of one of the made-up kernels, and what its run shares.
pub(crate) struct Setting {
    _folder: tempfile::TempDir,
    pub(crate) case: Case,
    pub(crate) config: RunConfig,
}

impl Setting {
    /// A case of `fake/<kernel>` on a CPU; `keys` are further lines of its scenario.
    pub(crate) fn new(kernel: &str, keys: &str) -> Setting {
        Setting::on(Target::Cpu, kernel, keys)
    }

    /// The same on another target.
    pub(crate) fn on(target: Target, kernel: &str, keys: &str) -> Setting {
        let folder = tempfile::tempdir().unwrap();
        for (name, requires, source) in KERNELS {
            let manifest = format!(
                "kernel: fake/{name}\ncollective: all_gather\nsource: {name}.hip\n{requires}\ndevices: [cpu, cuda]\ngroups: any\nlaunch: {{grid: blocks, threads: 4}}\nvariants:\n  base: {{entry: fake, tile: {{m: 1, n: 8}}, blocks: 1}}\nargs: [{{ptr: input}}, {{ptr: output}}]\n"
            );
            std::fs::write(folder.path().join(format!("{name}.yaml")), manifest).unwrap();
            std::fs::write(folder.path().join(format!("{name}.hip")), source).unwrap();
        }
        let library = Library::new(&[folder.path().into()], &folder.path().join("none")).unwrap();
        let text = format!("scenario: s\nkernel: fake/{kernel}\nshape: 1x8\ndtype: i32\n{keys}\n");
        let source = ScenarioSource { path: "s.yaml".into(), text };
        let cases = expand(&source.path, &source.parse().unwrap(), &library, None).unwrap().cases;
        let [case] = <[Case; 1]>::try_from(cases).expect("the keys give one case");
        let cache = Cache::at(folder.path().join("cache")).unwrap();
        let config = RunConfig {
            builder: Builder::new(cache, Arc::new(MadeUp(target.device()))),
            target,
            lost: AtomicBool::new(false),
            budget: Budget::new(1 << 30),
            timeout: Some(Duration::from_secs(7)),
            all_orders: false,
            schedules: Schedules::default(),
            keep_heaps: None,
            replay_arguments: String::new(),
            commit: None,
            dirty: None,
        };
        Setting { _folder: folder, case, config }
    }

    /// Runs the case with a script in place of its kernel.
    pub(crate) fn run<'s>(
        &'s self,
        mode: Mode,
        script: impl FnMut(&mut Asked<'_>) -> Did + 's,
    ) -> (CaseResult, FakeRanks<'s>) {
        let mut ranks = FakeRanks::new(&self.case, script);
        let result = run_case(&self.case, mode, &mut ranks, &self.config);
        (result, ranks)
    }
}
