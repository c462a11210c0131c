//! Runs mutants and twins, and judges the judge.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, bail};
use kernels::{Build, DeviceName, Library};
use launch::Runner;
use scenario::{Case, Mode, expand, find};
use serde::Serialize;
use verdict::{CaseResult, Environment, Event, Verdict};

use super::index::{Expected, Index, Mutant, TWIN, place};

/// What became of a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// The expected finding was made, at the expected place.
    Caught,
    /// It was not, or the mutant is none.
    Missed,
    /// Nothing was found, and nothing is wrong.
    ExpectedSurvivor,
    /// It cannot be shown here.
    Untestable,
}

/// What became of a twin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Twin {
    Pass,
    Fail,
}

/// One line of the matrix.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    /// `push/pair/self_skipped`; for rows that wait, what they wait for.
    pub mutant: String,
    /// Of the catalogue of reported faults.
    pub rows: Vec<String>,
    pub mechanism: String,
    pub mode: Option<Mode>,
    pub outcome: Outcome,
    pub twin: Option<Twin>,
    pub expected: Option<Expected>,
    /// The finding that was made.
    pub finding: Option<Expected>,
    /// Why, where the outcome does not say it.
    pub reason: Option<String>,
    pub seconds: f64,
    /// A command that runs the mutant again.
    pub replay: Option<String>,
}

/// All of it.
#[derive(Debug, Serialize)]
pub(crate) struct Matrix {
    pub schema: &'static str,
    pub environment: Environment,
    pub summary: Summary,
    pub mutants: Vec<Row>,
}

#[derive(Debug, Default, PartialEq, Serialize)]
pub(crate) struct Summary {
    pub caught: usize,
    pub missed: usize,
    pub expected_survivors: usize,
    pub untestable: usize,
    pub twins_passed: usize,
    pub twins_failed: usize,
    pub duration_s: f64,
    pub interrupted: bool,
}

/// The name of the format.
const SCHEMA: &str = "rankcheck.selftest/1";

/// Cases by scenario file.
type Cases = BTreeMap<String, Vec<Case>>;

/// One mutant in one mode, beside its twin.
struct Trial<'a> {
    mutant: &'a Mutant,
    mode: Mode,
    case: &'a Case,
    twin: &'a Case,
}

/// Runs every mutant and twin of `folder` in `modes`.
pub(crate) fn run(
    folder: &Path,
    library: &Library,
    modes: &[Mode],
    runner: &Runner,
    environment: Environment,
) -> anyhow::Result<Matrix> {
    let started = Instant::now();
    let index = Index::read(folder)?;
    let cases = cases(folder, &index, library)?;
    let device = runner.config.target.device();
    let trials = trials(&index, &cases, modes, device)?;
    let mut results = BTreeMap::new();
    let selected = selected(&trials);
    let run = runner.run(&selected, Vec::new(), environment.clone(), &mut |event| {
        if let Event::CaseFinished(result) = event {
            results.insert((result.id.clone(), result.mode), (**result).clone());
        }
    })?;
    let mut rows: Vec<Row> = trials.iter().map(|trial| trial.judge(&results, runner)).collect();
    let shown: Vec<String> = rows.iter().map(|row| row.mutant.clone()).collect();
    let rest = index.mutants.iter().filter(|m| !shown.contains(&m.name()));
    rows.extend(rest.map(|mutant| not_here(mutant, device)));
    rows.extend(index.waiting.iter().map(|waiting| Row {
        rows: waiting.rows.clone(),
        mechanism: waiting.mechanism.clone(),
        ..untestable(waiting.rows.join(" "), format!("waits for {}", waiting.needs))
    }));
    let mut summary = Summary::of(&rows, &results);
    summary.interrupted = run.interrupted;
    summary.duration_s = started.elapsed().as_secs_f64();
    Ok(Matrix { schema: SCHEMA, environment, summary, mutants: rows })
}

fn cases(folder: &Path, index: &Index, library: &Library) -> anyhow::Result<Cases> {
    let mut cases = Cases::new();
    for Mutant { scenario, .. } in &index.mutants {
        if !cases.contains_key(scenario) {
            for source in find(&folder.join(scenario), &[])? {
                let expansion = expand(&source.path, &source.parse()?, library, None)?;
                cases.insert(scenario.clone(), expansion.cases);
            }
        }
    }
    Ok(cases)
}

fn trials<'a>(
    index: &'a Index,
    cases: &'a Cases,
    modes: &[Mode],
    device: DeviceName,
) -> anyhow::Result<Vec<Trial<'a>>> {
    let mut trials = Vec::new();
    for mutant in &index.mutants {
        let of = |variant: &str| {
            let mut of = cases[&mutant.scenario].iter().filter(|case| case.variant == variant);
            match (of.next(), of.next()) {
                (Some(case), None) => Ok(case),
                (None, _) => bail!("{} has no variant `{variant}`", mutant.scenario),
                (Some(_), Some(_)) => bail!("{} gives several cases a variant", mutant.scenario),
            }
        };
        let context = || format!("mutant {}", mutant.name());
        let case = of(&mutant.mutant).with_context(context)?;
        let twin = of(TWIN).with_context(context)?;
        let hidden = mutant.hidden_on(device).is_some();
        let shown = |mode: &Mode| !hidden && case.modes.contains(mode) && mutant.shows_in(*mode);
        let modes = modes.iter().copied().filter(shown);
        trials.extend(modes.map(|mode| Trial { mutant, mode, case, twin }));
    }
    Ok(trials)
}

/// Every case once, though mutants share twins.
fn selected<'a>(trials: &[Trial<'a>]) -> Vec<(&'a Case, Mode)> {
    let all = trials.iter().flat_map(|t| [(t.case, t.mode), (t.twin, t.mode)]);
    let once: BTreeMap<_, _> =
        all.map(|(case, mode)| ((case.id.as_str(), mode), (case, mode))).collect();
    once.into_values().collect()
}

type Results = BTreeMap<(String, Mode), CaseResult>;

impl Trial<'_> {
    fn judge(&self, results: &Results, runner: &Runner) -> Row {
        let of = |case: &Case| results.get(&(case.id.clone(), self.mode));
        let missing = || untestable(self.mutant.name(), "the run ended before it".into());
        let (Some(result), Some(twin)) = (of(self.case), of(self.twin)) else { return missing() };
        let (outcome, finding, reason) = match self.is_mutant(runner) {
            Ok(()) => verdict(self.mutant, runner.config.target.device(), result),
            Err(why) => (Outcome::Missed, None, Some(why)),
        };
        let twin_reason = (!passed_or_unsupported(twin)).then(|| {
            let why = twin.findings.first().map(|finding| finding.explanation.clone());
            format!("the twin: {:?}, {}; {}", twin.verdict, why.unwrap_or_default(), twin.replay)
        });
        Row {
            mutant: self.mutant.name(),
            rows: self.mutant.rows.clone(),
            mechanism: self.mutant.mechanism.clone(),
            mode: Some(self.mode),
            outcome,
            twin: Some(if twin_reason.is_none() { Twin::Pass } else { Twin::Fail }),
            expected: self.mutant.expected_on(runner.config.target.device()).cloned(),
            finding,
            reason: reason.or(twin_reason),
            seconds: result.duration_s,
            replay: Some(result.replay.to_string()),
        }
    }

    /// A mutant whose switch changes nothing proves nothing.
    fn is_mutant(&self, runner: &Runner) -> Result<(), String> {
        let object = |case: &Case| {
            let build = match runner.config.target.device() {
                DeviceName::Cpu => Build::Fast,
                gpu => Build::Gpu(gpu),
            };
            let object = runner.config.builder.object(case, 0, build);
            object.map(|object| object.sha256).map_err(|error| error.to_string())
        };
        match object(self.case)? == object(self.twin)? {
            true => Err("its switch does not change the compiled object".into()),
            false => Ok(()),
        }
    }
}

/// The outcome, the finding that decided it, and a reason where one is needed.
fn verdict(
    mutant: &Mutant,
    device: DeviceName,
    result: &CaseResult,
) -> (Outcome, Option<Expected>, Option<String>) {
    let first = result.findings.first();
    match (mutant.expected_on(device), &mutant.survives, result.verdict) {
        (_, _, Verdict::Unsupported | Verdict::NotRun) => {
            let reason = result.reason.as_ref().map(ToString::to_string);
            (Outcome::Untestable, None, reason)
        }
        (_, Some(why), Verdict::Pass) => (Outcome::ExpectedSurvivor, None, Some(why.clone())),
        (_, Some(_), Verdict::Fail) => {
            let reason = "was to survive, but a finding was made".to_owned();
            (Outcome::Missed, first.map(place), Some(reason))
        }
        (Some(expected), None, _) => match result.findings.iter().find(|f| expected.is(f)) {
            Some(finding) => (Outcome::Caught, Some(place(finding)), None),
            None => {
                let found = first.map_or("nothing was found".into(), |f| place(f).to_string());
                let reason = format!("expected {expected}; found {found}");
                (Outcome::Missed, first.map(place), Some(reason))
            }
        },
        (None, None, _) => unreachable!("checked when the index was read"),
    }
}

/// A twin that the device cannot run accuses nobody.
fn passed_or_unsupported(twin: &CaseResult) -> bool {
    matches!(twin.verdict, Verdict::Pass | Verdict::Unsupported)
}

fn not_here(mutant: &Mutant, device: DeviceName) -> Row {
    let reason = match (&mutant.modes, mutant.hidden_on(device)) {
        (_, Some(why)) => why,
        (Some(modes), None) => {
            let modes: Vec<&str> = modes.iter().map(|mode| mode.name()).collect();
            format!("shows in {} mode only", modes.join(" and "))
        }
        (None, None) => "its scenario does not run in the modes that were asked for".into(),
    };
    let Mutant { rows, mechanism, .. } = mutant;
    Row {
        rows: rows.clone(),
        mechanism: mechanism.clone(),
        expected: mutant.expect.clone(),
        ..untestable(mutant.name(), reason)
    }
}

fn untestable(mutant: String, reason: String) -> Row {
    Row {
        mutant,
        rows: Vec::new(),
        mechanism: String::new(),
        mode: None,
        outcome: Outcome::Untestable,
        twin: None,
        expected: None,
        finding: None,
        reason: Some(reason),
        seconds: 0.0,
        replay: None,
    }
}

impl Summary {
    fn of(rows: &[Row], results: &Results) -> Summary {
        let count = |outcome| rows.iter().filter(|row| row.outcome == outcome).count();
        let twins = || results.values().filter(|result| result.variant == TWIN);
        let passed = twins().filter(|twin| twin.verdict == Verdict::Pass).count();
        let failed = twins().filter(|twin| !passed_or_unsupported(twin)).count();
        Summary {
            caught: count(Outcome::Caught),
            missed: count(Outcome::Missed),
            expected_survivors: count(Outcome::ExpectedSurvivor),
            untestable: count(Outcome::Untestable),
            twins_passed: passed,
            twins_failed: failed,
            ..Summary::default()
        }
    }
}
