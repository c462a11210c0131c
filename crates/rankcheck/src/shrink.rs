//! `rankcheck run --shrink`: a failing schedule, made small.
//!
//! First the case, as far as a scenario file can say it: ranks, calls, shapes, threads, groups.
//! Then the schedule: the fewest switches between threads. What is left is written as a scenario
//! and told step by step. The number of tries is bounded, never the time, so that the same failure
//! shrinks to the same one everywhere.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::Context as _;
use collectives::{DetailLabel, Finding, FindingKind};
use kernels::Library;
use launch::ways::shrink::Smallest;
use launch::{RunConfig, run_case};
use launch::{Schedules, Strategy};
use ranks::Pool;
use report::{ReportFile, failure_text};
use scenario::values::Threads;
use scenario::{Case, Draft, Mode};
use verdict::{CaseResult, Switch};

use crate::fuzz::draft::runnable;
use crate::fuzz::shrink::shrink;
use crate::load::KernelStore;

/// Smaller cases that are tried; most need a compiler run of their own.
const CASES: usize = 120;
/// Schedules beside the failing one under which a smaller case may fail.
const SCHEDULES: u64 = 8;

/// What shrinking works with.
pub(crate) struct Shrinker<'a> {
    kernels: &'a [PathBuf],
    library: Library,
    config: RunConfig,
    pool: Pool,
}

/// What goes wrong, told the same way in all sizes of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fault {
    kind: FindingKind,
    /// Where the code does it.
    line: Option<(String, u32)>,
    /// Why it is wrong, numbers left out.
    why: Option<String>,
}

impl Fault {
    fn of(finding: &Finding) -> Fault {
        let line = finding.writer.as_ref().map(|writer| (writer.file.clone(), writer.line));
        let why = finding.details.iter().find(|detail| detail.label == DetailLabel::Why);
        let why = why.map(|detail| detail.text.replace(|c: char| c.is_ascii_digit(), ""));
        Fault { kind: finding.kind, line, why }
    }

    fn is(&self, other: &Finding) -> bool {
        let other = Fault::of(other);
        // Not every run looks for the writer.
        let same_line = other.line.is_none() || other.line == self.line;
        other.kind == self.kind && same_line && other.why == self.why
    }
}

/// A failure: its first fault, and what else may show beside it.
#[derive(Debug, Clone)]
struct Failure {
    first: Fault,
    kinds: Vec<FindingKind>,
}

impl Failure {
    fn of(failed: &CaseResult) -> Option<Failure> {
        let kinds = failed.findings.iter().map(|finding| finding.kind).collect();
        Some(Failure { first: Fault::of(failed.findings.first()?), kinds })
    }

    /// Whether these findings are the same failure, and no other one beside it.
    fn is(&self, findings: &[Finding]) -> bool {
        findings.iter().any(|finding| self.first.is(finding))
            && findings.iter().all(|finding| self.kinds.contains(&finding.kind))
    }
}

impl<'a> Shrinker<'a> {
    /// Looks for kernels in these folders, like the run that failed.
    pub(crate) fn new(
        kernels: &'a [PathBuf],
        config: RunConfig,
        interrupted: &'static AtomicBool,
    ) -> anyhow::Result<Shrinker<'a>> {
        let library = KernelStore::open(kernels)?.library;
        Ok(Shrinker {
            kernels,
            library,
            pool: Pool::new(config.target.clone(), interrupted)?,
            config,
        })
    }

    /// Shrinks a failure of `case`, writes the scenario of what is left, and says what it is.
    pub(crate) fn explain(&mut self, case: &Case, failed: &CaseResult) -> anyhow::Result<String> {
        let failure = Failure::of(failed).context("a failure without a finding")?;
        let schedules = failed.how.schedules().context("a failure without a schedule")?;
        let mut seed = schedules.first_failing.context("a failure without a schedule")?;
        let turns = schedules.switches.clone();
        let file = PathBuf::from(format!("{}-shrunk.yaml", case.scenario.replace('/', "-")));
        let mut tried = 0;
        let mut small = None;
        if let Some(draft) = self.draft(case, &file)? {
            let most = case_threads(failed);
            let mut found = seed;
            let (draft, count) = shrink(draft, most, CASES, &mut |draft| {
                // Of another type it may fail for another reason, and kernels that have a thread
                // for each peer need as many.
                let settings = &draft.settings;
                let too_few = |threads: Threads| threads.0 < settings.ranks.value.0;
                if settings.dtype.value.0 != case.problem.dtype
                    || settings.threads.value.0.is_some_and(too_few)
                {
                    return false;
                }
                let Ok(Some(case)) = runnable(draft, &file, &self.library) else { return false };
                let seed = self.fails(&case, found, turns.as_deref(), &failure);
                found = seed.unwrap_or(found);
                seed.is_some()
            });
            (seed, tried) = (found, count);
            let case = draft.case(&file, &self.library)?;
            small = Some((case, draft));
        }
        let smallest =
            self.smallest(small.as_ref().map_or(case, |(case, _)| case), seed, turns, &failure)?;
        let Some(smallest) = smallest else {
            return Ok(format!(
                "{}\nit did not fail again, so there is nothing to shrink\n",
                failed.id
            ));
        };
        let mut text = failure_text(&smallest.result);
        text += &told(&smallest);
        match small {
            Some((_, draft)) => {
                let comment = format!("Catches: {}.", failure.first.kind);
                ReportFile::open(Some(&file))?.finish(&draft.yaml(&draft.name(&file), &comment))?;
                text += &format!(
                    "  {:<12}{} ({tried} smaller cases and {} schedules tried)\n",
                    "written to",
                    file.display(),
                    smallest.runs
                );
            }
            None => {
                text += "  the case itself says more than a scenario of one case can, so only its schedule was shrunk\n"
            }
        }
        Ok(text)
    }

    /// The case as a draft that could stand in `file`; `None` where a draft cannot say all that
    /// the case says.
    fn draft(&mut self, case: &Case, file: &Path) -> anyhow::Result<Option<Draft>> {
        let draft = Draft::of("shrunk", case);
        let says_all = |library: &Library| {
            draft.case(file, library).is_ok_and(|again| again.is_same_test(case))
        };
        if !says_all(&self.library) {
            // Kernels are looked for beside the scenario, and the new one lies elsewhere.
            let beside = case.file.parent().unwrap_or(Path::new("")).to_owned();
            let folder = shell_words::quote(&beside.display().to_string()).into_owned();
            self.config.replay_arguments += &format!(" --kernels {folder}");
            let folders: Vec<PathBuf> = self.kernels.iter().cloned().chain([beside]).collect();
            self.library = KernelStore::open(&folders)?.library;
        }
        Ok(says_all(&self.library).then(|| draft.in_mode(Mode::Logical)))
    }

    /// The seed of a schedule under which the case fails in the same way.
    fn fails(
        &mut self,
        case: &Case,
        seed: u64,
        switches: Option<&[Switch]>,
        failure: &Failure,
    ) -> Option<u64> {
        let switches = switches.map(<[Switch]>::to_vec);
        for (first, count, switches) in [(seed, 1, switches), (0, SCHEDULES, None)] {
            let strategy = Strategy::Seeded;
            let old = self.config.schedules.clone();
            self.config.schedules = Schedules { strategy, first, count, switches, ..old };
            let result = run_case(case, Mode::Logical, &mut self.pool, &self.config);
            if failure.is(&result.findings) {
                return result.how.first_failing_seed();
            }
        }
        None
    }

    fn smallest(
        &mut self,
        case: &Case,
        seed: u64,
        turns: Option<Vec<Switch>>,
        failure: &Failure,
    ) -> anyhow::Result<Option<Smallest>> {
        let same = |findings: &[Finding]| failure.is(findings);
        // The switches are those of the failing seed; a smaller case may fail by itself.
        for turns in [turns.as_deref(), None] {
            let shrunk = launch::ways::shrink::shrink(
                case,
                &mut self.pool,
                &self.config,
                seed,
                turns,
                &same,
            )?;
            if shrunk.is_some() {
                return Ok(shrunk);
            }
        }
        Ok(None)
    }
}

/// Threads a block of the failing run.
fn case_threads(failed: &CaseResult) -> u32 {
    let effective = failed.calls.iter().filter_map(|call| call.effective.as_ref());
    effective.map(|effective| effective.threads).max().unwrap_or(64)
}

fn told(smallest: &Smallest) -> String {
    let Smallest { result, switches, switches_before, trace, .. } = smallest;
    let schedule = match result.how.first_failing_seed() {
        Some(0) => "the plain round robin shows it: no thread is interrupted".to_owned(),
        _ => format!("{switches} switches between threads that could go on, of {switches_before}"),
    };
    let hash = result.how.schedules().and_then(|run| run.hash).unwrap_or_default();
    let mut text = format!("  {:<12}{schedule} (hash {hash:016x})\n", "schedule");
    for row in trace {
        text += &format!("  {row}\n");
    }
    text
}
