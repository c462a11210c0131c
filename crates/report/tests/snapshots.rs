//! What people and CI read, compared with committed files. The run in `recorded/results.json` has
//! passes, failures, an unsupported case and one that was not run.
//!
//! To accept a change: `UPDATE_SNAPSHOTS=1 cargo test -p report --test snapshots`, then read the
//! difference.

use std::path::{Path, PathBuf};

use report::{Json, Junit, Markdown, ReportFile, Reporter, failure_text};
use serde::Deserialize;
use verdict::{CaseResult, Environment, Event, Summary};

#[derive(Deserialize)]
struct Recorded {
    environment: Environment,
    summary: Summary,
    cases: Vec<CaseResult>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded")
}

fn recorded() -> Recorded {
    let text = std::fs::read_to_string(folder().join("results.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn matches(name: &str, text: &str) {
    let file = folder().join(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&file, text).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(committed == text, "{name} differs; it now reads:\n{text}");
}

/// What a reporter writes for the recorded run.
fn report(make: fn(ReportFile) -> Box<dyn Reporter>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report");
    let Recorded { environment, summary, cases } = recorded();
    let mut reporter = make(ReportFile::open(Some(&path)).unwrap());
    assert!(!path.exists(), "a report appears whole or not at all");
    reporter.event(&Event::RunStarted { environment, selected: cases.len() }).unwrap();
    for case in cases {
        reporter.event(&Event::CaseFinished(Box::new(case))).unwrap();
    }
    reporter.event(&Event::RunFinished(summary)).unwrap();
    std::fs::read_to_string(&path).unwrap()
}

#[test]
fn a_failure_for_people() {
    let cases = recorded().cases;
    let failed: Vec<&CaseResult> =
        cases.iter().filter(|case| case.verdict == verdict::Verdict::Fail).take(2).collect();
    matches("failures.txt", &failed.into_iter().map(failure_text).collect::<Vec<_>>().join("\n"));
}

#[test]
fn markdown() {
    let text = report(|file| Box::new(Markdown::new(file)));
    assert!(text.lines().count() <= 25);
    matches("summary.md", &text);
}

#[test]
fn junit() {
    matches("junit.xml", &report(|file| Box::new(Junit::new(file))));
}

#[test]
fn json_keeps_its_flat_names() {
    let text = report(|file| Box::new(Json::new(file)));
    let now: serde_json::Value = serde_json::from_str(&text).unwrap();
    let recorded = std::fs::read_to_string(folder().join("run.json")).unwrap();
    assert_eq!(now, serde_json::from_str::<serde_json::Value>(&recorded).unwrap());
}

#[test]
fn a_report_that_is_never_finished_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    drop(ReportFile::open(Some(&folder.path().join("report.json"))).unwrap());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
