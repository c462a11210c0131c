//! A run that is killed loses at most the cases that were running: the journal has the others, reports are
//! made of it, and a later run goes on from it.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rankcheck_tests::{CORRECT, Project};
use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_rankcheck-under-test");

/// Four cases; while the file `hang` is there, the last one never ends.
const SCENARIO: &str = "
scenario: t/s
kernel: t/k
modes: [logical]
dtype: f16
ranks: 2
matrix: {shape: [1x8, 2x8, 3x8, 4x8]}
";
const ARGUMENTS: [&str; 5] = ["run", "-j", "1", "--report", "json=out.json"];

fn project() -> Project {
    let hang = "  if (m == 4 && access(\"hang\", F_OK) == 0) for (volatile int i = 0;; i++);\n";
    let project = Project::with_kernel(BINARY, &(hang.to_owned() + CORRECT));
    let source = std::fs::read_to_string(project.path().join("kernels/k.hip")).unwrap();
    project.write("kernels/k.hip", &format!("#include <unistd.h>\n{source}"));
    project.write("scenarios/s.yaml", SCENARIO);
    project
}

fn cases(journal: &Path) -> usize {
    let text = std::fs::read_to_string(journal).unwrap_or_default();
    text.lines().filter(|line| line.starts_with("{\"case\"") && line.ends_with('}')).count()
}

/// Runs until three cases have finished and kills the run with SIGKILL.
fn killed(project: &Project) {
    project.write("hang", "");
    let mut command = project.command(&ARGUMENTS);
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let journal = project.path().join("out.json.journal");
    let deadline = Instant::now() + Duration::from_secs(120);
    while cases(&journal) < 3 {
        assert!(Instant::now() < deadline, "three cases finish");
        assert!(run.try_wait().unwrap().is_none(), "the last case hangs");
        std::thread::yield_now();
    }
    run.kill().unwrap();
    run.wait().unwrap();
    std::fs::remove_file(project.path().join("hang")).unwrap();
}

fn json(project: &Project, file: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(project.path().join(file)).unwrap()).unwrap()
}

#[test]
fn a_killed_run_loses_no_finished_case() {
    let project = project();
    killed(&project);
    assert!(!project.path().join("out.json").exists(), "a report appears whole or not at all");
    let said = project.run(&["report", "out.json.journal", "--report", "json=made.json"]);
    assert!(said.stderr.contains("3 of 4 cases had finished"), "{}", said.stderr);
    assert_eq!(said.code, Some(130), "it did not come to its end");
    let report = json(&project, "made.json");
    let verdicts: Vec<&str> = report["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["pass"; 3]);
    let summary = &report["summary"];
    assert_eq!((&summary["passed"], &summary["not_run"]), (&3.into(), &1.into()), "{summary}");
    let left: Vec<String> = std::fs::read_dir(project.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert!(!left.iter().any(|name| name.starts_with('.')), "partial files: {left:?}");
}

#[test]
fn a_resumed_run_runs_only_what_is_left() {
    let project = project();
    killed(&project);
    let journal = project.path().join("out.json.journal");
    // The writer may have been killed in the middle of a line.
    let mut text = std::fs::read_to_string(&journal).unwrap();
    text += "{\"case\":{\"fingerp";
    std::fs::write(&journal, &text).unwrap();
    let first = project.run(&["report", "out.json.journal", "--report", "json=made.json"]);
    assert!(first.stderr.contains(":5: the last line is not whole"), "{}", first.stderr);
    let mut again = ARGUMENTS.to_vec();
    again.extend(["--resume", "out.json.journal"]);
    let said = project.run(&again);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    assert!(said.stderr.contains("3 of 4 cases had finished"), "{}", said.stderr);
    let (before, after) = (json(&project, "made.json"), json(&project, "out.json"));
    assert_eq!(after["summary"]["passed"], 4);
    assert_eq!(after["cases"].as_array().unwrap()[..3], before["cases"].as_array().unwrap()[..]);
    assert!(!journal.exists(), "everything in it stands in the report");
}

#[test]
fn a_resumed_run_without_a_report_keeps_its_journal() {
    let project = project();
    killed(&project);
    let said = project.run(&["run", "-j", "1", "--resume", "out.json.journal"]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    assert_eq!(cases(&project.path().join("out.json.journal")), 4);
}

#[test]
fn what_has_changed_since_runs_again_or_is_refused() {
    let project = project();
    killed(&project);
    let resume = ["run", "-j", "1", "--report", "json=out.json", "--resume", "out.json.journal"];
    let mut other = resume.to_vec();
    other.extend(["--seed", "5"]);
    let said = project.run(&other);
    assert_eq!(said.code, Some(2));
    assert!(
        said.stderr.contains("it was run with `run`, this is `run --seed 5`"),
        "{}",
        said.stderr
    );

    let source = std::fs::read_to_string(project.path().join("kernels/k.hip")).unwrap();
    project.write("kernels/k.hip", &format!("{source}\n// changed\n"));
    let said = project.run(&resume);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    assert!(said.stderr.contains("0 of 4 cases had finished"), "{}", said.stderr);
    let again = "runs again, for it or its kernel has changed since: cpu-logical::t/s/k.";
    assert_eq!(said.stderr.matches(again).count(), 3, "{}", said.stderr);
    assert_eq!(json(&project, "out.json")["summary"]["passed"], 4);
}

#[test]
fn a_journal_that_was_asked_for_stays() {
    let project = project();
    let said = project.run(&["run", "--journal", "kept.journal"]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    let said = project.run(&["report", "kept.journal", "--report", "junit=made.xml"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let junit = std::fs::read_to_string(project.path().join("made.xml")).unwrap();
    assert_eq!(junit.matches("<testcase ").count(), 4, "{junit}");
}

#[test]
fn other_files_are_no_journals() {
    let project = project();
    project.write("a.journal", "hello\nworld\n");
    let said = project.run(&["report", "a.journal"]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("a.journal:1: this is no line of a journal"), "{}", said.stderr);
    project.write("b.journal", "");
    let said = project.run(&["report", "b.journal"]);
    assert!(said.stderr.contains("an empty journal"), "{}", said.stderr);
}
