//! Wrong kernels fail with the right kind at the right place, in both modes; right ones pass.

use rankcheck_tests::{CORRECT, Project};
use rstest::rstest;

const BINARY: &str = env!("CARGO_BIN_EXE_rankcheck-under-test");

#[rstest]
fn a_right_kernel_passes(#[values("logical", "process")] mode: &str) {
    let project = Project::with_kernel(BINARY, CORRECT);
    let (said, report) = project.json(&["--mode", mode]);
    assert_eq!(said.code, Some(0), "{}", said.stdout);
    assert_eq!(report["schema"], "rankcheck.run/1");
    assert_eq!(report["summary"]["passed"], 1);
    let case = &report["cases"][0];
    assert_eq!(case["verdict"], "pass");
    assert_eq!(case["calls"][0]["effective"]["blocks"], 2);
    assert!(!case["not_proved"].as_array().unwrap().is_empty());
}

/// Source of the wrong kernel, kind, rank, region. All of them are wrong on rank 1 alone or on
/// both ranks; the first finding on that rank is compared.
#[rstest]
// Last row skipped.
#[case(["m - 1", "n", "os", ""], "unwritten", 0, "output")]
// Column mask missing.
#[case(["m", "n + 1", "os", ""], "padding_overwritten", 0, "output")]
// N instead of the output's row stride: rows of the wrong place.
#[case(["m", "n", "n", ""], "output_mismatch", 0, "output")]
// The input is scribbled over.
#[case(["m", "n", "os", "((ELEM*)input)[rank] = 1;"], "input_modified", 1, "input")]
// Behind the output.
#[case(["m", "n", "os", "output[group_size * m * os] = 1;"], "guard_overwritten", 1, "guard behind output")]
// In front of the output.
#[case(["m", "n", "os", "output[-1] = 1;"], "guard_overwritten", 1, "guard behind input")]
fn a_wrong_kernel_fails_where_it_is_wrong(
    #[case] loops: [&str; 4],
    #[case] kind: &str,
    #[case] rank: u64,
    #[case] region: &str,
    #[values("logical", "process")] mode: &str,
) {
    let [rows, columns, stride, extra] = loops;
    let body = CORRECT
        .replace("row < m", &format!("row < {rows}"))
        .replace("column < n", &format!("column < {columns}"))
        .replace("* os +", &format!("* {stride} +"));
    let project = Project::with_kernel(
        BINARY,
        &format!("{body}\nif (threadIdx.x == 0 && blockIdx.x == 0) {{ {extra} }}"),
    );
    let findings = project.findings(&["--mode", mode]);
    let expected = (kind.to_owned(), Some(rank), region.to_owned());
    assert!(findings.contains(&expected), "{findings:?}");
}

#[test]
fn an_idle_rank_is_watched() {
    let body = CORRECT.replace("ranks[peer]", "peer"); // group rank used as rank
    let project = Project::with_kernel(BINARY, &body);
    project.write(
        "scenarios/s.yaml",
        "scenario: t/s\nkernel: t/k\nranks: 4\ngroup: odds\nshape: 5x9\n",
    );
    let findings = project.findings(&["--mode", "logical"]);
    let idle = |rank| ("idle_rank_modified".to_owned(), Some(rank), "output".to_owned());
    assert!(findings.contains(&idle(0)), "{findings:?}");
    assert!(findings.iter().any(|f| f.0 == "unwritten" && f.1 == Some(3)), "{findings:?}");
}

#[test]
fn the_workspace_of_an_idle_rank_is_watched() {
    let body = format!("{CORRECT} if (threadIdx.x == 0) *rc_peer(flags, bases, rank, 0) = 7;");
    let project = Project::with_kernel(BINARY, &body);
    let manifest = std::fs::read_to_string(project.path().join("kernels/k.yaml")).unwrap();
    let workspace = "workspace: {flags: {type: u32, count: 4, init: zero, between_calls: keep}}\n";
    project.write("kernels/k.yaml", &(manifest + "  - {ptr: workspace.flags}\n" + workspace));
    let source = std::fs::read_to_string(project.path().join("kernels/k.hip")).unwrap();
    project.write("kernels/k.hip", &source.replace("rc_u32 call)", "rc_u32 call, rc_u32* flags)"));
    project.write(
        "scenarios/s.yaml",
        "scenario: t/s\nkernel: t/k\nranks: 4\ngroup: odds\nshape: 5x9\n",
    );
    let findings = project.findings(&["--mode", "logical"]);
    let idle = ("idle_rank_modified".to_owned(), Some(0), "workspace.flags".to_owned());
    assert!(findings.contains(&idle), "{findings:?}");
}

#[test]
fn a_template_with_the_element_type_is_an_entry() {
    let project = Project::with_kernel(BINARY, CORRECT);
    let source = std::fs::read_to_string(project.path().join("kernels/k.hip")).unwrap();
    let template = source
        .replace("RC_KERNEL k(", "template <class T, int V> __global__ void k(")
        .replace("ELEM", "T");
    project.write("kernels/k.hip", &template);
    let manifest =
        rankcheck_tests::MANIFEST.replace("entry: k,", "entry: \"k<ELEM, 16 / sizeof(ELEM)>\",");
    project.write("kernels/k.yaml", &manifest);
    let said = project.run(&["run"]);
    assert_eq!(said.code, Some(0), "{}", said.stdout);
}

#[test]
fn a_result_that_depends_on_the_order_says_so() {
    // Reads the peer's output: right only if the peer has run already.
    let body = format!("{CORRECT}
  if (rank == 0 && threadIdx.x == 0 && blockIdx.x == 0)
    if (*rc_peer(output, bases, rank, 1) == *rc_peer(input, bases, rank, 0)) output[group_size * m * os] = 1;");
    let project = Project::with_kernel(
        BINARY,
        &body
            .replace("*rc_peer(output, bases, rank, 1)", "rc_peer(output, bases, rank, 0)[m * os]")
            .replace("*rc_peer(input, bases, rank, 0)", "*rc_peer(input, bases, rank, 1)"),
    );
    let findings = project.findings(&["--mode", "logical"]);
    assert!(findings.iter().any(|finding| finding.0 == "order_dependent"), "{findings:?}");
}

#[test]
fn a_finding_names_its_writer_and_whose_data_it_is() {
    let body = CORRECT.replace("column < n;", "column < n + 1;");
    let project = Project::with_kernel(BINARY, &body);
    let (said, report) = project.json(&["--mode", "logical"]);
    let finding = report["cases"][0]["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|finding| finding["kind"] == "padding_overwritten")
        .expect("the padding is overwritten");
    assert_eq!(finding["row"], 0);
    assert_eq!(finding["column"], 33);
    assert_eq!(finding["extent"]["columns"], serde_json::json!([33, 33]));
    assert_eq!(finding["writer"]["file"], "kernels/k.hip");
    assert_eq!(finding["writer"]["line"], 7, "the store stands on line 7");
    assert_eq!(finding["writer"]["thread"], 33);
    assert!(said.stdout.contains("written by  kernels/k.hip:7"), "{}", said.stdout);
    assert!(said.stdout.contains("row 0..17"), "the region map: {}", said.stdout);
    assert!(
        said.stdout.contains("replay      rankcheck run scenarios/s.yaml --id"),
        "{}",
        said.stdout
    );
}

#[test]
fn heaps_of_failing_cases_can_be_kept() {
    let project = Project::with_kernel(BINARY, "");
    project.run(&["run", "--mode", "logical", "--keep-heaps", "kept"]);
    let kept = std::fs::read_dir(project.path().join("kept")).unwrap().count();
    assert_eq!(kept, 2, "one file a rank");
}

#[test]
fn a_replay_command_replays() {
    let project = Project::with_kernel(BINARY, &CORRECT.replace("row < m", "row < m - 1"));
    let (_, first) = project.json(&["--mode", "logical"]);
    let replay = first["cases"][0]["replay"].as_str().unwrap().replace('\'', "");
    let arguments: Vec<&str> = replay.split(' ').skip(2).collect();
    let (_, second) = project.json(&arguments);
    assert_eq!(first["cases"][0]["findings"], second["cases"][0]["findings"]);
}
