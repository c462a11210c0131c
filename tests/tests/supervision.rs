//! Ranks that die, hang, print garbage or leave without a result: a verdict that names them, in
//! time, and nothing left behind.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rankcheck_tests::{CORRECT, Project, said};
use rstest::rstest;

const BINARY: &str = env!("CARGO_BIN_EXE_rankcheck-under-test");

/// On rank 1, thread 0 of block 0 does this before or after the copy.
fn rank_1_does(what: &str) -> Project {
    let guard = format!("  if (rank == 1 && threadIdx.x == 0 && blockIdx.x == 0) {{ {what} }}\n");
    let project = Project::with_kernel(BINARY, &(guard + CORRECT));
    let source = std::fs::read_to_string(project.path().join("kernels/k.hip")).unwrap();
    let headers =
        "#include <cstdlib>\n#include <csignal>\n#include <cstdio>\n#include <unistd.h>\n";
    project.write("kernels/k.hip", &format!("{headers}{source}"));
    project
}

#[rstest]
#[case("kill(getpid(), SIGKILL);", "crashed", "SIGKILL")]
#[case("abort();", "crashed", "SIGABRT")]
#[case("_exit(0);", "crashed", "exited with 0 without a result")]
#[case("exit(3);", "crashed", "exited with 3 without a result")]
#[case("*(volatile int*)16 = 1;", "out_of_bounds", "a null pointer")]
#[case("output[1ull << 30] = 1;", "out_of_bounds", "behind the end of rank 1's heap")]
#[case("*(ELEM*)bases[7] = 1;", "out_of_bounds", "behind the end of a table")]
#[case(
    "((rc_u64*)bases)[0] = 1;",
    "out_of_bounds",
    "a table of arguments, which cannot be written"
)]
#[case("write(0, \"garbage\", 7); pause();", "protocol_error", "not a frame")]
#[case("puts(\"last words\"); fflush(stdout); abort();", "crashed", "last words")]
fn a_lost_rank_is_named(
    #[case] what: &str,
    #[case] kind: &str,
    #[case] text: &str,
    #[values("logical", "process")] mode: &str,
) {
    let project = rank_1_does(what);
    let (said, report) = project.json(&["--mode", mode, "--timeout", "20s"]);
    assert_eq!(said.code, Some(1));
    let finding = &report["cases"][0]["findings"][0];
    assert_eq!(finding["kind"], kind, "{finding}");
    assert_eq!(finding["rank"], 1, "{finding}");
    let explanation = finding["explanation"].as_str().unwrap();
    assert!(explanation.contains(text), "{explanation}");
    assert!(explanation.contains("inside the kernel"), "{explanation}");
    assert_nothing_left(&project);
}

#[rstest]
fn a_hang_is_ended_in_time_and_names_the_line(#[values("logical", "process")] mode: &str) {
    let project = rank_1_does("for (volatile int i = 0;; i++);");
    let started = Instant::now();
    let (said, report) = project.json(&["--mode", mode, "--timeout", "1s"]);
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    assert_eq!(said.code, Some(1));
    let finding = &report["cases"][0]["findings"][0];
    assert_eq!(finding["kind"], "timeout", "{finding}");
    assert_eq!(finding["rank"], 1, "{finding}");
    assert_eq!(finding["writer"]["file"], "kernels/k.hip", "{finding}");
    assert_eq!(finding["writer"]["line"], 7, "{finding}");
    assert_nothing_left(&project);
}

#[test]
fn a_kernel_that_waits_for_nothing_is_a_deadlock() {
    let wait = "while (rc_load_acquire_system((rc_u32*)output) != 5) rc_spin_hint();";
    let project = rank_1_does(wait);
    let manifest = rankcheck_tests::MANIFEST.replace("launch:", "requires: [concurrent]\nlaunch:");
    project.write("kernels/k.yaml", &manifest);
    let (_, report) = project.json(&["--mode", "logical"]);
    let finding = &report["cases"][0]["findings"][0];
    assert_eq!(finding["kind"], "deadlock", "{finding}");
    assert_eq!(finding["rank"], 1);
    let explanation = finding["explanation"].as_str().unwrap();
    assert!(
        explanation.contains("kernels/k.hip:7 waits for `output[0,0]` of rank 1"),
        "{explanation}"
    );
}

#[test]
fn a_slow_kernel_that_lives_is_no_deadlock() {
    let slow = "for (int i = 0; i < 10000000; i++) { if (rc_load_acquire_system((rc_u32*)output) == 5) break; rc_spin_hint(); }";
    let project = rank_1_does(slow);
    let manifest = rankcheck_tests::MANIFEST.replace("launch:", "requires: [concurrent]\nlaunch:");
    project.write("kernels/k.yaml", &manifest);
    // What it polls is written by plain stores, which is a race but not the matter here.
    let (said, _) =
        project.json(&["--mode", "logical", "--schedules", "1", "--no-race", "--timeout", "4m"]);
    assert_eq!(said.code, Some(0), "{}", said.stdout);
}

#[test]
fn the_run_goes_on_after_a_lost_rank() {
    let project = rank_1_does("if (call == 0 && n == 33) abort();");
    project.write(
        "scenarios/s.yaml",
        "scenario: t/s\nkernel: t/k\nranks: 2\nmatrix: {shape: [1x1, 9x33, 2x2]}\n",
    );
    let (_, report) = project.json(&["-j", "1"]);
    let verdicts: Vec<&str> = report["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["pass", "pass", "fail", "fail", "pass", "pass"]);
}

/// The kernel goes on when what it has started has written down its process id.
const FORKS: &str = "int ends[2]; pipe(ends); if (fork() == 0) { FILE* file = fopen(\"started\", \"a\"); \
    fprintf(file, \"%d\\n\", getpid()); fclose(file); write(ends[1], \"x\", 1); for (;;) pause(); } \
    char byte; read(ends[0], &byte, 1);";

#[rstest]
fn what_a_kernel_starts_is_ended_with_the_run(#[values("logical", "process")] mode: &str) {
    let project = rank_1_does(FORKS);
    let (said, report) = project.json(&["--mode", mode]);
    // A process that goes on is nothing that a heap shows: the kernel itself is right.
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    assert_eq!(report["cases"][0]["verdict"], "pass", "{}", report["cases"][0]);
    let started = std::fs::read_to_string(project.path().join("started")).unwrap();
    assert!(started.lines().count() > 0, "the kernel has started nothing");
    assert_nothing_left(&project);
}

#[rstest]
fn a_misaligned_vector_access_is_named(#[values("logical", "process")] mode: &str) {
    let what = "typedef float v4 __attribute__((vector_size(16))); *(volatile v4*)((char*)output + 4) = v4{1};";
    let project = rank_1_does(what);
    let (_, report) = project.json(&["--mode", mode]);
    let finding = &report["cases"][0]["findings"][0];
    assert_eq!(finding["kind"], "misaligned_access", "{finding}");
    assert_eq!(finding["rank"], 1);
}

#[test]
fn a_rank_killed_from_outside_is_named() {
    let project = rank_1_does("for (volatile int i = 0;; i++);");
    let child = project
        .command(&["run", "--mode", "process", "--timeout", "60s", "--report", "json=-"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let victim = wait_for_rank(child.id(), 1);
    rustix::process::kill_process(victim, rustix::process::Signal::KILL).unwrap();
    let said = said(child.wait_with_output().unwrap());
    let report: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    let finding = &report["cases"][0]["findings"][0];
    assert_eq!((&finding["kind"], &finding["rank"]), (&"crashed".into(), &1.into()), "{finding}");
    assert!(finding["explanation"].as_str().unwrap().contains("SIGKILL"), "{finding}");
    assert_nothing_left(&project);
}

#[test]
fn an_interrupt_leaves_a_complete_report() {
    let project = rank_1_does("for (volatile int i = 0;; i++);");
    project.write(
        "scenarios/s.yaml",
        "scenario: t/s\nkernel: t/k\nranks: 2\nmatrix: {shape: [1x1, 2x2, 3x3]}\n",
    );
    let child = project
        .command(&["run", "--mode", "process", "-j", "1", "--report", "json=-"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for_rank(child.id(), 1);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let said = said(child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(130));
    let report: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(report["summary"]["not_run"], 3);
    assert_eq!(report["cases"].as_array().unwrap().len(), 3);
    assert_nothing_left(&project);
}

#[test]
fn ranks_die_with_their_parent() {
    let project = rank_1_does("for (volatile int i = 0;; i++);");
    let mut child = project
        .command(&["run", "--mode", "process", "--timeout", "60s"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let rank = wait_for_rank(child.id(), 1);
    child.kill().unwrap();
    child.wait().unwrap();
    let gone = || !Path::new(&format!("/proc/{}", rank.as_raw_nonzero())).exists();
    let deadline = Instant::now() + Duration::from_secs(10);
    while !gone() && Instant::now() < deadline {
        std::thread::yield_now();
    }
    assert!(gone(), "rank {rank:?} outlives its parent");
    assert_nothing_left(&project);
}

/// Waits until rank `number` of the process `parent` is inside its kernel: it burns time.
fn wait_for_rank(parent: u32, number: u32) -> rustix::process::Pid {
    let deadline = Instant::now() + Duration::from_secs(60);
    while Instant::now() < deadline {
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let Ok(pid) = entry.file_name().to_string_lossy().parse::<i32>() else { continue };
            let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let command: Vec<&[u8]> = command.split(|byte| *byte == 0).collect();
            let is_rank = command.get(1) == Some(&&b"rankcheck-rank-process"[..])
                && command.get(2) == Some(&number.to_string().as_bytes());
            let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
            let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
            let (parent_id, user_ticks) = (fields[1], fields[11].parse::<u64>().unwrap_or(0));
            if is_rank && parent_id == parent.to_string() && user_ticks > 3 {
                return rustix::process::Pid::from_raw(pid).unwrap();
            }
        }
        std::thread::yield_now();
    }
    panic!("rank {number} of {parent} never ran");
}

/// No rank process of this project lives, and no file of a run is left. Rank processes run in the
/// project's folder, which tells them from those of other tests.
fn assert_nothing_left(project: &Project) {
    let deadline = Instant::now() + Duration::from_secs(10);
    let here = project.path().canonicalize().unwrap();
    let alive = || {
        std::fs::read_dir("/proc").unwrap().flatten().find(|entry| {
            std::fs::read_link(entry.path().join("cwd")).is_ok_and(|folder| folder == here)
        })
    };
    while alive().is_some() && Instant::now() < deadline {
        std::thread::yield_now();
    }
    assert!(alive().is_none(), "a process is left");
    for entry in std::fs::read_dir("/dev/shm").into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(!name.contains("rankcheck"), "/dev/shm/{name} is left");
    }
    for entry in std::fs::read_dir(&here).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(!name.starts_with('.'), "{name} is left");
    }
    for entry in std::fs::read_dir(project.cache().join("building")).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name.split('-').next().unwrap();
        assert!(Path::new("/proc").join(process).exists(), "building/{name} is left");
    }
}
