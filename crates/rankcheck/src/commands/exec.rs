//! `rankcheck exec`: ranks of a user's program, under supervision.

use std::cell::RefCell;
use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use collectives::{Finding, FindingKind, Rank};
use guest_protocol::message;
use guest_protocol::rendezvous;
use hosting::ranks::{Program, Ranks};
use hosting::{Session, SessionHooks, never_opened, not_run};
use report::Kind;
use scenario::{Case, Mode, Reason};
use verdict::{CaseResult, Identity, Verdict};

use crate::arguments::reports::{Destinations, report_argument};
use crate::arguments::time::duration;
use crate::commands::select::Select;
use crate::exit::Exit;
use crate::host::{Facts, Reports, cases};
use crate::interrupt::interrupted;

/// Once a rank has gone, the others may take so long to end by themselves.
const AFTERMATH: Duration = Duration::from_secs(5);

/// Arguments of `exec`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    select: Select,
    /// `human`, `json`, `junit`, `markdown` or `html`, with `=PATH` for a file; repeatable
    /// [default: human].
    #[arg(long, value_name = "KIND[=PATH]", value_parser = report_argument)]
    report: Vec<(Kind, Option<PathBuf>)>,
    /// How long a rank may take from one meeting of all ranks to the next
    /// [default: 30s, more for large heaps].
    #[arg(long, value_parser = duration)]
    timeout: Option<Duration>,
    /// Keep a journal of the run here: a line a finished case, on disk as soon as the case is judged.
    /// Without this, one lies beside the first report that goes to a file, until that is written.
    #[arg(long, value_name = "PATH")]
    journal: Option<PathBuf>,
    /// Keep what each rank prints in this folder.
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// An unsupported case makes the run fail.
    #[arg(long)]
    strict: bool,
    /// The program and its arguments; it is started once a rank, with RANK, WORLD_SIZE, LOCAL_RANK,
    /// MASTER_ADDR and MASTER_PORT.
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<String>,
}

/// Starts ranks until every case is judged.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let started = Instant::now();
    let select = &arguments.select;
    let [world] = select.ranks[..] else {
        anyhow::bail!("--ranks N says how many processes to start; one number is needed");
    };
    let all = cases(Select { mode: vec![Mode::Host], ..select.clone() })?;
    if let Some(folder) = &arguments.output {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let facts = Facts::here();
    let name = RandomState::new().hash_one(std::process::id());
    let socket = format!("rankcheck-{}-{name:016x}", std::process::id());
    let executor = Executor {
        arguments,
        program: Program {
            command: arguments.command.clone(),
            world,
            output: arguments.output.clone(),
            socket,
        },
        interrupted: interrupted()?,
        facts: &facts,
    };
    let destinations = Destinations::open(&arguments.report, false)?;
    let mut reports = Reports::open(
        destinations,
        &arguments.report,
        arguments.journal.as_deref(),
        &facts.environment,
        all.len(),
    )?;
    executor.all(&all, &mut reports)?;
    let seconds = started.elapsed().as_secs_f64();
    let interrupted = executor.interrupted.load(Ordering::Relaxed);
    let summary = reports.finish(&all, seconds, interrupted)?;
    Ok(Exit::of(&summary, arguments.strict))
}

struct Executor<'a> {
    arguments: &'a Arguments,
    program: Program,
    interrupted: &'static AtomicBool,
    facts: &'a Facts,
}

impl Executor<'_> {
    /// Starts the ranks again and again: they may end after any case, and do after a failure.
    fn all(&self, all: &[Arc<Case>], reports: &mut Reports) -> anyhow::Result<()> {
        let listener = rendezvous::listen(&self.program.socket).context("a socket for ranks")?;
        let mut left: Vec<Arc<Case>> = all.to_vec();
        let mut generation = 0;
        while !left.is_empty() && !self.interrupted.load(Ordering::Relaxed) {
            let before = left.len();
            let opened = self.generation(generation, &listener, &mut left, reports)?;
            generation += 1;
            // A program that opens nothing would be started for ever.
            if !opened || left.len() == before {
                break;
            }
        }
        for case in left {
            let identity = self.identity(&case, None);
            let why = match self.interrupted.load(Ordering::Relaxed) {
                true => Reason::new("a run to its end", "an interrupt"),
                false => Reason::new("a program that opens cases", "one that ended before"),
            };
            reports.add(not_run(&case, identity, why));
        }
        Ok(())
    }

    /// One start of all ranks, to their end: takes the cases that they opened from `left`, and says whether
    /// they opened any. A case is reported when the next one is judged, since how the ranks end belongs to
    /// the last one.
    fn generation(
        &self,
        number: usize,
        listener: &std::os::unix::net::UnixListener,
        left: &mut Vec<Arc<Case>>,
        reports: &mut Reports,
    ) -> anyhow::Result<bool> {
        let ranks = Ranks::start(&self.program, number).context("starting the ranks")?;
        let ranks = RefCell::new(ranks);
        let offered = left.clone();
        let mut last: Option<CaseResult> = None;
        let hooks = SessionHooks {
            load: &mut |_| Ok(offered.clone()),
            identify: &|case, program| self.identity(case, Some(program)),
            show: &|result, form| self.facts.show(result, form),
            finished: &mut |result| {
                let Some(at) = left.iter().position(|case| case.id == result.id) else { return };
                left.remove(at);
                reports.keep(&result);
                if let Some(earlier) = last.replace(result) {
                    reports.show(earlier);
                }
            },
            cause: &mut |rank, absence| match rank {
                Some(rank) => ranks.borrow_mut().cause(rank, absence),
                None => (FindingKind::MissingRank, "has left before it said which it is".into()),
            },
        };
        let world = self.program.world as usize;
        let mut session = Session::new(hooks, world, true);
        session.set_timeout(self.arguments.timeout);
        let mut end: Option<Instant> = None;
        loop {
            let running = ranks.borrow().descriptors();
            let watched: Vec<_> = running.iter().map(std::os::fd::AsFd::as_fd).collect();
            session.turn(Some(listener), &watched, Duration::from_millis(100))?;
            let ended = ranks.borrow_mut().ended();
            let (came, gone) = session.guests();
            if ended > 0 || gone > 0 {
                end.get_or_insert(Instant::now() + AFTERMATH);
            }
            let over = ended == world && (came == gone);
            let too_late = end.is_some_and(|end| Instant::now() > end);
            if over || too_late || self.interrupted.load(Ordering::Relaxed) {
                break;
            }
        }
        session.finish();
        drop(session);
        let mut ranks = ranks.into_inner();
        let failure = ranks.failure();
        ranks.stop();
        match last {
            // What an interrupt ended was not judged.
            Some(last) if self.interrupted.load(Ordering::Relaxed) => {
                let case = offered.into_iter().find(|case| case.id == last.id);
                left.extend(case);
                Ok(true)
            }
            None if self.interrupted.load(Ordering::Relaxed) => Ok(true),
            Some(last) => {
                // Once more, for how the ranks ended may have changed it.
                reports.add(blame(last, failure));
                Ok(true)
            }
            None => {
                let case = left.remove(0);
                reports.add(self.never_opened(&case, failure));
                Ok(false)
            }
        }
    }

    fn never_opened(&self, case: &Case, failure: Option<(Rank, String)>) -> CaseResult {
        let finding = match failure {
            Some((rank, how)) => Finding::event(
                FindingKind::Crashed,
                Some(rank),
                None,
                format!("rank {rank}, before all ranks had opened a case, {how}"),
            ),
            None => Finding::event(
                FindingKind::KernelDidNotRun,
                None,
                None,
                "the program ended without opening a case (rankcheck.cases() in Python, rankcheck_open in C)",
            ),
        };
        never_opened(case, self.identity(case, None), finding)
    }

    fn identity(&self, case: &Case, program: Option<&message::Program>) -> Identity {
        let command: Vec<String> =
            self.program.command.iter().map(|word| shell_words::quote(word).into_owned()).collect();
        let replay = format!(
            "rankcheck exec --ranks {} {} --id '{}' --seed {} -- {}",
            self.program.world,
            shell_words::quote(&case.file.display().to_string()),
            case.id,
            case.problem.seed,
            command.join(" "),
        );
        let path = program.map_or_else(|| self.program.command[0].clone(), |p| p.path.clone());
        self.facts.identity(&message::Program { path, replay })
    }
}

/// A rank that ends badly after its last case has passed fails that case.
fn blame(mut result: CaseResult, failure: Option<(Rank, String)>) -> CaseResult {
    if let (Verdict::Pass, Some((rank, how))) = (result.verdict, failure) {
        let text = format!("rank {rank}, after the last call was judged right, {how}");
        result.findings.push(Finding::event(FindingKind::Crashed, Some(rank), None, text));
        result.verdict = Verdict::Fail;
    }
    result
}
