//! Schedules, data races and deadlocks, as users see them: wrong kernels are found with their
//! lines, and the replay gives the same again.

use rankcheck_tests::Project;
use rstest::rstest;
use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_rankcheck-under-test");

const MANIFEST: &str = "kernel: t/k
collective: all_gather
source: k.hip
requires: [concurrent]
overlap: false
launch: {grid: blocks, threads: 64}
defines: {ELEM: dtype.storage}
variants:
  right: {entry: k_right, tile: {m: 1, n: 64}, blocks: 1}
  relaxed: {entry: k_relaxed, tile: {m: 1, n: 64}, blocks: 1}
  agent: {entry: k_agent, tile: {m: 1, n: 64}, blocks: 1}
  no_barrier: {entry: k_no_barrier, tile: {m: 1, n: 64}, blocks: 1}
  absent: {entry: k_absent, tile: {m: 1, n: 64}, blocks: 1}
  crowd: {entry: k_crowd, tile: {m: 1, n: 64}, blocks: 3}
  hopes: {entry: k_hopes, tile: {m: 1, n: 64}, blocks: 1}
  gives_up: {entry: k_gives_up, tile: {m: 1, n: 64}, blocks: 1}
  falls_back: {entry: k_falls_back, tile: {m: 1, n: 64}, blocks: 1}
  by_clock: {entry: k_by_clock, tile: {m: 1, n: 64}, blocks: 1}
  late: {entry: k_late, tile: {m: 1, n: 64}, blocks: 1}
  two_looks: {entry: k_two_looks, tile: {m: 1, n: 64}, blocks: 1}
workspace:
  staging: {type: u16, count: m * n * group.size, init: zero, between_calls: keep, judge: ignore}
  ready: {type: u32, count: group.size, init: zero, between_calls: keep, judge: ignore}
  arrived: {type: u32, count: 1, init: zero, between_calls: reset, judge: ignore}
args: [{ptr: input}, {ptr: output}, {i32: m}, {i32: n}, {i64: input.row_stride}, {i64: output.row_stride},
       {table: {of: heap_base, over: world, as: u64}}, {table: {of: rank, over: group, as: i32}}, {i32: rank},
       {i32: group.rank}, {i32: group.size}, {ptr: workspace.staging}, {ptr: workspace.ready},
       {ptr: workspace.arrived}, {u32: epoch}]
";

/// Every rank pushes to staging, raises a flag there, waits for all flags and copies.
const SOURCE: &str = r#"#include "rankcheck.h"
enum Fault { RIGHT, RELAXED, AGENT, NO_BARRIER, ABSENT, CROWD, HOPES, GIVES_UP, FALLS_BACK, BY_CLOCK, LATE, TWO_LOOKS };
#define PARAMETERS const ELEM* input, ELEM* output, int m, int n, rc_i64 is, rc_i64 os, const rc_u64* bases, \
  const int* ranks, int rank, int group_rank, int group_size, ELEM* staging, rc_u32* ready, rc_u32* arrived, rc_u32 epoch
template <Fault F> __device__ void body(PARAMETERS) {
  const int t = threadIdx.x;
  const rc_u32 tick = epoch + 1;
  if (F == CROWD) {
    if (t == 0) rc_fetch_add_system(arrived, 1u);
    if (t == 0) while (rc_load_acquire_system(arrived) < gridDim.x) rc_spin_hint();
    __syncthreads();
  }
  if (blockIdx.x != 0) return;
  for (int i = t; i < m * n; i += blockDim.x)
    for (int p = 0; p < group_size; p++)
      rc_peer(staging + group_rank * m * n, bases, rank, ranks[p])[i] = input[i / n * is + i % n];
  if (F != NO_BARRIER) __syncthreads();
  if (t < group_size && !(F == ABSENT && rank == 1)) {
    rc_u32* flag = rc_peer(ready + group_rank, bases, rank, ranks[t]);
    if (F == RELAXED)
      __hip_atomic_store(flag, tick, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
    else if (F == AGENT)
      __hip_atomic_store(flag, tick, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    else
      __hip_atomic_store(flag, tick, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
  }
  // Long enough for a peer that is not late: more than a third of a second.
  if (F == HOPES && t == 0)
    for (long long began = wall_clock64(); wall_clock64() - began < 1500000000;) RC_STEP();
  const int looks = F == GIVES_UP || F == FALLS_BACK ? 1000 : F == LATE ? 1 << 30 : F == TWO_LOOKS ? 2 : 0;
  if (t < group_size)
    for (int look = 0; look < looks && rc_load_acquire_system(ready + t) < tick; look++) rc_spin_hint();
  if (F == BY_CLOCK && t < group_size)
    for (long long began = wall_clock64(); rc_load_acquire_system(ready + t) < tick && wall_clock64() - began < 20000;) {}
  if (F != HOPES && F != GIVES_UP && F != BY_CLOCK && F != LATE && t < group_size)
    while (__hip_atomic_load(ready + t, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) < tick) rc_spin_hint();
  __syncthreads();
  for (int i = t; i < m * n * group_size; i += blockDim.x)
    output[i / n * os + i % n] = staging[i];
}
#define KERNEL(name, fault) \
  RC_KERNEL name(PARAMETERS) { \
    body<fault>(input, output, m, n, is, os, bases, ranks, rank, group_rank, group_size, staging, ready, arrived, epoch); \
  }
KERNEL(k_right, RIGHT) KERNEL(k_relaxed, RELAXED) KERNEL(k_agent, AGENT)
KERNEL(k_no_barrier, NO_BARRIER) KERNEL(k_absent, ABSENT) KERNEL(k_crowd, CROWD) KERNEL(k_hopes, HOPES)
KERNEL(k_gives_up, GIVES_UP) KERNEL(k_falls_back, FALLS_BACK) KERNEL(k_by_clock, BY_CLOCK)
KERNEL(k_late, LATE) KERNEL(k_two_looks, TWO_LOOKS)
"#;

/// A line of [`SOURCE`] that holds this text, from 1.
fn line(text: &str) -> String {
    let at = SOURCE.lines().position(|line| line.contains(text)).expect("the source has it");
    format!("k.hip:{}", at + 1)
}

fn project(variant: &str) -> Project {
    let project = Project::new(BINARY);
    project.write("kernels/k.yaml", MANIFEST);
    project.write("kernels/k.hip", SOURCE);
    let scenario = format!(
        "scenario: t/s\nkernel: t/k\nvariant: {variant}\nranks: 2\ndtype: f16\nshape: 3x17\n"
    );
    project.write("scenarios/s.yaml", &scenario);
    project
}

fn case(project: &Project, arguments: &[&str]) -> (String, Value) {
    let mut all = vec!["--mode", "logical"];
    all.extend(arguments);
    let (said, report) = project.json(&all);
    (said.stdout, report["cases"][0].clone())
}

fn kinds(case: &Value) -> Vec<&str> {
    let findings = case["findings"].as_array().expect("findings");
    findings.iter().map(|finding| finding["kind"].as_str().expect("a kind")).collect()
}

#[rstest]
#[case(&["--schedules", "200"])]
#[case(&["--schedules", "100", "--weak"])]
fn a_right_kernel_is_clean_under_every_schedule(#[case] arguments: &[&str]) {
    let (said, case) = case(&project("right"), arguments);
    assert_eq!(case["verdict"], "pass", "{said}");
    assert_eq!(case["race"], true);
    assert!(case["schedules"].as_u64() >= Some(100));
}

/// What is wrong, the line that must be named, and a part of what would have ordered it.
#[rstest]
#[case("relaxed", "F == RELAXED", 1, "a relaxed store publishes nothing")]
#[case("agent", "F == AGENT", 1, "both need system scope")]
#[case("no_barrier", "rc_peer(staging", 0, "a block barrier before it")]
fn a_race_is_told_with_both_lines_and_what_would_have_ordered_it(
    #[case] variant: &str,
    #[case] text: &str,
    #[case] below: usize,
    #[case] why: &str,
) {
    let (said, case) = case(&project(variant), &["--report", "human", "--schedules", "8"]);
    assert_eq!(kinds(&case)[0], "data_race", "{said}");
    assert_eq!(case["schedules_failed"], 8, "happens-before needs no lucky schedule");
    let named = line(text);
    let (file, number) = named.split_once(':').expect("a line");
    let wanted = number.parse::<usize>().expect("a number") + below;
    assert!(
        said.contains(&format!("{file}:{wanted}")) || said.contains(&format!(":{wanted} ")),
        "{wanted}: {said}"
    );
    assert!(said.contains(why), "{said}");
}

#[test]
fn late_stores_make_a_missing_release_wrong_bytes() {
    let (said, case) = case(&project("relaxed"), &["--schedules", "50", "--weak"]);
    assert!(kinds(&case).contains(&"output_mismatch"), "{said}");
}

#[test]
fn a_deadlock_names_the_flag_and_its_value() {
    let (said, case) = case(&project("absent"), &["--report", "human"]);
    assert_eq!(kinds(&case), ["deadlock"], "{said}");
    assert!(said.contains("waits for `ready[1]` of rank 0 to change, now 0, awaited 1"), "{said}");
    let waits = format!("rank 0 block 0 thread 1 at kernels/{}", line("hip_atomic_load(ready + t"));
    assert!(labelled(&said, "waits at ").starts_with(&waits), "{said}");
    let flag = labelled(&said, "flag ");
    assert!(flag.contains("of rank 0's heap; nobody has set it in this call"), "{flag}");
    assert!(flag.contains("so rank 1 should"), "{flag}");
}

#[rstest]
#[case("3", "pass")]
#[case("2", "fail")]
fn a_grid_barrier_needs_all_of_its_blocks(#[case] residency: &str, #[case] verdict: &str) {
    let (said, case) = case(&project("crowd"), &["--residency", residency]);
    assert_eq!(case["verdict"], verdict, "{said}");
}

#[rstest]
fn the_same_seed_gives_the_same_schedule(#[values("1", "2", "3", "4")] seed: &str) {
    let hash = |extra: &[&str]| {
        let arguments: Vec<&str> = ["--schedule-seed", seed].iter().chain(extra).copied().collect();
        case(&project("right"), &arguments).1["schedule_hash"].clone()
    };
    let first = hash(&[]);
    assert!(first.is_string());
    assert_eq!(first, hash(&[]));
    assert_eq!(first, hash(&["--no-race"]), "whether races are looked for changes nothing");
}

/// A project of several ranks and calls, and what is said of it with `--shrink`.
fn shrunk(variant: &str, arguments: &[&str]) -> (Project, String) {
    let project = project(variant);
    let scenario = format!(
        "scenario: t/s\nkernel: t/k\nvariant: {variant}\nranks: 4\ndtype: f16\nshape: 3x17\ncalls: 3\n"
    );
    project.write("scenarios/s.yaml", &scenario);
    let mut all = vec!["run", "--mode", "logical", "--report", "human", "--shrink"];
    all.extend(arguments);
    let said = project.run(&all);
    assert_eq!(said.code, Some(1), "{}{}", said.stdout, said.stderr);
    let (_, small) = said.stdout.split_once("shrunk to\n").expect("something that was shrunk");
    (project, small.to_owned())
}

/// The line behind a label.
fn labelled<'a>(text: &'a str, label: &str) -> &'a str {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(label));
    line.unwrap_or_else(|| panic!("no {label}: {text}")).trim()
}

/// Runs the command that a failure prints, and reads its report.
fn replayed(project: &Project, text: &str) -> Value {
    let command = labelled(text, "replay ").replacen("rankcheck", BINARY, 1);
    let mut shell = std::process::Command::new("sh");
    shell.arg("-c").arg(format!("{command} --report json=replayed.json"));
    shell.current_dir(project.path()).env("RANKCHECK_CACHE", project.cache());
    shell.output().expect("a shell");
    let report = std::fs::read_to_string(project.path().join("replayed.json"));
    let report: Value = serde_json::from_str(&report.expect("a report")).expect("JSON");
    report["cases"][0].clone()
}

#[rstest]
// What needs no particular schedule, and what does.
#[case("relaxed", &[], "data_race", 0)]
#[case("absent", &[], "deadlock", 0)]
#[case("no_barrier", &["--no-race", "--schedules", "9"], "output_mismatch", 1)]
fn a_failing_schedule_shrinks_to_one_that_replays(
    #[case] variant: &str,
    #[case] arguments: &[&str],
    #[case] kind: &str,
    #[case] least_switches: usize,
) {
    let (project, small) = shrunk(variant, arguments);
    assert!(small.contains("/w2/g0+1x2/f16/"), "{small}");
    assert!(small.contains("step  rank  block  thread   line"), "{small}");
    let case = replayed(&project, &small);
    assert_eq!(kinds(&case)[0], kind, "{small}");
    let hash = case["schedule_hash"].as_str().expect("a hash");
    assert!(labelled(&small, "schedule ").contains(hash), "{hash}: {small}");
    let switches = case["switches"].as_str().map_or(0, |list| list.split(',').count());
    assert!(switches >= least_switches, "{small}");
    assert_eq!(shrunk(variant, arguments).1.lines().last(), small.lines().last(), "bounded tries");
}

#[test]
fn no_switch_of_a_shrunk_schedule_can_be_left_out() {
    let (project, small) = shrunk("no_barrier", &["--no-race", "--schedules", "9"]);
    let replay = labelled(&small, "replay ").to_owned();
    let (command, list) = replay.split_once(" --switches ").expect("switches");
    let switches: Vec<&str> = list.trim_matches('\'').split(',').collect();
    for left_out in 0..switches.len() {
        let mut fewer = switches.clone();
        fewer.remove(left_out);
        let fewer = if fewer.is_empty() { "none".into() } else { fewer.join(",") };
        let text = format!("replay {command} --switches '{fewer}'");
        assert_eq!(replayed(&project, &text)["verdict"], "pass", "without {left_out}: {small}");
    }
}

#[test]
fn each_rank_is_late_at_each_place() {
    let project = project("right");
    let scenario = "scenario: t/s\nkernel: t/k\nvariant: right\nranks: 2\ndtype: f16\nshape: 3x17\n\
                    calls: [{}, {shape: 1x2}, {shape: 3x17}]\nmodes: [process]\n";
    project.write("scenarios/s.yaml", scenario);
    let arguments = ["--mode", "process", "--delay", "20ms", "--report", "human"];
    let (said, report) = project.json(&arguments);
    let case = &report["cases"][0];
    assert_eq!(case["verdict"], "pass", "{}", said.stdout);
    assert_eq!((&case["delays"], &case["delays_failed"]), (&8.into(), &0.into()));
    assert!(said.stdout.contains("0 of 8 failed"), "{}", said.stdout);
    // Two ranks, three places inside the kernel, three calls.
    assert!(case["kernel_s"].as_f64() > Some(2.0 * 3.0 * 3.0 * 0.02), "{case:#}");
}

/// A rank that takes what is there after counting, instead of waiting for a flag: in time, unless
/// its peer is late.
#[test]
fn what_is_wrong_when_a_rank_is_late_is_told_with_the_delay() {
    let project = project("hopes");
    project.write(
        "scenarios/s.yaml",
        "scenario: t/s\nkernel: t/k\nvariant: hopes\nranks: 2\ndtype: f16\nshape: 3x17\n",
    );
    let arguments = ["--mode", "process", "--delay", "4s", "--report", "human"];
    let (said, report) = project.json(&arguments);
    let case = &report["cases"][0];
    assert_eq!(case["verdict"], "fail", "{}", said.stdout);
    assert_eq!(case["delays_failed"], 1);
    assert!(said.stdout.contains("was late by 4000 ms before its first store"), "{}", said.stdout);
}

/// Few threads, so that all of their interleavings can be run.
fn tiny(variant: &str, arguments: &[&str]) -> (String, Value) {
    let project = project(variant);
    let scenario = format!(
        "scenario: t/s\nkernel: t/k\nvariant: {variant}\nranks: 2\nthreads: 2\ndtype: f16\nshape: 1x1\n"
    );
    project.write("scenarios/s.yaml", &scenario);
    let mut all = vec!["--report", "human", "--strategy", "exhaustive"];
    all.extend(arguments);
    case(&project, &all)
}

#[test]
fn every_interleaving_of_a_small_case_is_run_once() {
    let (said, case) = tiny("right", &[]);
    assert_eq!(case["verdict"], "pass", "{said}");
    // Both flags that come from the other rank are seen at once, or one of them is waited for;
    // then its waiter may be woken by the own rank's flag in the same 16 bytes besides.
    assert_eq!(case["complete"], 1 + 2 * 2, "{said}");
    assert!(said.contains("complete: 5 interleavings"), "{said}");
    let open = case["not_proved"].as_array().expect("a list");
    assert!(!open.iter().any(|open| open.as_str().is_some_and(|o| o.contains("schedules"))));
    let (said, case) = tiny("right", &["--no-race"]);
    assert_eq!(case["complete"], 5, "flags order all other accesses, so these add nothing: {said}");
}

#[test]
fn an_exploration_finds_the_interleaving_that_fails() {
    let (said, case) = tiny("no_barrier", &["--no-race"]);
    assert_eq!(kinds(&case), ["output_mismatch"], "{said}");
    let project = project("no_barrier");
    let scenario = "scenario: t/s\nkernel: t/k\nvariant: no_barrier\nranks: 2\nthreads: 2\ndtype: f16\nshape: 1x1\n";
    project.write("scenarios/s.yaml", scenario);
    let again = replayed(&project, &said);
    assert_eq!(again["schedule_hash"], case["schedule_hash"], "{said}");
    assert_eq!(kinds(&again), ["output_mismatch"]);
}

#[test]
fn what_is_too_large_for_an_exploration_is_refused_with_the_number() {
    let (said, refused) = tiny("right", &["--schedules", "3"]);
    assert_eq!(refused["verdict"], "unsupported", "{said}");
    assert!(said.contains("needs at most 3 interleavings"), "{said}");
    let (said, large) = case(&project("right"), &["--strategy", "exhaustive", "--report", "human"]);
    assert_eq!(large["verdict"], "unsupported", "{said}");
    assert!(said.contains("found 128"), "{said}");
}

/// A kernel whose wait ends by itself is wrong where it then goes on as if the flag had come.
#[rstest]
#[case("gives_up")]
#[case("by_clock")]
fn a_wait_that_gives_up_is_found(#[case] variant: &str) {
    let (said, case) = case(&project(variant), &["--schedules", "32"]);
    assert_eq!(case["verdict"], "fail", "{said}");
    assert_eq!(kinds(&case)[0], "data_race", "{said}");
}

#[test]
fn a_wait_that_gives_up_and_then_waits_again_is_right() {
    let (said, case) = case(&project("falls_back"), &["--schedules", "200"]);
    assert_eq!(case["verdict"], "pass", "{said}");
}

#[test]
fn a_wait_that_is_too_long_to_give_up_is_not_proved() {
    let (said, case) = case(&project("late"), &["--schedules", "32"]);
    assert_eq!(case["verdict"], "pass", "{said}");
    let open = case["not_proved"].as_array().expect("a list");
    assert!(open.contains(&"waits that give up after more than 65536 looks".into()), "{open:?}");
}

/// An exploration proves only what it has tried.
#[rstest]
#[case("gives_up", "fail", "")]
#[case("by_clock", "fail", "")]
#[case("falls_back", "pass", "")]
#[case("late", "unsupported", "counts while it waits, and still waited after 65536 looks")]
#[case("two_looks", "unsupported", "gives up after so few looks that they cannot be told apart")]
fn an_exploration_lets_waits_give_up(
    #[case] variant: &str,
    #[case] verdict: &str,
    #[case] reason: &str,
) {
    let (said, case) = tiny(variant, &["--schedules", "20000"]);
    assert_eq!(case["verdict"], verdict, "{said}");
    assert!(case["reason"].to_string().contains(reason), "{}", case["reason"]);
}
