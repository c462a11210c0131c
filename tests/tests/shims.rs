//! What GPU sources find on the CPU: warp operations of both widths, narrow floats, and a refusal,
//! at its line, of what cannot run.

use rankcheck_tests::{CORRECT, MANIFEST, Project};
use rstest::rstest;

const BINARY: &str = env!("CARGO_BIN_EXE_rankcheck-under-test");

/// Copies correctly if every check in `checks` holds, and spoils an element otherwise.
fn checked(checks: &str) -> String {
    format!(
        "int wrong = 0;\n{checks}\nif (wrong) {{ output[0] = 0; return; }}\n__syncthreads();\n{CORRECT}"
    )
}

#[rstest]
fn warp_operations_of_both_widths(
    #[values(32, 64)] width: u32,
    #[values("logical", "process")] mode: &str,
) {
    let checks = "
  const int lane = threadIdx.x % warpSize, last = warpSize - 1;
  wrong |= warpSize != WIDTH;
  wrong |= __shfl_sync(~0ull, lane * 3, 5) != 15;
  wrong |= __shfl_sync(~0ull, lane, 5, 8) != lane / 8 * 8 + 5;
  wrong |= __shfl_up_sync(~0ull, lane, 1) != (lane ? lane - 1 : 0);
  wrong |= __shfl_down_sync(~0ull, lane, 1) != (lane == last ? last : lane + 1);
  wrong |= __shfl_xor(lane + 0.5, 1) != (lane ^ 1) + 0.5;
  wrong |= __ballot_sync(~0ull, lane < 3) != 7;
  wrong |= __popcll(__ballot(lane != 1)) != last;
  wrong |= __any_sync(~0ull, lane == 9) != 1 || __all_sync(~0ull, lane == 9) != 0;
  wrong |= __any(lane > last) != 0 || __all(lane <= last) != 1;
  if (lane < 8) wrong |= __shfl_sync(0xff, lane, 7) != 7;  // a part of a warp
  int sum = 1;
  for (int step = warpSize / 2; step > 0; step /= 2) sum += __shfl_xor(sum, step);
  wrong |= sum != warpSize;
  __shared__ int passed[64];
  passed[threadIdx.x] = lane;
  __syncwarp();
  wrong |= passed[threadIdx.x ^ 1] != (lane ^ 1);";
    let project = Project::with_kernel(BINARY, &checked(checks));
    let defines = format!("defines: {{RC_WARP_SIZE: {width}, WIDTH: {width}, ELEM:");
    project.write("kernels/k.yaml", &MANIFEST.replace("defines: {ELEM:", &defines));
    let said = project.run(&["run", "--mode", mode]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
}

#[test]
fn narrow_floats_round_to_nearest_even() {
    let checks = "
  wrong |= __float2half(1.0f + 1.0f / 2048).bits != 0x3c00;  // a tie, to even
  wrong |= __float2half(1.0f + 3.0f / 2048).bits != 0x3c02;
  wrong |= __float2half(65520.0f).bits != 0x7c00 || __float2half(5.9604645e-8f).bits != 1;
  wrong |= __half2float(__hadd(__half(2048.0f), __half(1.0f))) != 2048.0f;
  wrong |= __float2bfloat16(257.0f).bits != 0x4380;
  wrong |= float(__nv_fp8_e4m3(1000.0f)) != 448.0f || float(__hip_fp8_e4m3_fnuz(1000.0f)) != 240.0f;
  wrong |= __hip_fp8_e5m2_fnuz(-0.0f).bits != 0;";
    let project = Project::with_kernel(BINARY, &checked(checks));
    let source = std::fs::read_to_string(project.path().join("kernels/k.hip")).unwrap();
    let headers = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cuda_fp8.h>\n";
    project.write("kernels/k.hip", &format!("{headers}{source}"));
    let said = project.run(&["run", "--mode", "logical"]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
}

#[rstest]
#[case("asm volatile(\"membar.sys;\");")]
#[case("__asm__ __volatile__ (\"membar\" \".sys;\" ::: \"memory\");")]
#[case("__asm(\"membar.sys;\");")]
#[case("asm volatile goto(\"membar.sys;\" :::: there); there:;")]
fn inline_assembly_is_refused_at_its_line(#[case] statement: &str) {
    let project = Project::with_kernel(BINARY, statement);
    let said = project.run(&["run", "--mode", "logical"]);
    assert_eq!(said.code, Some(1));
    assert!(said.stdout.contains("k.hip:3"), "{}", said.stdout);
    assert!(said.stdout.contains("inline assembly cannot run on the CPU"), "{}", said.stdout);
    assert!(said.stdout.contains("hooks: {\"membar.sys;\": ..}"), "{}", said.stdout);
}

#[test]
fn assembly_of_a_header_is_refused_there_and_a_hook_stands_in_for_it() {
    let project = Project::new(BINARY);
    project.write(
        "kernels/flags.h",
        "#pragma once
static __device__ __forceinline__ void st_release(unsigned* p, unsigned v) {
  asm volatile(\"st.release.sys.global.u32 [%1], %0;\" ::\"r\"(v), \"l\"(p));
}
static __device__ __forceinline__ unsigned ld_acquire(unsigned* p) {
  unsigned v;
  asm volatile(\"ld.acquire.sys.global.u32 %0, [%1];\" : \"=r\"(v) : \"l\"(p));
  return v;
}
",
    );
    project.write(
        "kernels/k.cu",
        "#include \"flags.h\"
extern \"C\" __global__ void k(unsigned** flags, int rank, int world, unsigned tick) {
  if (threadIdx.x < world) {
    st_release(flags[threadIdx.x] + rank, tick);
    while (ld_acquire(flags[rank] + threadIdx.x) < tick) {}
  }
}
",
    );
    let manifest = "kernel: t/k
collective: barrier
source: k.cu
requires: [concurrent]
launch: {grid: 1, threads: 32}
workspace:
  flags: {type: u32, count: world, init: zero, between_calls: keep}
variants:
  base: {entry: k, tile: {m: 1, n: 1}}
args:
  - {table: {of: workspace.flags, over: world, as: u64}}
  - {i32: rank}
  - {i32: world}
  - {u32: epoch + 1}
";
    project.write("kernels/k.yaml", manifest);
    project.write("scenarios/s.yaml", "scenario: t/s\nkernel: t/k\nranks: 3\ncalls: 3\n");
    let said = project.run(&["run"]);
    assert_eq!(said.code, Some(1));
    assert!(said.stdout.contains("flags.h:3: inline assembly"), "{}", said.stdout);
    let hooks = "hooks:
  \"st.release.sys.global.u32 [%1], %0;\": rc_store_release_system(%1, %0)
  \"ld.acquire.sys.global.u32 %0, [%1];\": \"%0 = rc_load_acquire_system(%1)\"
";
    project.write("kernels/k.yaml", &format!("{manifest}{hooks}"));
    let said = project.run(&["run"]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
}

#[test]
fn what_is_not_declared_is_not_judged() {
    let reducing = "kernel: t/k
collective: all_reduce
source: k.hip
launch: {grid: blocks, threads: 64}
variants:
  base: {entry: k, tile: {m: 1, n: 64}}
args: []
";
    let scenario = "scenario: t/s
kernel: t/k
matrix:
  data: [random]
  op: [sum, max, avg]
";
    let project = Project::new(BINARY);
    project.write("kernels/k.yaml", reducing);
    project.write("kernels/k.hip", "RC_KERNEL k() {}\n");
    project.write("scenarios/s.yaml", scenario);
    let (_, report) = project.json(&["--mode", "logical"]);
    let verdicts: Vec<&str> = report["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts.iter().filter(|v| **v == "unsupported").count(), 2, "{verdicts:?}");
    let needed = report["cases"].to_string();
    assert!(
        needed.contains("`reduction: {order: rank_order, {start_at: own} or ring}`"),
        "{needed}"
    );
    project.write("scenarios/s.yaml", &scenario.replace("matrix:", "in_place: true\nmatrix:"));
    let tiles = reducing.replace("all_reduce", "reduce_scatter_tiles");
    project.write("kernels/k.yaml", &format!("{tiles}reduction: {{owner: 0}}\n"));
    let said = project.run(&["run"]);
    assert_eq!(said.code, Some(2));
    assert!(
        said.stderr.contains("in_place is not defined for reduce_scatter_tiles"),
        "{}",
        said.stderr
    );
}
