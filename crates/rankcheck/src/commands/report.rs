//! `rankcheck report JOURNAL`: every kind of report of a run that wrote a journal, however it ended.

use std::path::PathBuf;

use clap::Args;
use report::Kind;

use crate::arguments::reports::{Destinations, report_argument};
use crate::exit::Exit;
use crate::journal::Journal;

/// Arguments of `report`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The journal of a run.
    journal: PathBuf,
    /// `human`, `json`, `junit` or `markdown`, with `=PATH` for a file; repeatable
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

/// Folds a journal as the run itself would have done.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let journal = Journal::read(&arguments.journal)?;
    if let Some(line) = journal.torn {
        let path = arguments.journal.display();
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
