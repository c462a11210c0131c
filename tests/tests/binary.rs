//! The binary alone, and the verbs around `run`.

use rankcheck_tests::{CORRECT, MANIFEST, Project};

const BINARY: &str = env!("CARGO_BIN_EXE_rankcheck-under-test");

#[test]
fn in_an_empty_folder_the_embedded_smoke_scenarios_run() {
    let project = Project::new(BINARY);
    let said = project.run(&["run", "smoke"]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains(" logical: "), "{}", said.stdout);
    assert!(said.stdout.contains(" process: "), "{}", said.stdout);
    assert_eq!(project.run(&["list", "--count"]).code, Some(0), "all embedded scenarios load");
    assert_eq!(std::fs::read_dir(project.path()).unwrap().count(), 0, "nothing is left");
}

#[test]
fn files_on_disk_win_over_embedded_ones() {
    let project = Project::with_kernel(BINARY, CORRECT);
    project.write("scenarios/smoke/mine.yaml", "scenario: smoke/mine\nkernel: t/k\nshape: 2x2\n");
    let said = project.run(&["list", "smoke"]);
    assert_eq!(said.stdout.lines().count(), 2, "one case in two modes: {}", said.stdout);
}

#[test]
fn a_new_kernel_and_a_new_scenario_pass() {
    let project = Project::new(BINARY);
    assert_eq!(project.run(&["new", "kernel", "mine/copy"]).code, Some(0));
    assert_eq!(
        project.run(&["new", "scenario", "mine/more", "--kernel", "mine/copy"]).code,
        Some(0)
    );
    let said = project.run(&["run"]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    let again = project.run(&["new", "kernel", "mine/copy"]);
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("exists already"), "{}", again.stderr);
}

#[test]
fn doctor_says_what_there_is() {
    let project = Project::new(BINARY);
    let said = project.run(&["doctor"]);
    assert_eq!(said.code, Some(0));
    for piece in ["C++ compiler", "cargo-nextest", "memory", "cache", "GPUs"] {
        assert!(said.stdout.contains(piece), "{}", said.stdout);
    }
}

#[test]
fn explain_shows_heap_and_arguments() {
    let project = Project::with_kernel(BINARY, CORRECT);
    let said = project.run(&["explain", "t/s/k.base/w2/g0+1x2/f16/9x33/tdefault/bdefault"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("heap[1]+0x1000"), "{}", said.stdout);
    assert!(said.stdout.contains("guard"), "{}", said.stdout);
    let said = project.run(&["explain", "args"]);
    assert!(said.stdout.contains("input.row_stride"), "{}", said.stdout);
}

#[test]
fn list_and_filters_agree_with_run() {
    let project = Project::with_kernel(BINARY, CORRECT);
    project.write(
        "scenarios/s.yaml",
        "scenario: t/s\nkernel: t/k\nmatrix: {ranks: [1, 2, 4, 8], dtype: [f16, f32], group: [world, evens]}\nshape: 3x5\n",
    );
    let count = |arguments: &[&str]| project.run(arguments).stdout.lines().count();
    // At one rank `evens` is the world: 7 groups x 2 types x 2 modes.
    assert_eq!(count(&["list"]), 28);
    assert_eq!(count(&["list", "--mode", "logical"]), 14);
    assert_eq!(count(&["list", "--ranks", "2,4"]), 16);
    assert_eq!(count(&["list", "-E", "test(/w8/) & !dtype(f16) & mode(process)"]), 2);
    assert_eq!(count(&["list", "-k", "g0+2x2"]), 4);
    let parts: usize =
        (1..=3).map(|k| count(&["list", "--partition", &format!("hash:{k}/3")])).sum();
    assert_eq!(parts, 28);
    let (_, report) = project.json(&["-E", "ranks(8) & mode(logical)"]);
    assert_eq!(report["summary"]["selected"], 4);
    assert_eq!(report["summary"]["problems"], 4);
}

#[test]
fn reports_of_every_kind_at_once() {
    let project = Project::with_kernel(BINARY, &CORRECT.replace("row < m", "row < m - 1"));
    let summary = project.path().join("summary.md");
    std::fs::write(&summary, "before\n").unwrap();
    let mut command = project.command(&[
        "run",
        "--report",
        "json=a.json",
        "--report",
        "junit=b.xml",
        "--report",
        "markdown=c.md",
    ]);
    let said =
        rankcheck_tests::said(command.env("GITHUB_STEP_SUMMARY", &summary).output().unwrap());
    assert_eq!(said.code, Some(1));
    assert!(said.stdout.contains("FAIL cpu-logical::t/s/"), "people still see it: {}", said.stdout);
    let read = |name: &str| std::fs::read_to_string(project.path().join(name)).unwrap();
    assert!(
        read("b.xml").contains("<testsuite name=\"cpu-process\" tests=\"1\""),
        "{}",
        read("b.xml")
    );
    assert!(read("b.xml").contains("type=\"unwritten\""));
    let markdown = read("c.md");
    assert!(markdown.lines().count() <= 25);
    assert!(markdown.starts_with("## rankcheck: FAIL"), "{markdown}");
    assert!(read("summary.md").starts_with("before\n## rankcheck: FAIL"));
    assert!(read("a.json").contains("rankcheck.run/1"));
}

#[test]
fn a_json_report_names_no_person_and_no_machine() {
    let project = Project::with_kernel(BINARY, CORRECT);
    let mut command = project.command(&["run", "--mode", "logical", "--report", "json=-"]);
    let output = command.env("USER", "somebody-secret").env("TOKEN", "secret-token").output();
    let said = rankcheck_tests::said(output.unwrap());
    assert!(said.stdout.contains("\"environment\""));
    assert!(!said.stdout.contains("secret"), "{}", said.stdout);
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    assert!(!said.stdout.contains(&format!("\"{host}\"")), "{}", said.stdout);
}

#[test]
fn a_kernel_of_compiled_objects_is_listed_explained_and_unsupported_where_it_has_none() {
    let project = Project::with_kernel(BINARY, CORRECT);
    let manifest = MANIFEST.replace("source: k.hip", "object: {sm_90: k.cubin, gfx950: k.hsaco}");
    project.write("kernels/k.yaml", &manifest);
    project.write("kernels/k.cubin", "for one architecture");
    project.write("kernels/k.hsaco", "for another");
    let id = "t/s/k.base/w2/g0+1x2/f16/9x33/tdefault/bdefault";
    let listed = project.run(&["list"]);
    assert!(listed.stdout.contains(id), "{}{}", listed.stdout, listed.stderr);
    let explained = project.run(&["explain", id]);
    assert_eq!(explained.code, Some(0), "{}", explained.stderr);
    let unsupported =
        "needs a compiled object for cpu (manifest: object), found objects for gfx950, sm_90";
    assert!(explained.stdout.contains(unsupported), "{}", explained.stdout);
    let (said, report) = project.json(&[]);
    assert_eq!(said.code, Some(4), "{}", said.stdout);
    assert_eq!(report["summary"]["unsupported"], 2);
    let needed = &report["cases"][0]["reason"]["needed"];
    assert_eq!(needed, "a compiled object for cpu (manifest: object)");
}

#[test]
fn the_cache_says_its_size_and_is_cleared() {
    let project = Project::with_kernel(BINARY, CORRECT);
    // A cache of its own: others run while this one is cleared.
    let cache = project.path().join("own-cache");
    let run = |arguments: &[&str]| {
        let output = project.command(arguments).env("RANKCHECK_CACHE", &cache).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(run(&["run"]).0, Some(0));
    let (code, said) = run(&["cache"]);
    assert_eq!(code, Some(0));
    assert!(said.contains("     1 compiled objects, "), "{said}");
    assert!(said.contains("     1 copies of the binary's own files, "), "{said}");
    let (_, said) = run(&["cache", "--limit", "1GiB", "--older-than", "1d"]);
    assert!(said.starts_with("removed 0 entries"), "{said}");
    let (_, said) = run(&["cache", "--clear"]);
    assert!(said.starts_with("removed 2 entries, "), "{said}");
    assert!(said.contains("     0 compiled objects, 0 bytes\n"), "{said}");
    assert_eq!(run(&["run"]).0, Some(0), "what is missing is made again");
}
