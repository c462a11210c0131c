//! `rankcheck run`: load, choose, run, report.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use launch::RunConfig;
use launch::runner::Options;
use launch::{Runner, Schedules, Strategy};
use report::{Human, Json, Junit, Kind, Markdown, ReportError, ReportFile, Reporter};
use scenario::{Case, Mode};
use verdict::{CaseResult, Event, switches_of};

use crate::commands::select::{self, Select};
use crate::environment;
use crate::exit::Exit;
use crate::load::{KernelStore, load, run_config};
use crate::machine::DeviceArguments;
use crate::shrink::Shrinker;

/// More interleavings than this are too many, where nobody says.
const INTERLEAVINGS: u64 = 10_000;

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    select: Select,
    #[command(flatten)]
    device: DeviceArguments,
    /// `human`, `json`, `junit` or `markdown`, with `=PATH` for a file; repeatable
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

/// Parses `KIND[=PATH]`.
pub(crate) fn report_argument(text: &str) -> Result<(Kind, Option<PathBuf>), String> {
    let (name, path) = match text.split_once('=') {
        Some((name, path)) => (name, Some(PathBuf::from(path))),
        None => (text, None),
    };
    let kind = Kind::NAMES.iter().find(|(known, _)| *known == name);
    let kind = kind.ok_or_else(|| {
        let known: Vec<&str> = Kind::NAMES.iter().map(|(known, _)| *known).collect();
        format!("unknown kind `{name}`, expected one of {}", known.join(", "))
    })?;
    if path.as_ref().is_some_and(|path| path.as_os_str().is_empty()) {
        return Err(format!("{name}= needs a path"));
    }
    Ok((kind.1, path))
}

/// Parses a time.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a time such as 500ms, 30s, 2m, 12h or 30d");
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
    let (number, unit) = text.split_at(split);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let seconds = match unit {
        "ms" => number / 1000.0,
        "s" => number,
        "m" => number * 60.0,
        "h" => number * 3600.0,
        "d" => number * 24.0 * 3600.0,
        _ => return Err(wrong()),
    };
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err(wrong()),
    }
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
    let mut reporters = reporters(&arguments.report, arguments.verbose)?;
    let machine = arguments.device.open(&store.cache)?;
    let environment = environment::describe(Some(&machine));
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
    let mut broken: Option<ReportError> = None;
    let mut failed: Option<CaseResult> = None;
    let summary = runner.run(&chosen, environment, &mut |event: &Event| {
        if let Event::CaseFinished(result) = event
            && result.how.first_failing_seed().is_some()
            && failed.is_none()
        {
            failed = Some((**result).clone());
        }
        for reporter in &mut reporters {
            // A report that cannot be written must not stop the others.
            if let Err(error) = reporter.event(event) {
                broken.get_or_insert(error);
            }
        }
    })?;
    if let Some(failed) = failed.filter(|_| arguments.shrink) {
        explain_small(arguments, runner.config, &chosen, &failed)?;
    }
    match broken {
        Some(error) => Err(error.into()),
        None => Ok(Exit::of(&summary, arguments.strict)),
    }
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

/// Opens every report before anything runs.
pub(crate) fn reporters(
    reports: &[(Kind, Option<PathBuf>)],
    verbose: bool,
) -> anyhow::Result<Vec<Box<dyn Reporter>>> {
    let mut reporters: Vec<Box<dyn Reporter>> = Vec::new();
    for (index, (_, path)) in reports.iter().enumerate() {
        if path.is_some() && reports[..index].iter().any(|(_, other)| other == path) {
            anyhow::bail!("two reports go to {}", path.as_deref().unwrap_or("".as_ref()).display());
        }
    }
    for (kind, path) in reports {
        let open = || ReportFile::open(path.as_deref());
        reporters.push(match kind {
            Kind::Human => Box::new(Human::new(verbose)),
            Kind::Json => Box::new(Json::new(open()?)),
            Kind::Junit => Box::new(Junit::new(open()?)),
            Kind::Markdown => Box::new(Markdown::new(open()?)),
        });
    }
    // People want to see something, unless standard output belongs to a machine.
    let taken = reports.iter().any(|(kind, path)| {
        *kind == Kind::Human || path.as_deref().is_none_or(|path| path == std::path::Path::new("-"))
    });
    if !taken {
        reporters.push(Box::new(Human::new(verbose)));
    }
    if let Some(summary) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) {
        reporters.push(Box::new(Markdown::appended(std::path::Path::new(&summary))));
    }
    Ok(reporters)
}

fn jobs(arguments: &Arguments) -> usize {
    arguments.jobs.map_or_else(|| arguments.device.jobs(), usize::from)
}

/// A flag that Ctrl-C sets.
pub(crate) fn interrupted() -> anyhow::Result<&'static AtomicBool> {
    static FLAG: std::sync::OnceLock<Arc<AtomicBool>> = std::sync::OnceLock::new();
    let flag = FLAG.get_or_init(Arc::default);
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, flag.clone()).context("listening for Ctrl-C")?;
    }
    Ok(flag)
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
