//! The executor runs what GPU sources are made of, with both compilers, fast and observed.

use rankcheck_tests::{MANIFEST, Project, SIGNATURE};
use rstest::rstest;

const BINARY: &str = env!("CARGO_BIN_EXE_rankcheck-under-test");

/// A project whose kernel is a whole source; `k` has the usual parameters.
fn project(source: &str, requires: &str) -> Project {
    let project = Project::new(BINARY);
    project.write("kernels/k.hip", source);
    project.write("kernels/k.yaml", &MANIFEST.replace("launch:", &format!("{requires}\nlaunch:")));
    project.write(
        "scenarios/s.yaml",
        "scenario: t/s\nkernel: t/k\nmatrix: {ranks: [1, 3], dtype: [f16, f64]}\nshape: 9x33\ncalls: 2\n",
    );
    project
}

/// Both builds: kernels that wait are observed. These have no gates between calls.
const BUILDS: [&str; 2] = ["", "requires: [concurrent]\noverlap: false"];

fn passes(project: &Project, compiler: &str) {
    let mut command = project.command(&["run", "--report", "human"]);
    let said = rankcheck_tests::said(command.env("RANKCHECK_CXX", compiler).output().unwrap());
    assert_eq!(said.code, Some(0), "{compiler}: {}{}", said.stdout, said.stderr);
}

#[rstest]
fn block_shared_memory_in_templates_belongs_to_the_block(
    #[values("g++", "clang++")] compiler: &str,
    #[values(0, 1)] build: usize,
) {
    // Two arrays, two element types, blocks that interleave at barriers, dynamic memory besides.
    let source = format!(
        "#include \"rankcheck.h\"
template <class T, int N> __device__ T twist(T value, int column) {{
  __shared__ T first[N];
  __shared__ int second[N];
  extern __shared__ unsigned char third[];
  first[threadIdx.x] = value;
  second[threadIdx.x] = column + blockIdx.x;
  third[threadIdx.x] = (unsigned char)(threadIdx.x + blockIdx.x);
  __syncthreads();
  const int other = blockDim.x - 1 - threadIdx.x;
  const bool right = second[other] - int(blockIdx.x) >= 0 && third[other] == (unsigned char)(other + blockIdx.x);
  const T swapped = first[other];
  __syncthreads();
  first[other] = swapped;
  __syncthreads();
  return right ? first[threadIdx.x] : T(1);
}}
{SIGNATURE} {{
  for (int row = blockIdx.x; row < m; row += gridDim.x)
    for (int start = 0; start < n; start += blockDim.x) {{
      const int column = start + threadIdx.x;
      const ELEM value = column < n ? input[row * is + column] : ELEM(0);
      const ELEM same = twist<ELEM, 64>(twist<unsigned long long, 64>(value, column), column);
      if (column < n)
        for (int peer = 0; peer < group_size; peer++)
          rc_peer(output, bases, rank, ranks[peer])[((rc_i64)group_rank * m + row) * os + column] = same;
    }}
}}
"
    );
    let project = project(&source, BUILDS[build]);
    let manifest = std::fs::read_to_string(project.path().join("kernels/k.yaml")).unwrap();
    project.write(
        "kernels/k.yaml",
        &manifest.replace("threads: 64", "threads: 64, shared_bytes: threads"),
    );
    passes(&project, compiler);
}

#[rstest]
fn device_globals_belong_to_the_rank_and_start_afresh(#[values("g++", "clang++")] compiler: &str) {
    let source = format!(
        "#include \"rankcheck.h\"
__device__ int launches = 0;
__device__ int owner = -1;
{SIGNATURE} {{
  if (threadIdx.x == 0 && blockIdx.x == 0) {{
    // Each rank counts its own launches, from zero in every case and order.
    if (launches++ != int(call) || (owner >= 0 && owner != rank)) output[-1] = 1;
    owner = rank;
  }}
  for (int row = blockIdx.x; row < m; row += gridDim.x)
    for (int column = threadIdx.x; column < n; column += blockDim.x)
      for (int peer = 0; peer < group_size; peer++)
        rc_peer(output, bases, rank, ranks[peer])[((rc_i64)group_rank * m + row) * os + column] = input[row * is + column];
}}
"
    );
    passes(&project(&source, ""), compiler);
}

#[rstest]
fn waits_of_every_spelling_end(
    #[values("g++", "clang++")] compiler: &str,
    #[values(
        "*(volatile rc_u32*)p",
        "rc_load_acquire_system(p)",
        "__hip_atomic_load(p, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM)",
        "__atomic_load_n(p, __ATOMIC_ACQUIRE)",
        "atomicAdd_system(p, 0u)"
    )]
    load: &str,
) {
    // Flags in a workspace; every rank raises its own on all members and waits for all of theirs.
    let source = format!(
        "#include \"rankcheck.h\"
{}, rc_u32* flags) {{
  for (int row = 0; row < m; row++)
    for (int column = threadIdx.x; column < n; column += blockDim.x)
      for (int peer = 0; peer < group_size; peer++)
        rc_peer(output, bases, rank, ranks[peer])[((rc_i64)group_rank * m + row) * os + column] = input[row * is + column];
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x < unsigned(group_size)) {{
    __hip_atomic_store(rc_peer(flags, bases, rank, ranks[threadIdx.x]) + group_rank, call + 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
    rc_u32* p = flags + threadIdx.x;
    while ({load} < call + 1) {{}}
  }}
  __syncthreads();
}}
",
        SIGNATURE.trim_end_matches(')')
    );
    let project = project(&source, BUILDS[1]);
    let manifest = std::fs::read_to_string(project.path().join("kernels/k.yaml")).unwrap();
    let manifest = manifest.replace("blocks: 2", "blocks: 1")
        + "  - {ptr: workspace.flags}\nworkspace: {flags: {type: u32, count: world, init: zero, between_calls: keep}}\n";
    project.write("kernels/k.yaml", &manifest);
    passes(&project, compiler);
}

/// With g++ only: a clang moves the common barrier in front of the branch, which mends the kernel.
#[test]
fn threads_that_meet_at_different_barriers_are_found() {
    let source = format!(
        "#include \"rankcheck.h\"
{SIGNATURE} {{
  for (int row = blockIdx.x; row < m; row += gridDim.x)
    for (int column = threadIdx.x; column < n; column += blockDim.x)
      for (int peer = 0; peer < group_size; peer++)
        rc_peer(output, bases, rank, ranks[peer])[((rc_i64)group_rank * m + row) * os + column] = input[row * is + column];
  if (threadIdx.x < 32) {{
    __syncthreads();
  }} else {{
    __syncthreads();
    if (n == 12345) output[1] = 1;
  }}
}}
"
    );
    let project = project(&source, "");
    let mut command = project.command(&["run", "--mode", "logical", "--report", "json=r.json"]);
    command.env("RANKCHECK_CXX", "g++").output().unwrap();
    let text = std::fs::read_to_string(project.path().join("r.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let finding = &report["cases"][0]["findings"][0];
    assert_eq!(finding["kind"], "barrier_divergence", "{finding}");
    let explanation = finding["explanation"].as_str().unwrap();
    assert!(explanation.contains("k.hip:8") && explanation.contains("k.hip:10"), "{explanation}");
}

#[test]
fn vendor_spellings_compile_without_our_header() {
    let source = format!(
        "#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
typedef unsigned long long rc_u64; typedef long long rc_i64; typedef unsigned rc_u32;
extern \"C\" __global__ __launch_bounds__(64) void {}
{{
  const int threads = int(blockDim.x), blocks = int(gridDim.x);
  for (int row = blockIdx.x; row < m; row += blocks)
    for (int column = threadIdx.x; column < n; column += threads)
      for (int peer = 0; peer < group_size; peer++) {{
        char* there = (char*)output + (bases[ranks[peer]] - bases[rank]);
        ((ELEM*)there)[((rc_i64)group_rank * m + row) * os + column] = __ldg(input + row * is + column);
      }}
  uint4 four = make_uint4(1, 2, 3, 4);
  if (min(int(four.x), max(2, 3)) != 1) output[-1] = 1;
}}
",
        SIGNATURE.trim_start_matches("RC_KERNEL ")
    );
    passes(&project(&source, ""), "g++");
}
