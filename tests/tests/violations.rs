//! What a CPU lets pass and no GPU would: accesses beside shared memory, indices without an array,
//! addresses that are not aligned, stacks without end, ranks that are gone though nobody asks them.

use rankcheck_tests::{CORRECT, MANIFEST, Project, SIGNATURE};
use rstest::rstest;
use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_rankcheck-under-test");

/// A right kernel that does `what` besides, with `shared_bytes` of dynamic memory. Its rows are a
/// multiple of eight bytes.
fn project(what: &str, requires: &str) -> Project {
    let project = Project::new(BINARY);
    // The marked line is the seventh.
    let source = format!(
        "#include \"rankcheck.h\"\nextern __shared__ unsigned char dynamic[];\n{SIGNATURE} {{\n\
         __shared__ int first[16];\n__shared__ int second[16];\nint* pointer = second;\n{what}\n\
         if (first[0] == second[0] && pointer[1] == dynamic[0]) __syncthreads();\n{CORRECT}\n}}\n"
    );
    project.write("kernels/k.hip", &source);
    let manifest = MANIFEST.replace("threads: 64}", "threads: 64, shared_bytes: 48}");
    project.write("kernels/k.yaml", &manifest.replace("launch:", &format!("{requires}\nlaunch:")));
    project.write(
        "scenarios/s.yaml",
        "scenario: t/s\nkernel: t/k\nranks: 2\ndtype: f16\nshape: 9x33\nlayout: {output: {pad_columns: 3}}\n",
    );
    project
}

fn first_finding(project: &Project, compiler: &str, mode: &str) -> Value {
    let mut command = project.command(&["run", "--report", "json=-", "--mode", mode]);
    let said = rankcheck_tests::said(command.env("RANKCHECK_CXX", compiler).output().unwrap());
    assert_eq!(said.code, Some(1), "{}{}", said.stdout, said.stderr);
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    report["cases"][0]["findings"][0].clone()
}

#[rstest]
#[case::static_index("if (threadIdx.x < 20) second[threadIdx.x] = 1;", "uses index 16 of int")]
#[case::one_array_into_the_other(
    "if (threadIdx.x < 17) first[threadIdx.x] = 1;",
    "uses index 16 of int"
)]
#[case::dynamic("dynamic[threadIdx.x] = 1;", "0 bytes behind the 48 bytes of its dynamic")]
#[case::pointer(
    "if (threadIdx.x == 0) for (int i = 0; i < 64; i++) pointer[i] = 1;",
    "of its static block-shared memory"
)]
#[case::in_front(
    "if (threadIdx.x == 0) for (int i = 0; i < 64; i++) pointer[-i] = 1;",
    "in front of its block-shared memory"
)]
fn a_write_beside_shared_memory_is_found_with_its_line(
    #[case] what: &str,
    #[case] text: &str,
    #[values("g++", "clang++")] compiler: &str,
    #[values("", "requires: [concurrent]")] requires: &str,
) {
    let finding = first_finding(&project(what, requires), compiler, "logical");
    assert_eq!(finding["kind"], "out_of_bounds", "{finding:#}");
    let explanation = finding["explanation"].as_str().unwrap();
    // Compilers lay the two arrays out in either order.
    let either = explanation.contains(text)
        || (text.contains("in front") && explanation.contains("static block-shared"));
    assert!(either, "{explanation}");
    assert_eq!(finding["writer"]["line"], 7, "{finding:#}");
}

#[rstest]
#[case::load(
    "if (threadIdx.x == 0 && ((rc_u64*)((char*)input + 4))[0] == 1) first[0] = 1;",
    "loads at an address that is not a multiple of 8"
)]
#[case::store(
    "if (threadIdx.x == 3) ((unsigned*)((char*)pointer + 2))[0] = 1;",
    "stores at an address that is not a multiple of 4"
)]
#[case::atomic(
    "if (threadIdx.x == 3) atomicAdd((unsigned*)((char*)pointer + 2), 1u);",
    "stores at an address that is not a multiple of 4"
)]
fn a_misaligned_access_is_found_with_its_line(
    #[case] what: &str,
    #[case] text: &str,
    #[values("g++", "clang++")] compiler: &str,
    #[values("", "requires: [concurrent]")] requires: &str,
) {
    let finding = first_finding(&project(what, requires), compiler, "logical");
    assert_eq!(finding["kind"], "misaligned_access", "{finding:#}");
    let explanation = finding["explanation"].as_str().unwrap();
    assert!(explanation.contains(text), "{explanation}");
    assert_eq!(finding["writer"]["line"], 7, "{finding:#}");
}

/// Bytes may be copied from anywhere, and everything inside its array is right.
#[rstest]
fn what_is_right_passes(
    #[values("g++", "clang++")] compiler: &str,
    #[values("", "requires: [concurrent]")] requires: &str,
) {
    let what = "if (threadIdx.x < 16) { second[threadIdx.x] = 0; first[threadIdx.x] = 0; } \
                if (threadIdx.x < 48) dynamic[threadIdx.x] = 0; \
                rc_u64 copied; memcpy(&copied, (char*)input + 2, 8); int* end = &first[16]; \
                if (threadIdx.x == 0) for (int* at = first; at != end; at++) *at = int(copied);";
    let project = project(what, requires);
    let mut command = project.command(&["run", "--no-race"]);
    let said = rankcheck_tests::said(command.env("RANKCHECK_CXX", compiler).output().unwrap());
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
}

#[test]
fn more_static_shared_memory_than_any_gpu_has_is_refused() {
    let finding = first_finding(
        &project("__shared__ char huge[70000]; huge[threadIdx.x] = 0; first[0] = huge[5];", ""),
        "g++",
        "logical",
    );
    assert_eq!(finding["kind"], "compile_failed", "{finding:#}");
    let explanation = finding["explanation"].as_str().unwrap();
    assert!(
        explanation.contains("bytes of static block-shared memory, more than"),
        "{explanation}"
    );
}

#[rstest]
#[case("volatile char large[300000]; large[threadIdx.x] = 1; first[0] = large[0];")]
fn a_stack_that_overflows_is_named(#[case] what: &str, #[values("logical", "process")] mode: &str) {
    let finding = first_finding(&project(what, ""), "g++", mode);
    assert_eq!(finding["kind"], "crashed", "{finding:#}");
    let explanation = finding["explanation"].as_str().unwrap();
    assert!(explanation.contains("overflowed its fiber's stack of 256 KiB"), "{explanation}");
    assert!(explanation.contains("block 0 thread 0"), "{explanation}");
}

#[test]
fn an_idle_rank_that_is_gone_is_missing() {
    // Rank 1's parent is rank 0's parent: rank 0 ends it, though it takes no part.
    let what = "if (rank == 0 && threadIdx.x == 0 && blockIdx.x == 0) end_rank(1);";
    let project = project(what, "");
    let source = std::fs::read_to_string(project.path().join("kernels/k.hip")).unwrap();
    let helper = "#include <csignal>\n#include <cstdio>\n#include <cstdlib>\n#include <dirent.h>\n#include <unistd.h>\n\
        static void end_rank(int number) {\n\
          DIR* all = opendir(\"/proc\");\n\
          while (dirent* entry = readdir(all)) {\n\
            const int pid = atoi(entry->d_name);\n\
            char path[64], text[256] = {};\n\
            snprintf(path, sizeof path, \"/proc/%d/cmdline\", pid);\n\
            FILE* file = pid > 0 ? fopen(path, \"r\") : nullptr;\n\
            if (!file) continue;\n\
            const size_t length = fread(text, 1, sizeof text - 1, file);\n\
            fclose(file);\n\
            snprintf(path, sizeof path, \"/proc/%d/stat\", pid);\n\
            int parent = 0;\n\
            if (FILE* stat = fopen(path, \"r\")) { if (fscanf(stat, \"%*d (%*[^)]) %*c %d\", &parent) != 1) parent = 0; fclose(stat); }\n\
            const char* marker = text + strlen(text) + 1;\n\
            if (length < 30 || parent != getppid() || strcmp(marker, \"rankcheck-rank-process\")) continue;\n\
            if (atoi(marker + strlen(marker) + 1) == number) kill(pid, SIGKILL);\n\
          }\n\
          closedir(all);\n\
        }\n";
    project.write("kernels/k.hip", &format!("{helper}{source}"));
    project.write(
        "scenarios/s.yaml",
        "scenario: t/s\nkernel: t/k\nranks: 2\ngroup: single\ndtype: f16\nshape: 9x33\ncalls: 2\n",
    );
    let finding = first_finding(&project, "g++", "process");
    assert_eq!(
        (&finding["kind"], &finding["rank"]),
        (&"missing_rank".into(), &1.into()),
        "{finding:#}"
    );
    let explanation = finding["explanation"].as_str().unwrap();
    assert!(
        explanation.contains("SIGKILL") && explanation.contains("takes no part"),
        "{explanation}"
    );
}
