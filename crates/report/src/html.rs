//! A run as one page of HTML, at its end.

use verdict::{CaseResult, Environment, Event};

use crate::file::ReportFile;
use crate::json::document;
use crate::page::{RunDocument, run_page};
use crate::{ReportError, Reporter};

/// Writes a page that needs nothing but itself.
#[derive(Debug)]
pub struct Html {
    file: ReportFile,
    environment: Environment,
    cases: Vec<CaseResult>,
}

impl Html {
    /// A report to `file`.
    pub fn new(file: ReportFile) -> Html {
        Html { file, environment: Environment::default(), cases: Vec::new() }
    }
}

impl Reporter for Html {
    fn event(&mut self, event: &Event) -> Result<(), ReportError> {
        match event {
            Event::RunStarted { environment, .. } => self.environment = environment.clone(),
            Event::CaseFinished(case) => self.cases.push((**case).clone()),
            Event::RunFinished(summary) => {
                // The page is made of the machine interface, so that it shows nothing that is not in there.
                let text = document(&self.environment, summary, &self.cases)?;
                let run: RunDocument = serde_json::from_str(&text).map_err(|reason| {
                    ReportError { path: "html".into(), reason: reason.to_string() }
                })?;
                self.file.finish(&run_page(&run))?;
            }
        }
        Ok(())
    }
}
