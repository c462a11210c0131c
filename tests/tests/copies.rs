//! Copies of memory that a compiler knows as functions are accesses like others, whatever their size.

use rankcheck_tests::Project;
use rstest::rstest;

const BINARY: &str = env!("CARGO_BIN_EXE_rankcheck-under-test");

const MANIFEST: &str = "kernel: t/k
collective: all_gather
source: k.hip
requires: [concurrent]
launch: {grid: 1, threads: 32}
defines: {ELEM: dtype.storage}
variants:
  base: {entry: k, tile: {m: 1, n: 64}, blocks: 1}
workspace:
  staging: {type: u8, count: m * n * group.size, init: zero, between_calls: keep}
  ready: {type: u32, count: group.size, init: zero, between_calls: keep}
args: [{ptr: input}, {ptr: output}, {table: {of: heap_base, over: world, as: u64}},
       {table: {of: rank, over: group, as: i32}}, {i32: rank}, {i32: group.rank}, {i32: group.size},
       {ptr: workspace.staging}, {ptr: workspace.ready}]
";

/// One thread a peer pushes, raises a flag of this order, waits for the other's, and copies.
fn source(copy: &str, bytes: u32, order: &str) -> String {
    format!(
        "#include \"rankcheck.h\"
#include <cstring>
constexpr int BYTES = {bytes};
RC_KERNEL k(const ELEM* input, ELEM* output, const rc_u64* bases, const int* ranks, int rank, int group_rank,
            int group_size, ELEM* staging, rc_u32* ready) {{
  if (threadIdx.x >= unsigned(group_size)) return;
  const int peer = threadIdx.x;
  {copy}(rc_peer(staging + group_rank * BYTES, bases, rank, ranks[peer]), input, BYTES);
  rc_store_{order}_system(rc_peer(ready + group_rank, bases, rank, ranks[peer]), 1u);
  while (rc_load_acquire_system(ready + peer) == 0) rc_spin_hint();
  {copy}(output + peer * BYTES, staging + peer * BYTES, BYTES);
}}
"
    )
}

#[rstest]
fn copies_of_every_size_are_seen(
    #[values("g++", "clang++")] compiler: &str,
    #[values("memcpy", "memmove")] copy: &str,
    #[values(3, 16, 64, 300)] bytes: u32,
    #[values("release", "relaxed")] order: &str,
) {
    let project = Project::new(BINARY);
    project.write("kernels/k.yaml", MANIFEST);
    project.write("kernels/k.hip", &source(copy, bytes, order));
    let scenario = format!("scenario: t/s\nkernel: t/k\nranks: 2\ndtype: u8\nshape: 1x{bytes}\n");
    project.write("scenarios/s.yaml", &scenario);
    let mut command = project.command(&["run", "--mode", "logical", "--schedule-seed", "0"]);
    let said = rankcheck_tests::said(command.env("RANKCHECK_CXX", compiler).output().unwrap());
    match order {
        "release" => assert_eq!(said.code, Some(0), "{}", said.stdout),
        _ => {
            assert_eq!(said.code, Some(1), "a relaxed flag publishes nothing: {}", said.stdout);
            assert!(said.stdout.contains("data_race"), "{}", said.stdout);
        }
    }
}
