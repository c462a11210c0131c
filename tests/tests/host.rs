//! Host mode: programs in Python and in C that launch their own kernels for all ranks.

// Built with these tests, as what the programs in them load.
use rankcheck_host as _;
use std::path::Path;
use std::process::Command;

use rankcheck_tests::programs::{python, root};
use rankcheck_tests::{Project, Said, programs, said};

const BINARY: &str = env!("CARGO_BIN_EXE_rankcheck-under-test");

/// A command in `folder` that finds the package, the library and the judge of this checkout.
fn program(command: impl AsRef<std::ffi::OsStr>, folder: &Path) -> Command {
    programs::program(BINARY, command, folder)
}

fn pytest(folder: &Path, arguments: &[&str]) -> Said {
    let mut command = program(python(), folder);
    command.args(["-m", "pytest", "-p", "rankcheck.plugin", "-p", "no:cacheprovider", "-q"]);
    said(command.args(arguments).output().unwrap())
}

#[test]
fn right_numpy_kernels_pass() {
    let run = pytest(&root(), &["examples/numpy/test_right.py"]);
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("44 passed"), "{}", run.stdout);
}

#[test]
fn wrong_numpy_kernels_fail_with_the_finding_that_names_the_fault() {
    let run = pytest(&root(), &["examples/numpy/test_wrong.py"]);
    assert_eq!(run.code, Some(1), "{}{}", run.stdout, run.stderr);
    let part = |test: &str| {
        let part = run.stdout.split(&format!("_ {test}[")).nth(1);
        part.unwrap_or_else(|| panic!("{test} did not fail: {}", run.stdout))
            .split("\n_")
            .next()
            .unwrap()
    };
    for (test, findings) in [
        ("test_tail", &["unwritten", "columns 256..256", "looks like"][..]),
        ("test_stride", &["output_mismatch", "padding_overwritten", "unwritten"]),
        ("test_group_rank", &["output_mismatch", "rank 3's input (0,0), got"]),
        ("test_launch", &["launch_mismatch", "tile 8x256 instead of 4x64"]),
        ("test_all_reduce_tail", &["output_mismatch", "the result without rank 3's input"]),
    ] {
        let text = part(test);
        assert!(text.contains("FAIL cpu-host::numpy/"), "{text}");
        assert!(
            text.contains(
                "replay      python -m pytest -p rankcheck.plugin 'examples/numpy/test_wrong.py::"
            ),
            "{text}"
        );
        assert!(!text.contains("Traceback"), "{text}");
        for finding in findings {
            assert!(text.contains(finding), "{test}: no `{finding}` in {text}");
        }
    }
}

#[test]
fn items_are_named_as_rankcheck_lists_them() {
    let listed = said(
        program(BINARY, &root())
            .args(["list", "--mode", "host", "examples/numpy/all_reduce.yaml"])
            .output()
            .unwrap(),
    );
    let collected = |arguments: &[&str]| -> Vec<String> {
        let all = [&["examples/numpy/test_right.py", "--collect-only"], arguments].concat();
        let out = pytest(&root(), &all).stdout;
        let ids = out.lines().filter_map(|line| line.split_once("::test_all_reduce["));
        ids.map(|(_, id)| id.trim_end_matches(']').to_owned()).collect()
    };
    let listed: Vec<&str> = listed.stdout.lines().collect();
    assert_eq!(listed.len(), 12);
    assert_eq!(collected(&[]), listed);
    let four: Vec<&str> = listed.iter().filter(|name| name.contains("/w4/")).copied().collect();
    assert_eq!(collected(&["-k", "all_reduce and w4"]), four);
}

/// A test file of a user's own, whose body stands in a loop over ranks.
fn user_test(project: &Project, body: &str) -> Said {
    project.write(
        "test_mine.py",
        &format!(
            "import numpy as np, pytest, rankcheck

@rankcheck.scenario('smoke/all_gather', ranks=2, text='base', expression='dtype(f16)')
def test_mine(case):
    heaps = case.logical(np.empty)
    for call in case.calls():
        for r in call.rank_order():
            m = call.shape[0]
            for peer in call.group:
                heaps[peer].output[call.group_rank(r) * m : (call.group_rank(r) + 1) * m] = heaps[r].input
{body}
"
        ),
    );
    pytest(project.path(), &["test_mine.py"])
}

#[test]
fn what_was_not_judged_is_never_a_pass() {
    let project = Project::new(BINARY);
    let good = "            call.launched(r)\n        call.judge()";
    let run = user_test(&project, good);
    assert!(run.stdout.contains("1 passed"), "{}", run.stdout);
    let bad = [
        (good.replace("call.judge()", "break"), "the program left the case in call 0"),
        (good.replace("call.judge()", "pass"), "call 0 was not judged"),
        (good.replace("call.launched(r)", "pass"), "kernel_did_not_run"),
        (
            good.replace("launched(r)", "launched(r, group_size=3)"),
            "3 ranks in the group instead of 2",
        ),
    ];
    for (body, expected) in bad {
        let run = user_test(&project, &body);
        assert_eq!(run.code, Some(1), "{body}: {}", run.stdout);
        assert!(run.stdout.contains(expected), "{body}: no `{expected}` in {}", run.stdout);
    }
    // One whole order of ranks is a judgement; what it leaves open is in `not_proved`.
    let run = user_test(&project, &good.replace("call.judge()", "call.judge(); break"));
    assert_eq!(run.code, Some(0), "{}", run.stdout);
}

#[test]
fn a_result_that_depends_on_the_order_of_ranks_says_so() {
    let project = Project::new(BINARY);
    let body = "            if r == 0 and call.rank_order()[0] == 1:
                heaps[1].output[0, 0] = 1
            call.launched(r)
        call.judge()";
    let run = user_test(&project, body);
    assert!(run.stdout.contains("order_dependent"), "{}", run.stdout);
    assert!(run.stdout.contains("right in 1 (0,1), wrong in 1 (1,0)"), "{}", run.stdout);
}

#[test]
fn reports_come_from_pytest_too() {
    let project = Project::new(BINARY);
    user_test(&project, "            call.launched(r)\n        call.judge()");
    let run = pytest(
        project.path(),
        &["test_mine.py", "--rankcheck-report", "json=a.json", "--rankcheck-report", "junit=b.xml"],
    );
    assert_eq!(run.code, Some(0), "{}", run.stdout);
    let report = std::fs::read_to_string(project.path().join("a.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["schema"], "rankcheck.run/1");
    let case = &report["cases"][0];
    assert_eq!((&case["mode"], &case["verdict"]), (&"host".into(), &"pass".into()));
    assert_eq!(case["source"]["path"], "test_mine.py");
    assert_eq!(case["source"]["sha256"].as_str().unwrap().len(), 64);
    // Law 7: what a pass of a host program leaves open.
    let open = [
        "transport between GPUs",
        "that the program launched what it says (it says so itself)",
        "orders of ranks beyond the 2 that ran",
    ];
    assert_eq!(case["not_proved"], serde_json::json!(open));
    let junit = std::fs::read_to_string(project.path().join("b.xml")).unwrap();
    assert!(junit.contains("<testsuite name=\"cpu-host\" tests=\"1\""), "{junit}");
}

#[test]
fn memory_that_cannot_be_judged_is_refused_with_the_reason() {
    let project = Project::new(BINARY);
    project.write(
        "program.py",
        "import rankcheck
class Device:
    __cuda_array_interface__ = {}
def attempt(allocate):
    for case in rankcheck.cases('smoke/all_gather', ranks=2, text='base', expression='dtype(f16)'):
        try:
            case.logical(allocate)
        except (TypeError, rankcheck.RankcheckError) as error:
            print(error)
attempt(lambda n: Device())
attempt(lambda n: bytearray(n - 1))
attempt(lambda n: bytes(n))
attempt(lambda n: object())
try:
    list(rankcheck.cases('smoke/all_gater'))
except rankcheck.RankcheckError as error:
    print(error)
",
    );
    let run = said(program(python(), project.path()).arg("program.py").output().unwrap());
    let lines: Vec<&str> = run.stdout.lines().collect();
    let expected = [
        "is device memory",
        "but the case needs",
        "is read-only",
        "no data pointer",
        "no such file or folder",
    ];
    assert_eq!(lines.len(), expected.len(), "{}{}", run.stdout, run.stderr);
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.contains(expected), "no `{expected}` in {line}");
    }
}

#[test]
fn a_judge_that_dies_is_an_error_and_no_pass() {
    let project = Project::new(BINARY);
    let body = "            call.launched(r)
        import os, signal
        for child in open(f'/proc/self/task/{os.getpid()}/children').read().split():
            os.kill(int(child), signal.SIGKILL)
        call.judge()";
    let run = user_test(&project, body);
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    assert!(run.stdout.contains("the judge"), "{}", run.stdout);
    assert!(!run.stdout.contains("1 passed"), "{}", run.stdout);
}

/// Law 1: nothing on the guest's side could know what is expected.
#[test]
fn the_guest_never_expects() {
    for file in std::fs::read_dir(root().join("crates/guest/src")).unwrap().flatten() {
        let text = std::fs::read_to_string(file.path()).unwrap();
        for word in ["verify", "reference", "Moment::After"] {
            assert!(!text.contains(word), "{}: {word}", file.path().display());
        }
    }
}

#[test]
fn a_c_program_forks_its_ranks() {
    let project = Project::new(BINARY);
    let compiled = project.path().join("all_gather");
    let library = programs::library(BINARY);
    let built = Command::new("g++")
        .args(["-x", "c", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"])
        .arg(root().join("examples/c/all_gather.c"))
        .arg("-I")
        .arg(root().join("crates/guest/include"))
        .args(["-x", "none"])
        .arg(&library)
        .arg(format!("-Wl,-rpath,{}", project.path().display()))
        .arg("-o")
        .arg(&compiled)
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    // The name under which an installed library is found.
    std::os::unix::fs::symlink(&library, project.path().join("librankcheck.so.0")).unwrap();
    let scenario = root().join("examples/numpy/all_gather.yaml");
    let run = |more: &[&str]| {
        said(program(&compiled, project.path()).arg(&scenario).args(more).output().unwrap())
    };
    let right = run(&[]);
    assert_eq!(right.code, Some(0), "{}{}", right.stdout, right.stderr);
    assert_eq!(right.stdout.lines().filter(|line| line.starts_with("PASS cpu-host::")).count(), 32);
    // The same program as ranks of exec: each forks a child, and all write into all heaps.
    let mut ranks = program(BINARY, project.path());
    ranks.args(["exec", "--ranks", "4"]).arg(&scenario).arg("--").arg(&compiled).arg("-");
    let ranks = said(ranks.output().unwrap());
    assert_eq!(ranks.code, Some(0), "{}{}", ranks.stdout, ranks.stderr);
    assert!(ranks.stdout.contains("host: 16 passed"), "{}", ranks.stdout);
    let wrong = run(&["tail"]);
    assert_eq!(wrong.code, Some(1), "{}{}", wrong.stdout, wrong.stderr);
    assert!(wrong.stdout.contains("unwritten"), "{}", wrong.stdout);
    assert!(wrong.stdout.contains("RANKCHECK_CASE='cpu-host::"), "{}", wrong.stdout);
}

#[test]
fn device_memory_is_copied_by_the_caller_s_functions() {
    let project = Project::new(BINARY);
    project.write(
        "test_device.py",
        "import numpy as np, rankcheck
DEVICE = {}
def copy_in(rank, buffer): DEVICE[rank] = np.array(buffer)
def copy_out(rank, buffer): np.frombuffer(buffer, np.uint8)[:] = DEVICE[rank]

@rankcheck.scenario('copies/broadcast_flat', ranks=3, text='u8')
def test_broadcast(case):
    case.logical(copy_in=copy_in, copy_out=copy_out)
    for call in case.calls():
        source, target = case.region_info(0, 'input'), case.region_info(0, 'output')
        root = call.group[call.root]
        for r in call.rank_order():
            for row in range(source.rows):
                start = source.offset + row * source.row_stride * source.element_bytes
                there = target.offset + row * target.row_stride * target.element_bytes
                size = source.columns * source.element_bytes
                DEVICE[r][there : there + size] = DEVICE[root][start : start + size]
            call.launched(r, tile=case.config.tile, blocks=case.config.blocks)
        call.judge()
",
    );
    let run = pytest(project.path(), &["test_device.py"]);
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
}

#[test]
fn run_refuses_mode_host_and_says_what_to_do() {
    let said = Project::new(BINARY).run(&["run", "smoke", "--mode", "host"]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("rankcheck exec"), "{}", said.stderr);
}
