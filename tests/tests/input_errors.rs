//! Bad input gets a clear error that names the place and says what to do, and an exit code.

use rankcheck_tests::{CORRECT, MANIFEST, Project, SCENARIO};
use rstest::rstest;

const BINARY: &str = env!("CARGO_BIN_EXE_rankcheck-under-test");

/// The scenario with a line more or another one, and what the error says.
#[rstest]
#[case("shape: 9x33", "shpae: 9x33", "s.yaml:5:1: unknown field `shpae`")]
#[case("ranks: 2", "ranks: two", "s.yaml:3:8: ")]
#[case("ranks: 2", "ranks: 65", "ranks: 65 (1 to 64)")]
#[case("ranks: 2", "ranks: 0", "ranks: 0 (1 to 64)")]
#[case("ranks: 2", "ranks: 2\nranks: 3", "s.yaml:4:1: duplicate mapping key: ranks")]
#[case("dtype: f16", "dtype: f17", "s.yaml:4:8: unknown dtype `f17`, expected one of u8, i8")]
#[case("dtype: f16", "matrix: {dtype: []}", "matrix.dtype is an empty list")]
#[case("dtype: f16", "matrix: {dtype: [f16, f16]}", "two combinations give the id")]
#[case("shape: 9x33", "shape: 9", "s.yaml:5:8: `9` is not a shape: write it as ROWSxCOLUMNS")]
#[case(
    "shape: 9x33",
    "shape: 9x33\ntile: 32x64",
    "s.yaml:6:7: tile 32x64 does not fit the manifest"
)]
#[case("shape: 9x33", "shape: 9x33\ntile: 0x4x", "s.yaml:6:7: ")]
#[case("shape: 9x33", "shape: 9x33\nblocks: 0", "s.yaml:6:9: blocks: 0 (1 to")]
#[case(
    "shape: 9x33",
    "shape: 9x33\ngroup: even",
    "s.yaml:6:8: unknown group `even`, expected one of world"
)]
#[case("shape: 9x33", "shape: 9x33\ngroup: {start: 1}", "either `ranks`, or all of `start`")]
#[case("shape: 9x33", "shape: 9x33\nvariant: bass", "no variant `bass` (did you mean `base`?")]
#[case("shape: 9x33", "shape: 9x33\nroot: 1", "all_gather has no root")]
#[case("shape: 9x33", "shape: 9x33\ncalls: []", "s.yaml:6:8: ")]
#[case(
    "shape: 9x33",
    "shape: 9x33\nexclude: [{when: {ranks: 4}, reason: x}]",
    "this exclude removes nothing"
)]
#[case("shape: 9x33", "shape: 99999999999x99999999999", "overflows 64 bits")]
#[case("kernel: t/k", "kernel: t/kk", "no kernel `t/kk` (did you mean `t/k`?")]
#[case("scenario: t/s", "scenario: t s", "`t s` is not a name")]
#[case("shape: 9x33", "shape: 9x33\ncalls: 4000000000", "s.yaml:6:8: 4000000000 calls (1 to 1000)")]
fn a_bad_scenario(#[case] line: &str, #[case] instead: &str, #[case] says: &str) {
    let project = Project::with_kernel(BINARY, CORRECT);
    project.write("scenarios/s.yaml", &SCENARIO.replace(line, instead));
    let said = project.run(&["run"]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains(says), "{}", said.stderr);
    assert!(said.stderr.contains("s.yaml:"), "{}", said.stderr);
}

#[rstest]
#[case("{i32: m}", &format!("{{i32: {}m{}}}", "(".repeat(9999), ")".repeat(9999)), "an expression of 19999 characters")]
#[case("{i32: m}", "{i32: mm}", "unknown symbol `mm` (did you mean `m`?")]
#[case("{ptr: output}", "{ptr: outptu}", "unknown region `outptu` (did you mean `output`?)")]
#[case("{ptr: output}", "{pointer: output}", "unknown variant `pointer`")]
#[case("source: k.hip", "source: kk.hip", "there is no source `kk.hip` beside the manifest")]
#[case(
    "collective: all_gather",
    "collective: allgather",
    "unknown collective `allgather`, expected one of all_gather"
)]
#[case("threads: 64", "threads: 64, smem: 3", "unknown field `smem`")]
fn a_bad_manifest(#[case] text: &str, #[case] instead: &str, #[case] says: &str) {
    let project = Project::with_kernel(BINARY, CORRECT);
    project.write("kernels/k.yaml", &MANIFEST.replace(text, instead));
    let said = project.run(&["run"]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains(says), "{}", said.stderr);
    assert!(said.stderr.contains("k.yaml"), "{}", said.stderr);
}

/// Faults that only building or launching shows: the case fails, the run goes on.
#[rstest]
#[case(
    "entry: k,",
    "entry: kk,",
    "compile_failed",
    "entry `kk` is not in kernels/k.hip (did you mean `k`?)"
)]
#[case("  - {u32: call}\n", "", "launch_mismatch", "takes 12 parameters, the manifest gives 11")]
#[case(
    "{i64: input.row_stride}",
    "{i32: input.row_stride}",
    "launch_mismatch",
    "parameter 4 has 8 bytes, the manifest gives 4"
)]
#[case("threads: 64", "threads: 2048", "launch_mismatch", "`2048` is 2048 (1 to 1024)")]
#[case("{i32: m}", "{i32: m / (m - m)}", "launch_mismatch", "divides by zero")]
fn a_manifest_that_does_not_fit_its_source(
    #[case] text: &str,
    #[case] instead: &str,
    #[case] kind: &str,
    #[case] says: &str,
) {
    let project = Project::with_kernel(BINARY, CORRECT);
    project.write("kernels/k.yaml", &MANIFEST.replace(text, instead));
    let (said, report) = project.json(&["--mode", "logical"]);
    assert_eq!(said.code, Some(1));
    let finding = &report["cases"][0]["findings"][0];
    assert_eq!(finding["kind"], kind, "{finding}");
    assert!(finding["explanation"].as_str().unwrap().contains(says), "{finding}");
}

#[test]
fn a_kernel_that_does_not_compile_fails_its_cases_with_the_users_line() {
    let project = Project::with_kernel(BINARY, "int x = undeclared;");
    project
        .write("scenarios/smoke.yaml", "scenario: t/other\nkernel: all_gather/push\nshape: 2x2\n");
    let (said, report) = project.json(&["--mode", "logical"]);
    assert_eq!(said.code, Some(1));
    assert_eq!(report["summary"]["passed"], 1, "the run goes on");
    assert!(said.stdout.contains("kernels/k.hip:3:9: error: 'undeclared'"), "{}", said.stdout);
}

#[rstest]
#[case(&["run", "nowhere"], 2, "no such file or folder: nowhere")]
#[case(&["run", "kernels"], 2, "kernels holds no scenario")]
#[case(&["run", "--ranks", "0"], 2, "--ranks")]
#[case(&["run", "-k", "nothing"], 4, "nothing selected: 1 cases in 1 files, none matches")]
#[case(&["run", "-E", "tset(w2)"], 2, "unknown predicate `tset`")]
#[case(&["run", "--report", "jsn=x"], 2, "unknown kind `jsn`")]
#[case(&["run", "--report", "json=/nowhere/x.json"], 2, "report /nowhere/x.json")]
#[case(&["run", "--report", "json=kernels"], 2, "is a folder")]
#[case(&["run", "--report", "json=a", "--report", "junit=a"], 2, "two reports go to a")]
#[case(&["run", "/dev/null"], 2, "no such file or folder")]
#[case(&["run", "--timeout", "soon"], 2, "is not a time such as")]
#[case(&["run", "--sanitizer"], 2, "need a GPU (--device cuda)")]
#[case(&["run", "--device", "cuda", "--weak"], 2, "--weak needs --device cpu")]
#[case(&["run", "--device", "cuda"], 3, "no device `cuda`")]
#[case(&["run", "--kernels", "nowhere"], 2, "nowhere")]
#[case(&["run", "--partition", "hash:3/2"], 2, "is not hash:K/N")]
#[case(&["explain", "t/s/k.base/w2"], 2, "did you mean `t/s/k.base/w2/g0+1x2/f16/9x33/tdefault/bdefault`?")]
#[case(&["new", "kernel", "nofolder"], 2, "is no name: write folder/name")]
fn bad_arguments(#[case] arguments: &[&str], #[case] code: i32, #[case] says: &str) {
    let project = Project::with_kernel(BINARY, CORRECT);
    let said = project.run(arguments);
    assert_eq!(said.code, Some(code), "{}{}", said.stdout, said.stderr);
    assert!(said.stderr.contains(says), "{}", said.stderr);
}

#[test]
fn no_compiler_says_what_to_install() {
    let project = Project::with_kernel(BINARY, CORRECT);
    let output = project.command(&["run"]).env("RANKCHECK_CXX", "no-such-compiler").output();
    let said = rankcheck_tests::said(output.unwrap());
    assert_eq!(said.code, Some(3));
    assert!(said.stderr.contains("install g++ or clang++"), "{}", said.stderr);
}

#[test]
fn folders_that_link_in_circles_are_walked_once() {
    let project = Project::with_kernel(BINARY, CORRECT);
    for name in ["x", "y"] {
        std::os::unix::fs::symlink(".", project.path().join("scenarios").join(name)).unwrap();
    }
    assert_eq!(project.run(&["list", "scenarios"]).stdout.lines().count(), 2);
}

#[test]
fn a_report_never_replaces_a_device_or_a_link() {
    let project = Project::with_kernel(BINARY, CORRECT);
    std::os::unix::fs::symlink("real.json", project.path().join("link.json")).unwrap();
    project.write("real.json", "");
    project.run(&["run", "--mode", "logical", "--report", "json=link.json"]);
    assert!(project.path().join("link.json").is_symlink());
    assert!(std::fs::read_to_string(project.path().join("real.json")).unwrap().contains("schema"));
    use std::os::unix::fs::FileTypeExt as _;
    let device = std::path::Path::new("/dev/null");
    let said = project.run(&["run", "--mode", "logical", "--report", "json=/dev/null"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(std::fs::metadata(device).unwrap().file_type().is_char_device());
}

#[test]
fn a_timeout_beyond_all_time_is_a_day() {
    let project = Project::with_kernel(BINARY, CORRECT);
    project.write("scenarios/s.yaml", &format!("{SCENARIO}timeout: 18446744073709551615\n"));
    assert_eq!(project.run(&["run"]).code, Some(0));
}

#[test]
fn a_yaml_bomb_is_refused() {
    let project = Project::with_kernel(BINARY, CORRECT);
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..9 {
        let below = format!("*a{}", level - 1);
        bomb += &format!("a{level}: &a{level} [{}]\n", vec![below; 9].join(", "));
    }
    project.write("scenarios/s.yaml", &bomb);
    let said = project.run(&["run"]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
}

#[test]
fn heaps_beyond_memory_are_unsupported_with_the_figures() {
    let project = Project::with_kernel(BINARY, CORRECT);
    project
        .write("scenarios/s.yaml", "scenario: t/s\nkernel: t/k\nranks: 16\nshape: 100000x100000\n");
    let (said, report) = project.json(&["--mode", "logical"]);
    assert_eq!(said.code, Some(4), "nothing passed or failed");
    let reason = &report["cases"][0]["reason"];
    assert!(
        reason["needed"].as_str().unwrap().contains("TiB for the heaps of 16 ranks"),
        "{reason}"
    );
    assert!(reason["found"].as_str().unwrap().contains("GiB that may be used"), "{reason}");
    assert_eq!(project.run(&["run", "--strict"]).code, Some(4));
}

#[test]
fn a_corrupt_cache_entry_is_built_again() {
    let project = Project::with_kernel(BINARY, CORRECT);
    let cache = project.path().join("cache");
    let run = || {
        let mut command = project.command(&["run", "--mode", "logical"]);
        rankcheck_tests::said(command.env("RANKCHECK_CACHE", &cache).output().unwrap())
    };
    assert!(run().stdout.contains("1 objects compiled"));
    assert!(run().stdout.contains("0 objects compiled"));
    for entry in std::fs::read_dir(cache.join("objects")).unwrap().flatten() {
        std::fs::write(entry.path().join("object.so"), "rubbish").unwrap();
    }
    let third = run();
    assert!(third.stdout.contains("1 objects compiled"), "{}", third.stdout);
    assert_eq!(third.code, Some(0));
    assert!(run().stdout.contains("0 objects compiled"));
}

#[test]
fn a_changed_header_is_noticed_and_two_builders_do_not_clash() {
    let project = Project::with_kernel(BINARY, "#include \"body.h\"");
    project.write("kernels/body.h", CORRECT);
    let cache = project.path().join("cache");
    let start = || {
        let mut command = project.command(&["run", "--mode", "logical", "-j", "1"]);
        command.env("RANKCHECK_CACHE", &cache).stdout(std::process::Stdio::piped()).spawn().unwrap()
    };
    let both = [start(), start()];
    for child in both {
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    }
    assert_eq!(std::fs::read_dir(cache.join("objects")).unwrap().count(), 1);
    assert_eq!(std::fs::read_dir(cache.join("building")).unwrap().count(), 0);
    project.write("kernels/body.h", &CORRECT.replace("row < m", "row < m - 1"));
    assert_eq!(start().wait_with_output().unwrap().status.code(), Some(1));
}
