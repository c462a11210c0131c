//! `rankcheck report FILE..`: reports of what there is already: a run, measurements, a comparison.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use bench::compare::{Comparison, Policy, between, within};
use bench::export::csv;
use clap::Args;
use report::{
    Kind, ReportFile, RunDocument, bench_markdown, bench_page, comparison_markdown,
    comparison_page, comparison_text, run_markdown, run_page,
};

use crate::arguments::reports::{Destinations, report_argument};
use crate::commands::{emit, json};
use crate::exit::Exit;
use crate::journal::Journal;
use crate::measurements::{self, FileArgument};

/// Arguments of `report`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The journal or the JSON of a run, a comparison, or measurements; of measurements there may be several, as
    /// `rankcheck compare` takes them.
    #[arg(required = true, value_name = "[NAME=]FILE")]
    files: Vec<FileArgument>,
    /// `human`, `json`, `junit`, `markdown`, `html` or `csv`, with `=PATH` for a file; repeatable
    /// [default: human].
    #[arg(long, value_name = "KIND[=PATH]", value_parser = report_argument)]
    report: Vec<(Kind, Option<PathBuf>)>,
    /// An unsupported case makes the verdict fail.
    #[arg(long)]
    strict: bool,
    /// List unsupported cases one by one.
    #[arg(short, long)]
    verbose: bool,
}

/// Makes reports; the exit code is that of a run, 0 otherwise.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    if let [file] = &arguments.files[..] {
        let path = file.path();
        let text = std::fs::read(path).with_context(|| path.display().to_string())?;
        match schema(&text).as_deref() {
            Some("rankcheck.journal/1") => return journal(arguments, path),
            // Called one: what is wrong with it is better said by who knows journals.
            None if path.extension().is_some_and(|is| is == "journal") => {
                return journal(arguments, path);
            }
            Some("rankcheck.run/1") => {
                let document: RunDocument =
                    serde_json::from_slice(&text).with_context(|| path.display().to_string())?;
                write(&arguments.report, |kind| of_run(kind, &document, &text))?;
                return Ok(Exit::of(document.summary(), arguments.strict));
            }
            Some("rankcheck.compare/1") => {
                let comparison: Comparison =
                    serde_json::from_slice(&text).with_context(|| path.display().to_string())?;
                write(&arguments.report, |kind| of_comparison(kind, &comparison))?;
                return Ok(Exit::Passed);
            }
            _ => {}
        }
    }
    let read = measurements::read(&arguments.files)?;
    match &read[..] {
        [one] => {
            // A single arm is nothing to compare, and still to be shown.
            let comparison = within(&one.file, None, one.source.clone(), Policy::default()).ok();
            write(&arguments.report, |kind| match kind {
                Kind::Html => Ok(bench_page(&one.file, comparison.as_ref())),
                Kind::Csv => Ok(csv(&one.file)),
                Kind::Json => Ok(bench::file::write(&one.file)?),
                Kind::Markdown => Ok(bench_markdown(&one.file, comparison.as_ref())),
                Kind::Human => Ok(match &comparison {
                    Some(comparison) => comparison_text(comparison),
                    None => bench_markdown(&one.file, None),
                }),
                Kind::Junit => anyhow::bail!("measurements have no report of this kind"),
            })?;
        }
        [base, other] => {
            let sources = [base.source.clone(), other.source.clone()];
            let comparison = between([&base.file, &other.file], sources, Policy::default())?;
            write(&arguments.report, |kind| of_comparison(kind, &comparison))?;
        }
        others => anyhow::bail!("{} things to compare, and two can be", others.len()),
    }
    Ok(Exit::Passed)
}

/// The format that JSON says it has: of a whole file, or of a journal's first line.
fn schema(text: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Schema {
        schema: String,
    }
    #[derive(serde::Deserialize)]
    struct FirstLine {
        run: Schema,
    }
    let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let of_line = serde_json::from_slice::<FirstLine>(first).map(|line| line.run.schema);
    of_line.or_else(|_| serde_json::from_slice::<Schema>(text).map(|file| file.schema)).ok()
}

fn of_run(kind: Kind, document: &RunDocument, text: &[u8]) -> anyhow::Result<String> {
    Ok(match kind {
        Kind::Html => run_page(document),
        Kind::Human | Kind::Markdown => run_markdown(document),
        Kind::Json => String::from_utf8(text.to_owned())?,
        Kind::Junit => anyhow::bail!("the JSON of a run has no such report; its journal has"),
        Kind::Csv => anyhow::bail!("csv is for measurements, not for runs"),
    })
}

/// A comparison as a report of this kind.
pub(super) fn of_comparison(kind: Kind, comparison: &Comparison) -> anyhow::Result<String> {
    Ok(match kind {
        Kind::Human => comparison_text(comparison),
        Kind::Json => json(comparison)?,
        Kind::Markdown => comparison_markdown(comparison),
        Kind::Html => comparison_page(comparison),
        Kind::Junit | Kind::Csv => {
            anyhow::bail!(
                "a comparison has no report of this kind (human, json, markdown and html)"
            )
        }
    })
}

/// Writes every report that was asked for; for people where none was.
pub(super) fn write(
    reports: &[(Kind, Option<PathBuf>)],
    text: impl Fn(Kind) -> anyhow::Result<String>,
) -> anyhow::Result<()> {
    let human = [(Kind::Human, None)];
    let reports = if reports.is_empty() { &human[..] } else { reports };
    for (kind, path) in reports {
        let text = text(*kind)?;
        match path {
            None => emit(&text)?,
            Some(path) => ReportFile::open(Some(path))?.finish(&text)?,
        }
    }
    Ok(())
}

/// Folds a journal as the run itself would have done.
fn journal(arguments: &Arguments, path: &Path) -> anyhow::Result<Exit> {
    let journal = Journal::read(path)?;
    if let Some(line) = journal.torn {
        let path = path.display();
        eprintln!("{path}:{line}: the last line is not whole (its writer was killed); left out");
    }
    let mut destinations = Destinations::open(&arguments.report, arguments.verbose)?;
    let (events, summary) = journal.events();
    if journal.summary.is_none() {
        eprintln!(
            "the run did not come to its end: {} of {} cases had finished",
            journal.cases.len(),
            summary.selected
        );
    }
    events.iter().for_each(|event| destinations.event(event));
    destinations.finish()?;
    Ok(Exit::of(&summary, arguments.strict))
}
