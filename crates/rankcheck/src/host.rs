//! What the judge of host programs needs from the command line: cases, identity, reports.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use clap::Parser;
use guest_protocol::message::{Form, Program};
use launch::runner::distinct_problems;
use report::{Kind, document, failure_text};
use scenario::{Case, Mode};
use verdict::{CaseResult, Environment, Event, Identity, Replay, Source, Summary, Verdict};

use crate::arguments::reports::{Destinations, journal_beside, report_argument};
use crate::commands::select::Select;
use crate::environment;
use crate::journal::{Header, Writer};
use crate::load::{KernelStore, Loaded, load};

/// Reports of a judge that a library has started: `json=PATH,junit=PATH`.
pub(crate) const REPORT: &str = "RANKCHECK_REPORT";

/// Arguments that choose cases, as a program gives them.
#[derive(Debug, Parser)]
#[command(name = "rankcheck list", no_binary_name = true, disable_help_flag = true)]
struct Chosen {
    #[command(flatten)]
    select: Select,
}

/// The cases that arguments choose, in mode host.
pub(crate) fn choose(arguments: &[String]) -> anyhow::Result<Vec<Arc<Case>>> {
    let chosen = Chosen::try_parse_from(arguments)?;
    cases(Select { mode: vec![Mode::Host], ..chosen.select })
}

/// The cases of a selection whose mode is host.
pub(crate) fn cases(select: Select) -> anyhow::Result<Vec<Arc<Case>>> {
    let store = KernelStore::open(&select.kernels)?;
    let Loaded { cases, files, .. } = load(&select.paths, &store.library, select.seed)?;
    let chosen = select.choose(&cases, kernels::DeviceName::Cpu)?;
    if chosen.is_empty() {
        let elsewhere = match cases.iter().any(|case| case.modes.contains(&Mode::Host)) {
            true => "",
            false => "; their `modes:` leave host out",
        };
        anyhow::bail!(
            "nothing selected: {} cases in {files} files, none matches{elsewhere}",
            cases.len()
        );
    }
    Ok(chosen.into_iter().map(|(case, _)| Arc::new(case.clone())).collect())
}

/// Facts of this run that all results share.
pub(crate) struct Facts {
    pub environment: Environment,
}

impl Facts {
    /// Of this machine and working tree.
    pub(crate) fn here() -> Facts {
        Facts { environment: environment::describe(None) }
    }

    /// The identity of a program: its file, and the working tree.
    pub(crate) fn identity(&self, program: &Program) -> Identity {
        let hash = std::fs::read(&program.path).map(|bytes| kernels::hash(&bytes));
        let source = Source {
            path: shown(&program.path),
            commit: self.environment.commit.clone(),
            dirty: self.environment.dirty,
            sha256: hash.unwrap_or_default(),
        };
        Identity { source, replay: Replay::Program(program.replay.clone()) }
    }

    /// A result, as a guest asks for it.
    pub(crate) fn show(&self, result: &CaseResult, form: Form) -> String {
        match form {
            Form::Text => text(result),
            Form::Json => {
                let mut summary = Summary { selected: 1, problems: 1, ..Summary::default() };
                summary.add(result);
                summary.duration_s = result.duration_s;
                let cases = std::slice::from_ref(result);
                document(&self.environment, &summary, cases).unwrap_or_else(|e| e.to_string())
            }
        }
    }
}

/// A path below the current folder without that folder: reports name no person's home.
fn shown(path: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let below = Path::new(path).strip_prefix(&here);
    below.map_or_else(|_| path.to_owned(), |path| path.display().to_string())
}

fn text(result: &CaseResult) -> String {
    match (result.verdict, &result.reason) {
        (Verdict::Fail, _) => failure_text(result),
        (Verdict::Pass, _) => {
            let (calls, orders) = (result.calls.len(), result.how.orders());
            format!("PASS cpu-host::{}  {calls} calls, {orders} orders of ranks\n", result.id)
        }
        (_, Some(reason)) => format!("SKIP cpu-host::{}  {reason}\n", result.id),
        (_, None) => format!("SKIP cpu-host::{}\n", result.id),
    }
}

/// Reports of a run whose cases come from host programs, and its journal.
pub(crate) struct Reports {
    destinations: Destinations,
    /// The journal, and whether it stays when all reports are written.
    journal: Option<(Writer, bool)>,
    /// The first line that the journal could not take.
    lost: anyhow::Result<()>,
    summary: Summary,
}

impl Reports {
    /// Opens the reports that were asked for, and a journal at `journal`, or else beside the first report
    /// that goes to a file.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub(crate) fn open(
        destinations: Destinations,
        asked_for: &[(Kind, Option<PathBuf>)],
        journal: Option<&Path>,
        environment: &Environment,
        selected: usize,
    ) -> anyhow::Result<Reports> {
        let path = journal.map(Path::to_owned).or_else(|| journal_beside(asked_for));
        let journal = match path {
            None => None,
            Some(path) => {
                let arguments = std::env::args().skip(1).collect();
                let header = Header::of(arguments, environment.clone(), selected)?;
                // What a program's results rest on is not known here, so they have no fingerprints.
                let writer = Writer::create(&path, &header, HashMap::new())?;
                Some((writer, journal.is_some()))
            }
        };
        let summary = Summary { selected, ..Summary::default() };
        let mut reports = Reports { destinations, journal, lost: Ok(()), summary };
        let started = Event::RunStarted { environment: environment.clone(), selected };
        reports.destinations.event(&started);
        Ok(reports)
    }

    /// Takes a result.
    pub(crate) fn add(&mut self, result: CaseResult) {
        self.keep(&result);
        self.show(result);
    }

    /// Writes a result into the journal. Of a case that is kept twice, the later one counts.
    pub(crate) fn keep(&mut self, result: &CaseResult) {
        if let (Some((journal, _)), Ok(())) = (&mut self.journal, &self.lost) {
            self.lost = journal.event(&Event::CaseFinished(Box::new(result.clone())));
        }
    }

    /// Counts a result that the journal has, and reports it.
    pub(crate) fn show(&mut self, result: CaseResult) {
        self.summary.add(&result);
        let Summary { passed, failed, unsupported, not_run, .. } = self.summary;
        // A program may choose its cases as it goes.
        self.summary.selected = self.summary.selected.max(passed + failed + unsupported + not_run);
        self.destinations.event(&Event::CaseFinished(Box::new(result)));
    }

    /// Writes them all, and says how the run went.
    pub(crate) fn finish(
        mut self,
        cases: &[Arc<Case>],
        seconds: f64,
        interrupted: bool,
    ) -> anyhow::Result<Summary> {
        self.summary.problems = distinct_problems(cases.iter().map(|case| &case.problem));
        self.summary.duration_s = seconds;
        self.summary.interrupted = interrupted;
        let finished = Event::RunFinished(self.summary.clone());
        self.destinations.event(&finished);
        self.destinations.finish()?;
        self.lost?;
        match self.journal {
            Some((mut journal, true)) => journal.event(&finished)?,
            Some((journal, false)) => journal.remove()?,
            None => {}
        }
        Ok(self.summary)
    }
}

/// The reports that the environment asks for.
pub(crate) fn reports_asked_for() -> anyhow::Result<Vec<(Kind, Option<PathBuf>)>> {
    let Some(text) = std::env::var(REPORT).ok().filter(|text| !text.is_empty()) else {
        return Ok(Vec::new());
    };
    let one = |part: &str| report_argument(part).map_err(anyhow::Error::msg);
    text.split(',').map(one).collect::<Result<_, _>>().context(REPORT)
}
