//! How many seeds it takes with `--weak` until a missing release gives wrong bytes, the median of
//! several starts, with both compilers. Printed, never asserted.
//!
//! `cargo bench -p rankcheck --bench late_stores`

use std::path::Path;
use std::process::Command;

use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_rankcheck");
const SCENARIO: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/mutants/post/three_calls.yaml");
/// Mutants whose flag publishes too little, or too late.
const MUTANTS: [&str; 4] =
    ["relaxed_flag", "release_of_agent", "fence_of_agent", "fence_behind_flag"];
const STARTS: u64 = 11;
/// Seeds after which a start is given up.
const MOST: u64 = 60;

fn main() {
    println!("seeds to the first wrong bytes, median and most of {STARTS} starts");
    for compiler in ["g++", "clang++"] {
        for mutant in MUTANTS {
            let mut seeds: Vec<u64> = (0..STARTS)
                .map(|start| seeds_to_wrong_bytes(compiler, mutant, 1000 * start))
                .collect();
            seeds.sort_unstable();
            let show = |seeds: u64| match seeds {
                ..=MOST => seeds.to_string(),
                _ => format!("more than {MOST}"),
            };
            let (median, most) = (seeds[seeds.len() / 2], seeds[seeds.len() - 1]);
            println!("{compiler:<8} {mutant:<20} {:>14} {:>14}", show(median), show(most));
        }
    }
}

fn seeds_to_wrong_bytes(compiler: &str, mutant: &str, first: u64) -> u64 {
    let folder = tempfile::tempdir().expect("a folder");
    let wrong = |seed: u64| {
        let report = folder.path().join("report.json");
        let output = Command::new(BINARY)
            .args(["run", SCENARIO, "--mode", "logical", "-k", &format!(".{mutant}/"), "--weak"])
            .args(["--schedule-seed", &seed.to_string(), "--report"])
            .arg(format!("json={}", report.display()))
            .env("RANKCHECK_CXX", compiler)
            .output();
        output.expect("the binary starts");
        gives_wrong_bytes(&report)
    };
    (0..MOST).find(|index| wrong(first + index)).unwrap_or(MOST) + 1
}

fn gives_wrong_bytes(report: &Path) -> bool {
    let text = std::fs::read_to_string(report).expect("a report");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    let findings = report["cases"][0]["findings"].as_array().expect("findings");
    findings.iter().any(|finding| finding["kind"] == "output_mismatch")
}
