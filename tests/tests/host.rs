//! Host mode: programs that launch their own kernels, in Python, in C, and as ranks of a launcher.

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

fn exec(folder: &Path, arguments: &[&str], rank: &[&str]) -> Said {
    let mut command = program(BINARY, folder);
    command.arg("exec").args(arguments).arg("--").arg(python()).args(rank);
    said(command.output().unwrap())
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

/// Ranks that do what `WHAT` says in their second case, rank 1 unless it is about all.
const RANKS: &str = "import os, sys, signal
sys.path.insert(0, os.environ['EXAMPLES'])
import rankcheck
from all_gather import all_gather
what, rank = os.environ['WHAT'], int(os.environ['RANK'])
if what == 'early': sys.exit('no such thing')
for number, case in enumerate(rankcheck.cases()):
    with case:
        mine = case.rank()
        for call in case.calls():
            for r in call.rank_order():
                if r == 1 and number == 1:
                    if what == 'crash': print('about to die', file=sys.stderr); os.abort()
                    if what == 'hang':
                        while True: pass
                    if what == 'leave': sys.exit(0)
                    if what == 'raise': raise ValueError('my own mistake')
                    if what == 'fork' and os.fork() == 0:
                        while True: pass
                all_gather(mine, case, call)
                if what == 'wrong' and r == 1 and number == 1: mine.input[0, 0] = 1
                call.launched(r, tile=case.config.tile)
            call.judge()
";

/// Two cases, run by `RANKS`: what exec says, and the report.
fn supervised(what: &str) -> (Said, serde_json::Value) {
    let project = Project::new(BINARY);
    project.write("ranks.py", RANKS);
    let scenario = root().join("examples/numpy/all_gather.yaml");
    let mut command = program(BINARY, project.path());
    command
        .args(["exec", "--ranks", "2", "-k", "f16/9x257/tdefault", "--timeout", "2s"])
        .args(["--report", "human", "--report", "json=a.json"])
        .arg(scenario)
        .arg("--")
        .arg(python())
        .arg("ranks.py")
        .env("WHAT", what)
        .env("EXAMPLES", root().join("examples/ranks"));
    let said = said(command.output().unwrap());
    let report = std::fs::read_to_string(project.path().join("a.json"));
    let report = report.unwrap_or_else(|error| panic!("{error}: {}{}", said.stdout, said.stderr));
    let left: Vec<_> =
        std::fs::read_dir(project.path()).unwrap().flatten().map(|f| f.file_name()).collect();
    assert_eq!(left.len(), 2, "only the program and the report are left: {left:?}");
    (said, serde_json::from_str(&report).unwrap())
}

#[test]
fn exec_runs_ranks_that_share_their_heaps() {
    let (said, report) = supervised("right");
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    assert_eq!(report["summary"]["passed"], 2);
    assert_eq!(report["cases"][0]["calls"][0]["effective"]["source"], "program");
}

#[test]
fn exec_says_how_a_rank_was_lost_and_goes_on() {
    for (what, kind, text) in [
        (
            "crash",
            "crashed",
            "rank 1 (in call 0) was killed by signal 6; it printed:\n      about to die",
        ),
        ("raise", "crashed", "ValueError: my own mistake"),
        ("leave", "missing_rank", "rank 1 (in call 0) exited with 0"),
        ("hang", "timeout", "in <module>"),
        ("wrong", "input_modified", "rank 1"),
    ] {
        let (said, report) = supervised(what);
        assert_eq!(said.code, Some(1), "{what}: {}{}", said.stdout, said.stderr);
        let verdicts: Vec<&str> = report["cases"]
            .as_array()
            .unwrap()
            .iter()
            .map(|c| c["verdict"].as_str().unwrap())
            .collect();
        assert_eq!(verdicts, ["pass", "fail"], "{what}: {}", said.stdout);
        let finding = &report["cases"][1]["findings"][0];
        assert_eq!(
            (finding["kind"].as_str(), finding["rank"].as_u64()),
            (Some(kind), Some(1)),
            "{what}"
        );
        assert!(said.stdout.contains(text), "{what}: no `{text}` in {}", said.stdout);
        assert!(
            said.stdout.contains("replay      rankcheck exec --ranks 2 "),
            "{what}: {}",
            said.stdout
        );
    }
}

/// Heaps in memory of the ranks' own, with their tables of peers; a barrier leaves them as they are.
const OWN_MEMORY: &str = "import os, numpy as np, rankcheck
what, rank = os.environ['WHAT'], int(os.environ['RANK'])
for case in rankcheck.cases():
    with case:
        size = case.heap_bytes + (4096 if what == 'size' and rank == 1 else 0)
        memory = np.empty(size, np.uint8)
        base = memory.ctypes.data
        table = [0x1000, 0x2000]
        table[rank] = base
        if what == 'swapped': table.reverse()
        if what == 'null': table[1 - rank] = 0
        if what == 'address': case.rank(base, size, table)
        else: case.rank(memory, peer_bases=table)
        for call in case.calls():
            for r in call.rank_order():
                if what == 'guard' and r == 1: memory[7] ^= 1
                call.launched(r)
            call.judge()
";

#[test]
fn ranks_bring_memory_and_tables_of_their_own() {
    let project = Project::new(BINARY);
    project.write("ranks.py", OWN_MEMORY);
    project
        .write("barrier.yaml", "scenario: t/barrier\nkernel: host/barrier\nranks: 2\ncalls: 2\n");
    for (what, expected) in [
        ("right", None),
        ("address", None),
        ("size", Some("asymmetric_heap")),
        ("swapped", Some("for itself, but its heap is at")),
        ("null", Some("has null for rank")),
        ("guard", Some("guard_overwritten")),
    ] {
        let mut command = program(BINARY, project.path());
        command.args(["exec", "--ranks", "2", "barrier.yaml", "--"]).arg(python());
        let said = said(command.arg("ranks.py").env("WHAT", what).output().unwrap());
        assert_eq!(said.code, Some(i32::from(expected.is_some())), "{what}: {}", said.stdout);
        let expected = expected.unwrap_or("1 passed");
        assert!(said.stdout.contains(expected), "{what}: no `{expected}` in {}", said.stdout);
    }
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
fn exec_ends_what_ranks_have_started() {
    let mark = format!("rankcheck-test-{}", std::process::id());
    let project = Project::new(BINARY);
    project.write("ranks.py", RANKS);
    let run = program(BINARY, project.path())
        .args(["exec", "--ranks", "2", "-k", "f16/9x257/tdefault/bdefault"])
        .arg(root().join("examples/numpy/all_gather.yaml"))
        .arg("--")
        .arg(python())
        .arg("ranks.py")
        .envs([("WHAT", "fork"), ("TEST_MARK", &mark)])
        .env("EXAMPLES", root().join("examples/ranks"))
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
    let mark = format!("TEST_MARK={mark}");
    let marked = std::fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|v| v == mark.as_bytes())
    });
    assert_eq!(marked.count(), 0, "a forked process is left");
}

#[test]
fn a_program_that_never_opens_a_case_is_no_pass() {
    let (said, report) = supervised("early");
    assert_eq!(said.code, Some(1), "{}{}", said.stdout, said.stderr);
    assert_eq!(report["cases"][0]["findings"][0]["kind"], "crashed");
    assert!(said.stdout.contains("no such thing"), "{}", said.stdout);
    assert_eq!(report["cases"][1]["verdict"], "not_run");
    let nothing = exec(&root(), &["--ranks", "2", "smoke/all_gather"], &["-c", "pass"]);
    assert_eq!(nothing.code, Some(1), "{}", nothing.stdout);
    assert!(nothing.stdout.contains("without opening a case"), "{}", nothing.stdout);
}

/// As torchrun and mpirun do: the variables, and nothing of ours; rank 0 starts the judge.
#[test]
fn ranks_of_another_launcher_find_each_other() {
    let project = Project::new(BINARY);
    for (rank_name, world_name) in
        [("RANK", "WORLD_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")]
    {
        let job = format!("{}-{rank_name}", std::process::id());
        let ranks: Vec<_> = (0..4)
            .map(|rank| {
                program(python(), project.path())
                    .arg(root().join("examples/ranks/all_gather.py"))
                    .env(rank_name, rank.to_string())
                    .env(world_name, "4")
                    .env("TORCHELASTIC_RUN_ID", &job)
                    .env("RANKCHECK_REPORT", "json=joined.json")
                    .stdout(std::process::Stdio::piped())
                    .stderr(std::process::Stdio::piped())
                    .spawn()
                    .unwrap()
            })
            .collect();
        for rank in ranks {
            let output = rank.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        let report = std::fs::read_to_string(project.path().join("joined.json")).unwrap();
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["summary"]["passed"], 16);
        assert_eq!(report["summary"]["selected"], 16);
        std::fs::remove_file(project.path().join("joined.json")).unwrap();
    }
}

#[test]
fn run_refuses_mode_host_and_says_what_to_do() {
    let said = Project::new(BINARY).run(&["run", "smoke", "--mode", "host"]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("rankcheck exec"), "{}", said.stderr);
}
