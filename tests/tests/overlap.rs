//! Calls that follow each other as on a stream: a rank's next call begins when its own has ended.

use rankcheck_tests::Project;
use rstest::rstest;
use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_rankcheck-under-test");

const MANIFEST: &str = "kernel: t/k
collective: all_gather
source: k.hip
requires: [concurrent]
launch: {grid: 1, threads: 64}
defines: {ELEM: dtype.storage}
variants:
  base: {entry: k, tile: {m: 1, n: 64}, blocks: 1}
workspace:
  begun: {type: u32, count: group.size, init: zero, between_calls: keep}
  arrived: {type: u32, count: group.size, init: zero, between_calls: keep}
args: [{ptr: input}, {ptr: output}, {i32: m}, {i32: n}, {i64: input.row_stride}, {i64: output.row_stride},
       {table: {of: heap_base, over: world, as: u64}}, {table: {of: rank, over: group, as: i32}}, {i32: rank},
       {i32: group.rank}, {i32: group.size}, {ptr: workspace.begun}, {ptr: workspace.arrived}, {u32: epoch}]
";

const SCENARIO: &str = "scenario: t/s
kernel: t/k
ranks: 2
dtype: f16
shape: 3x17
calls: [{}, {shape: 2x5}]
";

/// A kernel that pushes its rows to all ranks, with something before and behind that.
fn source(before: &str, behind: &str) -> String {
    format!(
        "#include \"rc_meet.h\"
#define MEET(gate) rc_meet(gate, bases, ranks, rank, group_rank, group_size, epoch)
RC_KERNEL k(const ELEM* input, ELEM* output, int m, int n, rc_i64 is, rc_i64 os, const rc_u64* bases, const int* ranks,
            int rank, int group_rank, int group_size, rc_u32* begun, rc_u32* arrived, rc_u32 epoch) {{
  {before}
  for (int i = threadIdx.x; i < m * n; i += blockDim.x)
    for (int p = 0; p < group_size; p++)
      rc_peer(output, bases, rank, ranks[p])[(group_rank * m + i / n) * os + i % n] = input[i / n * is + i % n];
  {behind}
}}
"
    )
}

fn project(before: &str, behind: &str, manifest: &str) -> Project {
    let project = Project::new(BINARY);
    project.write("kernels/k.hip", &source(before, behind));
    project.write("kernels/k.yaml", manifest);
    project.write("scenarios/s.yaml", SCENARIO);
    project
}

fn kinds(case: &Value) -> Vec<&str> {
    let findings = case["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["kind"].as_str().unwrap()).collect()
}

/// Rank 1 does not push before rank 0 has begun its second call.
const WAITS_FOR_THE_NEXT_CALL: &str = "rc_u32* told = rc_peer(arrived, bases, rank, 1);
  if (rank == 0 && epoch == 1 && threadIdx.x == 0) rc_store_release_system(told, 1u);
  if (rank == 1 && threadIdx.x == 0) while (rc_load_acquire_system(arrived) == 0) rc_spin_hint();
  __syncthreads();";

#[rstest]
#[case::logical("logical")]
#[case::process("process")]
fn a_rank_does_not_wait_for_the_others_between_its_calls(#[case] mode: &str) {
    let project = project(WAITS_FOR_THE_NEXT_CALL, "", MANIFEST);
    let (said, report) = project.json(&["--mode", mode, "--schedule-seed", "0"]);
    assert_eq!(said.code, Some(1), "{}", said.stdout);
    let case = &report["cases"][0];
    let kinds = kinds(case);
    assert!(kinds.contains(&"unwritten"), "rank 1's rows come too late: {kinds:?}");
    let unwritten = case["findings"].as_array().unwrap();
    let unwritten = unwritten.iter().find(|finding| finding["kind"] == "unwritten").unwrap();
    assert_eq!((&unwritten["rank"], &unwritten["call"]), (&0.into(), &0.into()), "{unwritten}");
}

/// The same kernel, called by a host that waits for all ranks in between: rank 1 waits for ever.
#[test]
fn a_manifest_may_ask_for_a_host_barrier() {
    let manifest = format!("{MANIFEST}overlap: false\n");
    let (said, report) = project(WAITS_FOR_THE_NEXT_CALL, "", &manifest).json(&[
        "--mode",
        "logical",
        "--schedule-seed",
        "0",
    ]);
    assert_eq!(said.code, Some(1), "{}", said.stdout);
    assert_eq!(kinds(&report["cases"][0]), ["deadlock"]);
}

#[rstest]
#[case::no_entry("", "MEET(arrived);")]
#[case::no_exit("MEET(begun);", "")]
fn a_missing_gate_is_found_in_every_schedule(#[case] before: &str, #[case] behind: &str) {
    let project = project(before, behind, MANIFEST);
    for seed in ["0", "1", "2", "3", "4"] {
        let said = project.run(&["run", "--mode", "logical", "--schedule-seed", seed]);
        assert_eq!(said.code, Some(1), "seed {seed}: {}", said.stdout);
        // Where a flag of the next call has been taken for this one's, the bytes alone are wrong.
        let told = ["as on a stream", "output_mismatch"];
        assert!(told.iter().any(|words| said.stdout.contains(words)), "{seed}: {}", said.stdout);
    }
}

#[rstest]
#[case::overlaps("", "calls", false)]
#[case::apart("overlap: false\n", "calls without a host barrier", true)]
fn a_right_kernel_passes_and_the_result_says_how_it_was_called(
    #[case] contract: &str,
    #[case] topic: &str,
    #[case] open: bool,
) {
    let manifest = format!("{MANIFEST}{contract}");
    let project = project("MEET(begun);", "MEET(arrived);", &manifest);
    for arguments in [&["--mode", "logical", "--schedules", "20"][..], &["--mode", "process"]] {
        let (said, report) = project.json(arguments);
        assert_eq!(said.code, Some(0), "{}", said.stdout);
        let not_proved = report["cases"][0]["not_proved"].as_array().unwrap();
        let said_so = |text: &Value| text.as_str().unwrap().starts_with(topic);
        assert_eq!(not_proved.iter().any(said_so), open, "{not_proved:?}");
    }
}

/// A switch names the call of its threads, and the replay that shrinking prints gives the same failure.
#[test]
fn a_failure_of_overlapping_calls_is_shrunk_and_replayed() {
    let project = project("", "MEET(arrived);", MANIFEST);
    let said = project.run(&["run", "--mode", "logical", "--schedule-seed", "1", "--shrink"]);
    assert_eq!(said.code, Some(1), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("host"), "the trace names the hosts: {}", said.stdout);
    let replay = said.stdout.rsplit_once("replay").unwrap().1.trim().lines().next().unwrap();
    let words: Vec<&str> = replay.split(' ').map(|word| word.trim_matches('\'')).collect();
    let again = project.run(&words[1..]);
    assert_eq!(again.code, Some(1), "{replay}: {}{}", again.stdout, again.stderr);
}
