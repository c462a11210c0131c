//! `rankcheck.run/1`: the machine interface.

use launch::{CaseResult, Environment, Event, Summary};
use serde::Serialize;

use crate::file::ReportFile;
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
    cases: &'a [CaseResult],
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
                let document = Document {
                    schema: SCHEMA,
                    environment: &self.environment,
                    summary,
                    cases: &self.cases,
                };
                let text = serde_json::to_string_pretty(&document).map_err(|reason| {
                    ReportError { path: "json".into(), reason: reason.to_string() }
                })?;
                self.file.finish(&(text + "\n"))?;
            }
        }
        Ok(())
    }
}
