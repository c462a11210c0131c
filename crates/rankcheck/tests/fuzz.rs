//! Random cases: none of a right kernel fails, and a wrong one leaves a small scenario behind.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn rankcheck(arguments: &[&str]) -> (Option<i32>, String) {
    let output: Output = Command::new(env!("CARGO_BIN_EXE_rankcheck"))
        .args(arguments)
        .current_dir(root())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code(), text + &String::from_utf8_lossy(&output.stderr))
}

#[test]
fn no_case_of_a_right_kernel_fails() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let (code, text) =
        rankcheck(&["fuzz", "--kernel", "all_gather/push", "--cases", "60", "--out", out]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("60 cases") && text.contains("permuted"), "{text}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_failure_becomes_a_small_scenario_that_replays_it() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let wrong = ["--kernel", "mutants/push", "--variant", "n_as_output_stride"];
    let found = ["--kernels", "tests/mutants", "--mode", "logical", "--out", out];
    let (code, text) = rankcheck(&[&["fuzz"], &wrong[..], &found[..]].concat());
    assert_eq!(code, Some(1), "{text}");
    let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let scenario = std::fs::read_to_string(&file).unwrap();
    assert!(scenario.contains("ranks: 1\n") && scenario.contains("group: world"), "{scenario}");
    assert!(!scenario.contains("calls:"), "{scenario}");
    let replay = ["run", file.to_str().unwrap(), "--kernels", "tests/mutants"];
    let (code, text) = rankcheck(&replay);
    assert_eq!(code, Some(1), "{text}");
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let (code, text) = rankcheck(&["fuzz", "--kernel", "all_gather/push", "--variant", "hoist"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("no variant `hoist`"), "{text}");
}
