//! Host mode with one process a rank: ranks that `exec` starts, and those of another launcher.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rankcheck_tests::programs::{python, root};
use rankcheck_tests::{Project, Said, programs, said};

const BINARY: &str = env!("CARGO_BIN_EXE_rankcheck-under-test");

/// A command in `folder` that finds the package, the library and the judge of this checkout.
fn program(command: impl AsRef<std::ffi::OsStr>, folder: &Path) -> Command {
    programs::program(BINARY, command, folder)
}

fn exec(folder: &Path, arguments: &[&str], rank: &[&str]) -> Said {
    let mut command = program(BINARY, folder);
    command.arg("exec").args(arguments).arg("--").arg(python()).args(rank);
    said(command.output().unwrap())
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

/// Two cases, to be run by `RANKS`.
fn supervision(project: &Project, what: &str, timeout: &str) -> Command {
    project.write("ranks.py", RANKS);
    let scenario = root().join("examples/numpy/all_gather.yaml");
    let mut command = program(BINARY, project.path());
    command
        .args(["exec", "--ranks", "2", "-k", "f16/9x257/tdefault", "--timeout", timeout])
        .args(["--report", "human", "--report", "json=a.json"])
        .arg(scenario)
        .arg("--")
        .arg(python())
        .arg("ranks.py")
        .env("WHAT", what)
        .env("EXAMPLES", root().join("examples/ranks"));
    command
}

/// Two cases, run by `RANKS`: what exec says, and the report.
fn supervised(what: &str) -> (Said, serde_json::Value) {
    let project = Project::new(BINARY);
    let said = said(supervision(&project, what, "2s").output().unwrap());
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
fn a_killed_exec_loses_no_finished_case() {
    let project = Project::new(BINARY);
    let mut command = supervision(&project, "hang", "2m");
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let journal = project.path().join("a.json.journal");
    let deadline = Instant::now() + Duration::from_secs(60);
    // A line says what runs, one is the first case.
    while std::fs::read(&journal).map_or(0, |t| t.iter().filter(|byte| **byte == b'\n').count()) < 2
    {
        assert!(Instant::now() < deadline, "the first case finishes");
        assert!(run.try_wait().unwrap().is_none(), "the second case hangs");
        std::thread::yield_now();
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let mut report = program(BINARY, project.path());
    report.args(["report", "a.json.journal", "--report", "json=made.json"]);
    let said = said(report.output().unwrap());
    assert!(said.stderr.contains("1 of 2 cases had finished"), "{}", said.stderr);
    let made = std::fs::read_to_string(project.path().join("made.json")).unwrap();
    let made: serde_json::Value = serde_json::from_str(&made).unwrap();
    assert_eq!(made["cases"][0]["verdict"], "pass");
    assert_eq!(made["cases"].as_array().unwrap().len(), 1);
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
