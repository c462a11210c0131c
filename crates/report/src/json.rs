//! `rankcheck.run/1`: the machine interface.

use serde::Serialize;
use verdict::{CaseResult, Environment, Event, Summary};

use crate::file::ReportFile;
use crate::view::CaseView;
use crate::{ReportError, Reporter};

/// The name of the format.
pub(crate) const SCHEMA: &str = "rankcheck.run/1";

/// Writes one JSON document at the end of a run.
#[derive(Debug)]
pub struct Json {
    file: ReportFile,
    environment: Environment,
    cases: Vec<CaseResult>,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    environment: &'a Environment,
    summary: &'a Summary,
    cases: Vec<CaseView<'a>>,
}

/// A run as one JSON document.
///
/// # Errors
/// It cannot be written as JSON.
pub fn document(
    environment: &Environment,
    summary: &Summary,
    cases: &[CaseResult],
) -> Result<String, ReportError> {
    let cases = cases.iter().map(CaseView::of).collect();
    let document = Document { schema: SCHEMA, environment, summary, cases };
    let text = serde_json::to_string_pretty(&document);
    let wrong =
        |reason: serde_json::Error| ReportError { path: "json".into(), reason: reason.to_string() };
    Ok(text.map_err(wrong)? + "\n")
}

impl Json {
    /// A report to `file`.
    pub fn new(file: ReportFile) -> Json {
        Json { file, environment: Environment::default(), cases: Vec::new() }
    }
}

impl Reporter for Json {
    fn event(&mut self, event: &Event) -> Result<(), ReportError> {
        match event {
            Event::RunStarted { environment, .. } => self.environment = environment.clone(),
            Event::CaseFinished(case) => self.cases.push((**case).clone()),
            Event::RunFinished(summary) => {
                self.file.finish(&document(&self.environment, summary, &self.cases)?)?;
            }
        }
        Ok(())
    }
}
