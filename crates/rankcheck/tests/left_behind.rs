//! A run that must kill its ranks leaves none of them spinning.

use std::path::Path;
use std::process::Command;

/// Processes with this in their environment.
fn marked(mark: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter(|process| {
            let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
            String::from_utf8_lossy(&environment).contains(mark)
        })
        .map(|process| process.file_name().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn ranks_that_hang_are_gone_when_the_run_is() {
    let mark = format!("MARK_OF_THIS_TEST={}", std::process::id());
    let (name, value) = mark.split_once('=').unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(env!("CARGO_BIN_EXE_rankcheck"))
        .args(["run", "tests/mutants/meet/processes.yaml"])
        .current_dir(root)
        .env(name, value)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("timeout"), "{text}");
    assert_eq!(marked(&mark), Vec::<String>::new());
}
