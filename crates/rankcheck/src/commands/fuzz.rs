//! `rankcheck fuzz`: random valid cases of a kernel, until one fails or time is up.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use clap::Args;
use kernels::{Build, Compiler, Kernel, Library, Recipe};
use launch::Runner;
use launch::runner::Options;
use report::{ReportFile, failure_text};
use scenario::{Case, Draft, Mode};
use verdict::{CaseResult, Event, Verdict};

use crate::arguments::time::duration;
use crate::commands::select::launching;
use crate::environment;
use crate::exit::Exit;
use crate::fuzz::draft::runnable;
use crate::fuzz::draw::Space;
use crate::fuzz::shares::Shares;
use crate::fuzz::shrink::shrink;
use crate::interrupt::interrupted;
use crate::load::{KernelStore, run_config};
use crate::machine::Machine;

/// Compiling takes longer than running: no more objects than this.
const OBJECTS: usize = 24;
/// Cases between two looks at the clock: few at first, as many fail at once if any do.
const BATCH: [usize; 2] = [8, 128];
/// How often it says how far it is.
const PROGRESS: Duration = Duration::from_secs(5);
/// Draws in a row that the manifest rules out, before giving up.
const RULED_OUT: u64 = 10_000;

/// Smaller cases that are tried when one has failed.
const TRIES: usize = 500;

/// Arguments of `fuzz`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The kernel, as scenarios name it.
    #[arg(long)]
    kernel: String,
    /// Only these variants.
    #[arg(long, value_delimiter = ',')]
    variant: Vec<String>,
    /// Stop after this long: `30s`, `5m` [default: 60s, or none where --cases is given].
    #[arg(long, value_parser = duration)]
    time: Option<Duration>,
    /// Stop after this many cases.
    #[arg(long)]
    cases: Option<usize>,
    /// Another seed draws other cases.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How ranks exist.
    #[arg(long, value_delimiter = ',', default_value = "logical,process")]
    mode: Vec<Mode>,
    /// More folders in which kernels are looked for.
    #[arg(long, value_name = "DIR")]
    kernels: Vec<PathBuf>,
    /// Where the scenario of a failure is written.
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
}

/// Draws, runs, counts; shrinks and writes the first failure.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let started = Instant::now();
    std::fs::create_dir_all(&arguments.out).with_context(|| arguments.out.display().to_string())?;
    launching(&arguments.mode)?;
    let store = KernelStore::open(&arguments.kernels)?;
    let kernel = store.library.kernel(&arguments.kernel, None)?;
    let compiler = Compiler::find()?;
    let interrupted = interrupted()?;
    let jobs = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    let runner = Runner {
        options: Options { jobs, interrupted },
        config: run_config(store.cache, Machine::cpu(compiler)),
    };
    let mut fuzzer = Fuzzer {
        arguments,
        library: &store.library,
        space: Space {
            kernel: &kernel,
            variants: variants(&kernel, &arguments.variant)?,
            modes: arguments.mode.clone(),
        },
        runner: &runner,
        drawn: 0,
        objects: BTreeSet::new(),
        shares: Shares::default(),
    };
    let limit = arguments.time.or(arguments.cases.is_none().then_some(Duration::from_secs(60)));
    let mut passed = [0usize; Mode::ALL.len()];
    let mut said = Instant::now();
    while limit.is_none_or(|limit| started.elapsed() < limit)
        && !interrupted.load(Ordering::Relaxed)
    {
        let so_far: usize = passed.iter().sum();
        let left = arguments.cases.map_or(usize::MAX, |cases| cases - so_far);
        if left == 0 {
            break;
        }
        let [least, most] = BATCH;
        if said.elapsed() >= PROGRESS {
            said = Instant::now();
            eprintln!("{}", progress(so_far, arguments.cases, limit, started));
        }
        let batch = fuzzer.batch(left.min(so_far.clamp(least, most)))?;
        for (draft, result) in fuzzer.run(&batch)? {
            match result.verdict {
                Verdict::Pass => passed[result.mode as usize] += 1,
                Verdict::Fail => {
                    print!("{}", fuzzer.totals(&passed, started));
                    return fuzzer.explain(draft, &result);
                }
                Verdict::NotRun => {}
                Verdict::Unsupported => {
                    bail!("{}: {:?} (drawn, but not run)", result.id, result.reason)
                }
            }
        }
    }
    println!("{}no case failed", fuzzer.totals(&passed, started));
    Ok(match passed.iter().sum() {
        _ if interrupted.load(Ordering::Relaxed) => Exit::Interrupted,
        0 => Exit::Nothing,
        _ => Exit::Passed,
    })
}

/// How far it is, for whoever watches standard error.
fn progress(
    passed: usize,
    cases: Option<usize>,
    limit: Option<Duration>,
    started: Instant,
) -> String {
    let cases = cases.map_or_else(String::new, |cases| format!(" of {cases}"));
    let limit = limit.map_or_else(String::new, |limit| format!(" of {:.0}", limit.as_secs_f64()));
    let seconds = started.elapsed().as_secs_f64();
    format!("{passed}{cases} cases passed, none failed, {seconds:.0}{limit} s")
}

fn variants(kernel: &Kernel, wanted: &[String]) -> anyhow::Result<Vec<String>> {
    let all: Vec<String> = kernel.manifest.variants.keys().cloned().collect();
    if let Some(unknown) = wanted.iter().find(|variant| !all.contains(variant)) {
        bail!("{} has no variant `{unknown}` (it has {})", kernel.manifest.kernel, all.join(", "));
    }
    Ok(if wanted.is_empty() { all } else { wanted.to_vec() })
}

struct Fuzzer<'a> {
    arguments: &'a Arguments,
    library: &'a Library,
    space: Space<'a>,
    runner: &'a Runner,
    /// How many drafts were drawn, those that were ruled out included.
    drawn: u64,
    /// Identities of the objects in use.
    objects: BTreeSet<String>,
    shares: Shares,
}

impl Fuzzer<'_> {
    /// The next cases that the manifest allows and the objects serve.
    fn batch(&mut self, count: usize) -> anyhow::Result<Vec<(Draft, Case)>> {
        let mut batch = Vec::new();
        let mut in_vain = 0;
        while batch.len() < count {
            let draft = self.space.draw(self.arguments.seed, self.drawn);
            let file = self.file(self.drawn);
            self.drawn += 1;
            match runnable(&draft, &file, self.library)? {
                Some(case) if self.may_build(&case)? => {
                    in_vain = 0;
                    self.shares.add(&case.problem);
                    batch.push((draft, case));
                }
                _ if in_vain == RULED_OUT => bail!(
                    "{RULED_OUT} draws in a row do not fit the manifest (its `requires` or `groups` leave too little)"
                ),
                _ => in_vain += 1,
            }
        }
        Ok(batch)
    }

    fn file(&self, index: u64) -> PathBuf {
        let kernel = self.arguments.kernel.replace('/', "-");
        self.arguments.out.join(format!("{kernel}-{}-{index}.yaml", self.arguments.seed))
    }

    /// Whether the case's objects are among those in use, or there is room for them.
    fn may_build(&mut self, case: &Case) -> anyhow::Result<bool> {
        let mut objects = self.objects.clone();
        for call in &case.problem.calls {
            let Case { kernel, problem, .. } = case;
            let size = call.group.size();
            let recipe =
                Recipe::new(kernel, case.variant(), problem, call.tile, size, Build::Fast)?;
            objects.insert(recipe.identity());
        }
        let fits = objects.len() <= OBJECTS;
        if fits {
            self.objects = objects;
        }
        Ok(fits)
    }

    /// Runs cases, and returns their drafts and results in the order in which they ended.
    fn run<'d>(&self, cases: &'d [(Draft, Case)]) -> anyhow::Result<Vec<(&'d Draft, CaseResult)>> {
        let selected: Vec<(&Case, Mode)> =
            cases.iter().map(|(draft, case)| (case, draft.mode())).collect();
        let environment = environment::describe(None);
        let mut results = Vec::new();
        self.runner.run(&selected, Vec::new(), environment, &mut |event| {
            if let Event::CaseFinished(result) = event {
                let of = cases.iter().find(|(_, case)| case.id == result.id);
                results.extend(of.map(|(draft, _)| (draft, (**result).clone())));
            }
        })?;
        Ok(results)
    }

    /// Shrinks a failure, writes its scenario and prints what to do with it.
    fn explain(&self, draft: &Draft, result: &CaseResult) -> anyhow::Result<Exit> {
        let Some(finding) = result.findings.first() else { bail!("a failure without a finding") };
        let file = file_of(result);
        let mut last = result.clone();
        let (smallest, tried) = shrink(draft.clone(), 1, TRIES, &mut |draft| {
            let case = runnable(draft, &file, self.library).ok().flatten();
            let ran =
                case.and_then(|case| self.run(&[(draft.clone(), case)]).ok()?.pop().map(|r| r.1));
            let same = |r: &CaseResult| r.findings.iter().any(|f| f.kind == finding.kind);
            match ran.filter(same) {
                Some(result) => {
                    last = result;
                    true
                }
                None => false,
            }
        });
        let comment = format!("Catches: {}.", finding.kind);
        ReportFile::open(Some(&file))?.finish(&smallest.yaml(&smallest.name(&file), &comment))?;
        println!("{}", failure_text(&last));
        println!("written to {} ({tried} smaller cases tried)", file.display());
        let folders = self.arguments.kernels.iter();
        let folders: String = folders.map(|f| format!(" --kernels {}", f.display())).collect();
        println!("replay with: rankcheck run {}{folders}", file.display());
        Ok(Exit::Failed)
    }

    fn totals(&self, passed: &[usize; Mode::ALL.len()], started: Instant) -> String {
        let modes: Vec<String> =
            Mode::ALL.iter().zip(passed).map(|(mode, count)| format!("{count} {mode}")).collect();
        format!(
            "{} cases of {} passed in {:.1} s (seed {}; {}; {} objects)\n{}\n",
            passed.iter().sum::<usize>(),
            self.arguments.kernel,
            started.elapsed().as_secs_f64(),
            self.arguments.seed,
            modes.join(", "),
            self.objects.len(),
            self.shares
        )
    }
}

/// The file that a drawn case would stand in.
fn file_of(result: &CaseResult) -> PathBuf {
    Path::new(&result.location.file).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_says_what_there_is_to_go() {
        let started = Instant::now();
        let minute = Some(Duration::from_secs(60));
        assert_eq!(
            progress(7, Some(10), minute, started),
            "7 of 10 cases passed, none failed, 0 of 60 s"
        );
        assert_eq!(progress(7, None, None, started), "7 cases passed, none failed, 0 s");
    }
}
