//! JUnit XML, one test suite a device and mode.

use std::collections::BTreeMap;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use verdict::{CaseResult, Event, Verdict};

use crate::file::ReportFile;
use crate::human::failure_text;
use crate::{ReportError, Reporter};

/// Writes JUnit XML at the end of a run.
#[derive(Debug)]
pub struct Junit {
    file: ReportFile,
    suites: BTreeMap<String, Vec<TestCase>>,
}

impl Junit {
    /// A report to `file`.
    pub fn new(file: ReportFile) -> Junit {
        Junit { file, suites: BTreeMap::new() }
    }
}

impl Reporter for Junit {
    fn event(&mut self, event: &Event) -> Result<(), ReportError> {
        match event {
            Event::RunStarted { .. } => {}
            Event::CaseFinished(case) => {
                let suite = format!("{}-{}", case.device, case.mode);
                self.suites.entry(suite).or_default().push(test_case(case));
            }
            Event::RunFinished(summary) => {
                let mut report = Report::new("rankcheck");
                report.set_time(Duration::from_secs_f64(summary.duration_s.max(0.0)));
                for (name, cases) in std::mem::take(&mut self.suites) {
                    let mut suite = TestSuite::new(name);
                    suite.add_test_cases(cases);
                    report.add_test_suite(suite);
                }
                let text = report.to_string().map_err(|reason| ReportError {
                    path: "junit".into(),
                    reason: reason.to_string(),
                })?;
                self.file.finish(&text)?;
            }
        }
        Ok(())
    }
}

fn test_case(case: &CaseResult) -> TestCase {
    let reason = || case.reason.as_ref().map_or_else(String::new, ToString::to_string);
    let status = match case.verdict {
        Verdict::Pass => TestCaseStatus::success(),
        Verdict::Unsupported => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(format!("unsupported: {}", reason()));
            status
        }
        Verdict::NotRun => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_type("not_run").set_message(reason());
            status
        }
        Verdict::Fail => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            if let Some(finding) = case.findings.first() {
                status.set_type(finding.kind.to_string()).set_message(&finding.explanation);
            }
            status.set_description(failure_text(case));
            status
        }
    };
    let mut test = TestCase::new(case.id.clone(), status);
    test.set_classname(case.scenario.clone());
    test.set_time(Duration::from_secs_f64(case.duration_s.max(0.0)));
    test
}
