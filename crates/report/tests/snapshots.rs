//! What people and CI read, compared with committed files. The run in `recorded/results.json` has
//! passes, failures, an unsupported case and one that was not run.
//!
//! To accept a change: `INSTA_UPDATE=always cargo test -p report --test snapshots` (or `cargo insta
//! review`), then read the difference.

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
    let texts: Vec<String> = failed.into_iter().map(failure_text).collect();
    insta::assert_snapshot!("failures", texts.join("\n"));
}

#[test]
fn markdown() {
    let text = report(|file| Box::new(Markdown::new(file)));
    assert!(text.lines().count() <= 25);
    insta::assert_snapshot!("summary", text);
}

#[test]
fn junit() {
    insta::assert_snapshot!("junit", report(|file| Box::new(Junit::new(file))));
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
