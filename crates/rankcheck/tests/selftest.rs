//! The selftest, tested: what proves nothing, what is missed and what fails must be said.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

const SOURCE: &str = r#"#include "rankcheck.h"
RC_KERNEL copy(const ELEM* input, ELEM* output, int m, int n, const rc_u64* bases, const int* ranks, int rank,
               int group_rank, int group_size) {
#if defined(MISSPELT_IN_THE_MANIFEST)
  return;
#endif
  for (int i = threadIdx.x; i < m * n; i += blockDim.x)
    for (int peer = 0; peer < group_size; peer++)
#if defined(SKIPS)
      if (peer != group_rank)
#elif defined(BACKWARDS)
      if (int turned = group_size - 1 - peer; true)
        *rc_peer(output + group_rank * m * n + i, bases, rank, ranks[turned]) = input[i];
      else
#endif
        *rc_peer(output + group_rank * m * n + i, bases, rank, ranks[peer]) = input[i];
}
"#;

fn manifest(twin: &str) -> String {
    let variant = |name: &str, define: &str| {
        format!("  {name}: {{entry: copy, tile: {{m: 1, n: 64}}, defines: {{{define}}}}}\n")
    };
    format!(
        "kernel: mine/copy\ncollective: all_gather\nsource: copy.hip\nlaunch: {{grid: 1, threads: 32}}\n\
         defines: {{ELEM: dtype.storage}}\nvariants:\n{}{}{}{}\
         args: [{{ptr: input}}, {{ptr: output}}, {{i32: m}}, {{i32: n}}, {{table: {{of: heap_base, over: world, as: u64}}}}, \
         {{table: {{of: rank, over: group, as: i32}}}}, {{i32: rank}}, {{i32: group.rank}}, {{i32: group.size}}]\n",
        variant("twin", twin),
        variant("skips", "SKIPS: 1"),
        variant("backwards", "BACKWARDS: 1"),
        variant("no_switch", "MISSPELT: 1"),
    )
}

const SCENARIO: &str = "scenario: mine/pair\nkernel: mine/copy\nranks: 2\nshape: 3x5\nmodes: [logical]\n\
                        matrix: {variant: [twin, skips, backwards, no_switch]}\n";

/// Runs the selftest on these mutants and returns its exit code and its JSON.
fn selftest(twin: &str, mutants: &str) -> (i32, Value) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("copy.hip", SOURCE);
    write("copy.yaml", &manifest(twin));
    write("pair.yaml", SCENARIO);
    write("mutants.yaml", mutants);
    let report = folder.path().join("report.json");
    let code = run(folder.path(), &report);
    let text = std::fs::read_to_string(report).unwrap();
    (code, serde_json::from_str(&text).unwrap())
}

fn run(mutants: &Path, report: &Path) -> i32 {
    let output = Command::new(env!("CARGO_BIN_EXE_rankcheck"))
        .args(["selftest", "--mutants"])
        .arg(mutants)
        .arg("--report")
        .arg(format!("json={}", report.display()))
        .output()
        .unwrap();
    output.status.code().unwrap()
}

fn mutant(name: &str, rest: &str) -> String {
    format!("  - {{mutant: {name}, scenario: pair.yaml, mechanism: made for this test, {rest}}}\n")
}

fn outcome<'a>(report: &'a Value, name: &str) -> &'a Value {
    let rows = report["mutants"].as_array().unwrap();
    rows.iter().find(|row| row["mutant"] == format!("pair/{name}")).unwrap()
}

#[test]
fn caught_survived_and_waiting() {
    let index = format!(
        "mutants:\n{}{}waiting:\n  - {{rows: [M99], mechanism: none, needs: nothing}}\n",
        mutant("skips", "expect: {finding: unwritten, rank: 0, region: output, row: 0, column: 0}"),
        mutant("backwards", "survives: order does not matter"),
    );
    let (code, report) = selftest("", &index);
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(report["schema"], "rankcheck.selftest/1");
    assert_eq!(outcome(&report, "skips")["outcome"], "caught");
    assert_eq!(outcome(&report, "skips")["twin"], "pass");
    assert_eq!(outcome(&report, "backwards")["outcome"], "expected_survivor");
    assert_eq!(report["summary"]["untestable"], 1);
}

#[test]
fn the_wrong_place_a_switch_without_effect_and_a_survivor_that_falls_are_misses() {
    let index = format!(
        "mutants:\n{}{}",
        mutant("skips", "expect: {finding: unwritten, rank: 1, region: output, row: 0, column: 0}"),
        mutant("no_switch", "survives: nothing is switched"),
    );
    let (code, report) = selftest("", &index);
    assert_eq!(code, 1);
    assert_eq!(outcome(&report, "skips")["outcome"], "missed");
    let reason = outcome(&report, "no_switch")["reason"].as_str().unwrap();
    assert_eq!(outcome(&report, "no_switch")["outcome"], "missed");
    assert!(reason.contains("does not change the compiled object"), "{reason}");

    let (code, report) =
        selftest("", &format!("mutants:\n{}", mutant("skips", "survives: it does not")));
    assert_eq!(code, 1);
    assert_eq!(outcome(&report, "skips")["outcome"], "missed");
}

#[test]
fn a_failing_twin_fails_the_selftest() {
    let caught = mutant("skips", "expect: {finding: unwritten, rank: 0}");
    let (code, report) = selftest("BACKWARDS: 1, SKIPS: 1", &format!("mutants:\n{caught}"));
    assert_eq!(code, 1);
    assert_eq!(report["summary"]["twins_failed"], 1, "{report:#}");
    assert_eq!(outcome(&report, "skips")["twin"], "fail");
}
