//! What a user waits for, as figures of one run: small cases, real processes, the kernel's speed.
//! Printed, never asserted.
//!
//! `cargo bench -p rankcheck`

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_rankcheck");

/// Runs a scenario in an empty folder; the report, and the wall time in seconds.
fn run(scenario: &str, arguments: &[&str]) -> (Value, f64) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("bench.yaml");
    std::fs::write(&file, scenario).expect("the scenario");
    let started = Instant::now();
    let output = Command::new(BINARY)
        .args(["run", "bench.yaml", "--report", "json=report.json"])
        .args(arguments)
        .current_dir(folder.path())
        .output()
        .expect("the binary starts");
    let wall = started.elapsed().as_secs_f64();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let text = std::fs::read_to_string(folder.path().join("report.json")).expect("the report");
    (serde_json::from_str(&text).expect("JSON"), wall)
}

fn sum(report: &Value, field: &str) -> f64 {
    report["cases"].as_array().into_iter().flatten().filter_map(|case| case[field].as_f64()).sum()
}

fn main() {
    println!("{}", device::hardware::describe_hardware());

    let small = "scenario: bench/small
kernel: all_gather/push
allow_cases: 1000
matrix:
  variant: [base, hoisted, grouped2, grouped4, grouped8]
  ranks: [2, 4]
  dtype: [u8, f16, f32, f64]
  shape: [7x255, 9x257, 33x300, 1x1, 16x256]
  blocks: [1, 2, 3, 4, 5]
";
    run(small, &["--mode", "logical", "-k", "b1"]); // compiles
    let (report, wall) = run(small, &["--mode", "logical"]);
    println!(
        "{} small logical cases, {} launches: {wall:.2} s",
        report["summary"]["passed"], report["summary"]["launches"]
    );

    let processes = "scenario: bench/processes
kernel: all_gather/push
ranks: 8
dtype: f16
matrix: {blocks: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]}
shape: 33x300
";
    let (report, _) = run(processes, &["--mode", "process", "-j", "1"]);
    let cases = report["cases"].as_array().map_or(0, Vec::len).max(2);
    let first = report["cases"][0]["duration_s"].as_f64().unwrap_or(0.0);
    let warm = (sum(&report, "duration_s") - first) / (cases - 1) as f64;
    let kernels = sum(&report, "kernel_s") / cases as f64;
    println!(
        "8 processes: first case {:.1} ms, then {:.1} ms a case, of it {:.1} ms in kernels",
        first * 1e3,
        warm * 1e3,
        kernels * 1e3,
    );

    for (name, kernel) in [("with tile-end step", None), ("without", Some(""))] {
        let written = 4.0 * 4.0 * 4096.0 * 4096.0 * 2.0;
        let (report, wall) = kernel_run(kernel);
        let launches = report["cases"][0]["orders"].as_f64().unwrap_or(1.0);
        let seconds = sum(&report, "kernel_s") / launches;
        println!(
            "4096x4096 f16, 4 ranks, hoisted, {name}: {:.2} GB/s written; whole case {wall:.1} s",
            written / seconds / 1e9,
        );
    }
}

/// The hoisted kernel at full size, with `RC_STEP()` replaced where `step` says so.
fn kernel_run(step: Option<&str>) -> (Value, f64) {
    let scenario = "scenario: bench/square
kernel: all_gather/push
variant: hoisted
ranks: 4
dtype: f16
shape: 4096x4096
blocks: 64
";
    let Some(step) = step else { return run(scenario, &["--mode", "logical", "-j", "1"]) };
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels/all_gather");
    let folder = tempfile::tempdir().expect("a folder");
    let source = std::fs::read_to_string(kernels.join("push.hip")).expect("the shipped kernel");
    std::fs::write(folder.path().join("push.hip"), source.replace("RC_STEP()", step))
        .expect("a copy");
    std::fs::copy(kernels.join("push.yaml"), folder.path().join("push.yaml")).expect("a copy");
    let folder = folder.path().display().to_string();
    run(scenario, &["--mode", "logical", "-j", "1", "--kernels", &folder])
}
