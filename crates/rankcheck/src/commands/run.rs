//! `rankcheck run`: load, choose, run, report.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use launch::RunConfig;
use launch::runner::Options;
use launch::{Runner, Schedules, Strategy};
use report::Kind;
use scenario::{Case, Mode};
use verdict::{CaseResult, Environment, Event, switches_of};

use crate::arguments::reports::{Destinations, journal_beside, report_argument};
use crate::arguments::time::duration;
use crate::commands::select::{self, Select};
use crate::environment;
use crate::exit::Exit;
use crate::fingerprint::Fingerprints;
use crate::interrupt::interrupted;
use crate::journal::{Header, Journal, Writer};
use crate::load::{KernelStore, load, run_config};
use crate::machine::DeviceArguments;
use crate::shrink::Shrinker;

/// More interleavings than this are too many, where nobody says.
const INTERLEAVINGS: u64 = 10_000;

/// At most this many changed cases are named.
const SHOWN: usize = 5;

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    select: Select,
    #[command(flatten)]
    device: DeviceArguments,
    /// `human`, `json`, `junit`, `markdown` or `html`, with `=PATH` for a file; repeatable
    /// [default: human].
    #[arg(long, value_name = "KIND[=PATH]", value_parser = report_argument)]
    report: Vec<(Kind, Option<PathBuf>)>,
    /// Cases at once [default: the number of cores, at most 8].
    #[arg(short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    jobs: Option<u16>,
    /// How long a launch may take before its ranks are killed: `500ms`, `30s`, `2m`
    /// [default: 30s, more for large heaps].
    #[arg(long, value_parser = duration)]
    timeout: Option<Duration>,
    /// In which orders logical ranks run.
    #[arg(long, default_value = "some")]
    orders: OrdersArgument,
    /// Under how many schedules a case runs whose ranks wait for each other [default: 5, or 1
    /// with --schedule-seed].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    schedules: Option<u64>,
    /// Seed of the first schedule; the others follow. 0 is the round robin.
    #[arg(long, value_name = "N")]
    schedule_seed: Option<u64>,
    /// How schedules are chosen.
    #[arg(long, default_value = "seeded")]
    strategy: StrategyArgument,
    /// Of the schedule of --schedule-seed only these switches between threads, as --shrink prints
    /// them: `0:r1b0t3@12>r0b0t5,..`, or `none`.
    #[arg(long, value_name = "LIST", requires = "schedule_seed")]
    switches: Option<String>,
    /// Make the first failure under a schedule small: fewer ranks, threads, rows, calls and
    /// switches; write what is left as a scenario, and tell it step by step.
    #[arg(long)]
    shrink: bool,
    /// Look for data races in all kernels, not in those alone whose ranks wait for each other.
    #[arg(long, conflicts_with = "no_race")]
    race: bool,
    /// Do not look for data races.
    #[arg(long)]
    no_race: bool,
    /// Let plain stores become visible late and out of order until a release, fence or barrier
    /// orders them, so that a missing one gives wrong bytes and not a race alone.
    #[arg(long)]
    weak: bool,
    /// In process mode, let each rank in turn be late by this much at four places of a kernel that
    /// waits: before its first store to a peer, before its flag, before it reads, and after it.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    delay: Option<Duration>,
    /// How many blocks a rank are resident at once where ranks run at once [default: all].
    #[arg(long, value_name = "B", value_parser = clap::value_parser!(u32).range(1..))]
    residency: Option<u32>,
    /// Keep a journal of the run here: a line a finished case, on disk as soon as the case is judged.
    /// Without this, one lies beside the first report that goes to a file, until that is written.
    #[arg(long, value_name = "PATH")]
    journal: Option<PathBuf>,
    /// Go on where the run of this journal ended: its finished cases do not run again, unless they or
    /// their kernels have changed since. Takes the same binary and arguments.
    #[arg(long, value_name = "JOURNAL")]
    resume: Option<PathBuf>,
    /// An unsupported case makes the run fail.
    #[arg(long)]
    strict: bool,
    /// Write the heaps of failing cases to this folder.
    #[arg(long, value_name = "DIR")]
    keep_heaps: Option<PathBuf>,
    /// List unsupported cases one by one.
    #[arg(short, long)]
    verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OrdersArgument {
    /// As many as are cheap, at least identity, reverse and one rotation.
    Some,
    /// Every permutation, whatever it costs.
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StrategyArgument {
    /// By seeds.
    Seeded,
    /// Every interleaving of a small case, each once, as long as there are not more than
    /// --schedules [default: 10000].
    Exhaustive,
}

/// Loads, chooses, runs, reports.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    refuse_on_gpus(arguments)?;
    select::launching(&arguments.select.mode)?;
    let store = KernelStore::open(&arguments.select.kernels)?;
    let loaded = load(&arguments.select.paths, &store.library, arguments.select.seed)?;
    let chosen = arguments.select.choose(&loaded.cases, arguments.device.name())?;
    if chosen.is_empty() {
        eprintln!(
            "nothing selected: {} cases in {} files, none matches",
            loaded.cases.len(),
            loaded.files
        );
        return Ok(Exit::Nothing);
    }
    let mut destinations = Destinations::open(&arguments.report, arguments.verbose)?;
    let machine = arguments.device.open(&store.cache)?;
    let environment = environment::describe(Some(&machine));
    let (mut journal, earlier) = journal(arguments, &chosen, &environment)?;
    let runner = Runner {
        options: Options { jobs: jobs(arguments), interrupted: interrupted()? },
        config: RunConfig {
            timeout: arguments.timeout,
            all_orders: arguments.orders == OrdersArgument::All,
            schedules: schedules(arguments)?,
            keep_heaps: keep_heaps(arguments)?,
            replay_arguments: replay_arguments(arguments),
            commit: environment.commit.clone(),
            dirty: environment.dirty,
            ..run_config(store.cache, machine)
        },
    };
    let mut failed: Option<CaseResult> = None;
    let mut lost = Ok(());
    let summary = runner.run(&chosen, earlier, environment, &mut |event: &Event| {
        if let Event::CaseFinished(result) = event
            && result.how.first_failing_seed().is_some()
            && failed.is_none()
        {
            failed = Some((**result).clone());
        }
        if let (Some(journal), Ok(())) = (&mut journal, &lost) {
            lost = journal.event(event);
        }
        destinations.event(event);
    })?;
    if let Some(failed) = failed.filter(|_| arguments.shrink) {
        explain_small(arguments, runner.config, &chosen, &failed)?;
    }
    destinations.finish()?;
    lost?;
    // Everything in it stands in a report; without one it is all there is.
    let reported = arguments.journal.is_none() && journal_beside(&arguments.report).is_some();
    if let Some(journal) = journal.filter(|_| reported) {
        journal.remove()?;
    }
    Ok(Exit::of(&summary, arguments.strict))
}

/// Opens the journal that belongs to the run, and gives the results of an earlier run that still hold.
fn journal(
    arguments: &Arguments,
    chosen: &[(&Case, Mode)],
    environment: &Environment,
) -> anyhow::Result<(Option<Writer>, Vec<CaseResult>)> {
    let resumed = arguments.resume.clone();
    let named = arguments.journal.clone().or(resumed);
    let Some(path) = named.or_else(|| journal_beside(&arguments.report)) else {
        return Ok((None, Vec::new()));
    };
    let header = Header::of(deciding_arguments(), environment.clone(), chosen.len())?;
    let now = Fingerprints::of(chosen, arguments.device.name());
    let Some(resumed) = &arguments.resume else {
        return Ok((Some(Writer::create(&path, &header, now)?), Vec::new()));
    };
    let earlier = Journal::read(resumed)?;
    let differences = earlier.header.differences(&header);
    if !differences.is_empty() {
        anyhow::bail!(
            "--resume {}: {} (run again without --resume)",
            resumed.display(),
            differences.join("; ")
        );
    }
    let whole_bytes = earlier.whole_bytes;
    let (kept, changed) = earlier.still_true(&now);
    eprintln!("{}: {} of {} cases had finished", resumed.display(), kept.len(), chosen.len());
    for name in changed.iter().take(SHOWN) {
        eprintln!("runs again, for it or its kernel has changed since: {name}");
    }
    if changed.len() > SHOWN {
        eprintln!("and {} more", changed.len() - SHOWN);
    }
    let writer = match same_file(&path, resumed) {
        true => Writer::go_on(&path, whole_bytes, now, &kept)?,
        false => Writer::create(&path, &header, now)?,
    };
    Ok((Some(writer), kept))
}

fn same_file(one: &Path, other: &Path) -> bool {
    one.canonicalize().ok().is_some_and(|one| Some(one) == other.canonicalize().ok())
}

/// The arguments of this process that decide what cases run and how: all but those that say where results
/// go and how many run at once.
fn deciding_arguments() -> Vec<String> {
    const WITH_VALUE: [&str; 5] = ["--report", "--journal", "--resume", "-j", "--jobs"];
    const ALONE: [&str; 3] = ["-v", "--verbose", "--strict"];
    let mut kept = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if WITH_VALUE.contains(&argument.as_str()) {
            arguments.next();
        } else if !ALONE.contains(&argument.as_str())
            && !WITH_VALUE.iter().any(|name| argument.starts_with(&format!("{name}=")))
        {
            kept.push(argument);
        }
    }
    kept
}

/// What only the CPU's executor can do.
fn refuse_on_gpus(arguments: &Arguments) -> anyhow::Result<()> {
    let asked = [
        (arguments.shrink, "--shrink"),
        (arguments.strategy == StrategyArgument::Exhaustive, "--strategy exhaustive"),
        (arguments.schedule_seed.is_some(), "--schedule-seed"),
        (arguments.race, "--race"),
        (arguments.weak, "--weak"),
        (arguments.residency.is_some(), "--residency"),
    ];
    match asked.iter().find(|(given, _)| *given) {
        Some((_, argument)) if arguments.device.name() != kernels::DeviceName::Cpu => {
            anyhow::bail!("{argument} needs --device cpu: a GPU makes its own schedule")
        }
        _ => Ok(()),
    }
}

fn jobs(arguments: &Arguments) -> usize {
    arguments.jobs.map_or_else(|| arguments.device.jobs(), usize::from)
}

fn keep_heaps(arguments: &Arguments) -> anyhow::Result<Option<PathBuf>> {
    if let Some(folder) = &arguments.keep_heaps {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    Ok(arguments.keep_heaps.clone())
}

fn schedules(arguments: &Arguments) -> anyhow::Result<Schedules> {
    let all = Schedules::default();
    let strategy = match arguments.strategy {
        StrategyArgument::Seeded => Strategy::Seeded,
        StrategyArgument::Exhaustive => Strategy::Exhaustive,
    };
    if strategy == Strategy::Exhaustive && (arguments.weak || arguments.schedule_seed.is_some()) {
        anyhow::bail!(
            "--strategy exhaustive has no seeds and no late stores (leave out --weak and --schedule-seed)"
        );
    }
    Ok(Schedules {
        strategy,
        count: match (arguments.schedules, arguments.schedule_seed, strategy) {
            (Some(count), _, _) => count,
            (None, Some(_), _) => 1,
            (None, None, Strategy::Seeded) => all.count,
            (None, None, Strategy::Exhaustive) => INTERLEAVINGS,
        },
        first: arguments.schedule_seed.unwrap_or(all.first),
        race: !arguments.no_race,
        everywhere: arguments.race,
        weak: arguments.weak,
        residency: arguments.residency,
        delay: arguments.delay,
        switches: arguments.switches.as_deref().map(switches_of).transpose()?,
    })
}

/// Shrinks the first failure that a schedule has shown, and tells it.
fn explain_small(
    arguments: &Arguments,
    config: RunConfig,
    chosen: &[(&Case, Mode)],
    failed: &CaseResult,
) -> anyhow::Result<()> {
    let case = chosen.iter().find(|(case, mode)| case.id == failed.id && *mode == failed.mode);
    let (case, _) = case.context("a result of no case")?;
    let mut shrinker = Shrinker::new(&arguments.select.kernels, config, interrupted()?)?;
    println!("\nshrunk to\n{}", shrinker.explain(case, failed)?);
    Ok(())
}

fn replay_arguments(arguments: &Arguments) -> String {
    let kernels = &arguments.select.kernels;
    let word = |folder: &PathBuf| shell_words::quote(&folder.display().to_string()).into_owned();
    let mut text: String =
        kernels.iter().map(|folder| format!(" --kernels {}", word(folder))).collect();
    text += &arguments.device.replay();
    if let Some(delay) = arguments.delay {
        text += &format!(" --delay {}ms", delay.as_millis());
    }
    if let Some(blocks) = arguments.residency {
        text += &format!(" --residency {blocks}");
    }
    let flags = [
        (arguments.race, " --race"),
        (arguments.no_race, " --no-race"),
        (arguments.weak, " --weak"),
    ];
    for (given, argument) in flags {
        if given {
            text += argument;
        }
    }
    text
}
