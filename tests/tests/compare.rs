//! `rankcheck compare` as a whole: what it reads, what it says, how it ends.

use rankcheck_tests::{CORRECT, Project};
use rstest::rstest;
use serde_json::{Value, json};

const BINARY: &str = env!("CARGO_BIN_EXE_rankcheck-under-test");

/// A file of measurements: by row, the times of base, arm and control. Launches differ by a part of a thousand.
fn file(rows: &[(&str, [f64; 3])]) -> Value {
    let arm = |name: &str, kind: &str| {
        json!({
            "name": name, "kind": kind, "semantics": "all_gather",
            "verified": {"before": "right", "after": "right"},
        })
    };
    let launch = |number: u32, times: &[f64; 3]| {
        let runs = [0, 1, 2, 2, 1, 0].map(|arm: usize| {
            let varied = 1.0 + 0.001 * f64::from((number + arm as u32) % 3);
            json!({"arm": arm, "samples": vec![vec![times[arm] * varied]; 5]})
        });
        json!({"number": number, "blocks": [{"runs": runs}]})
    };
    let rows: Vec<Value> = rows
        .iter()
        .map(|(id, times)| {
            json!({
                "id": id, "collective": "all_gather", "ranks": 2, "bytes": 1 << 20, "bus_factor": 0.5,
                "axes": {"dtype": "f16"},
                "arms": [arm("base", "variant"), arm("new", "variant"), arm("base again", "control")],
                "launches": (0..6).map(|number| launch(number, times)).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({"schema": "rankcheck.bench/1", "rankcheck": "0.1.0", "rows": rows})
}

fn project(rows: &[(&str, [f64; 3])]) -> Project {
    let project = Project::new(BINARY);
    project.write("a.json", &file(rows).to_string());
    project
}

#[rstest]
#[case::slower(1.05e5, "slower", 1)]
#[case::faster(0.95e5, "faster", 0)]
#[case::same(1e5, "same", 0)]
fn a_gate_says_no_to_what_is_slower(#[case] time: f64, #[case] verdict: &str, #[case] code: i32) {
    let project = project(&[("one", [1e5, time, 1e5])]);
    let said = project.run(&["compare", "a.json"]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    assert!(
        said.stdout.starts_with(|c: char| c.is_ascii_digit()),
        "verdicts first: {}",
        said.stdout
    );
    assert!(said.stdout.contains(&format!("\n{verdict} ")), "{}", said.stdout);
    let said = project.run(&["compare", "a.json", "--gate", "--report", "json"]);
    assert_eq!(said.code, Some(code), "{}{}", said.stdout, said.stderr);
    let comparison: Value = serde_json::from_str(&said.stdout).expect("JSON and nothing else");
    assert_eq!(comparison["schema"], "rankcheck.compare/1");
    assert_eq!(comparison["rows"][0]["verdict"], verdict);
    assert_eq!(comparison["family"], "any_false");
    assert_eq!(comparison["slices"][0]["of"], "all");
}

/// An arm that is wrong is not "not slower".
#[test]
fn a_gate_says_no_to_what_was_wrong() {
    let project = Project::new(BINARY);
    let mut rows = file(&[("one", [1e5, 0.5e5, 1e5])]);
    rows["rows"][0]["invalid"] =
        json!([{"arm": 1, "kind": "cheating", "reason": "it stops writing"}]);
    project.write("a.json", &rows.to_string());
    let said = project.run(&["compare", "a.json", "--gate"]);
    assert_eq!(said.code, Some(1), "{}", said.stdout);
    assert!(said.stdout.contains("it stops writing"), "{}", said.stdout);
    assert!(said.stdout.contains("1 without a ratio"), "{}", said.stdout);
    assert_eq!(project.run(&["compare", "a.json"]).code, Some(4), "nothing was compared");
}

#[test]
fn two_files_and_files_of_one_name_are_compared() {
    let project = project(&[("one", [1e5, 2e5, 1e5])]);
    project.write("b.json", &file(&[("one", [1.1e5, 2e5, 1.1e5])]).to_string());
    let said = project.run(&["compare", "a.json", "b.json", "--report", "json"]);
    let comparison: Value = serde_json::from_str(&said.stdout).expect("JSON");
    let verdicts: Vec<&Value> =
        comparison["rows"].as_array().unwrap().iter().map(|row| &row["verdict"]).collect();
    assert_eq!(verdicts, ["slower", "same"]);
    assert_eq!(comparison["rows"][0]["ratio"]["launches"], 6);
    let said = project.run(&["compare", "x=a.json", "x=a.json", "y=b.json", "--report", "json"]);
    let comparison: Value = serde_json::from_str(&said.stdout).expect("JSON");
    assert_eq!(comparison["sources"][0]["paths"], json!(["a.json", "a.json"]));
    assert_eq!(comparison["rows"][0]["ratio"]["launches"], 6, "the fewer of 12 and 6");
}

#[test]
fn markdown_has_a_dash_and_a_reason_where_there_is_no_ratio() {
    let project = Project::new(BINARY);
    let mut rows = file(&[("one", [1e5, 1.1e5, 1e5]), ("two", [1e5, 1e5, 1e5])]);
    rows["rows"][1]["skipped"] = json!("two GPUs are needed");
    rows["rows"][1]["launches"] = json!([]);
    project.write("a.json", &rows.to_string());
    let said = project.run(&["compare", "a.json", "--report", "markdown=out.md"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), ""));
    let text = std::fs::read_to_string(project.path().join("out.md")).expect("the report");
    assert!(text.starts_with("## rankcheck compare: 1 slower, 0 faster"), "{text}");
    let skipped = text.lines().find(|line| line.contains("two GPUs")).expect("a row");
    assert!(skipped.starts_with("| — | `two` |"), "{skipped}");
}

#[rstest]
#[case(&["compare"], "required")]
#[case(&["compare", "none.json"], "cannot read none.json")]
#[case(&["compare", "a.json", "--margin", "0%"], "percentage above 0")]
#[case(&["compare", "a.json", "--base", "old"], "no row has an arm `old`, only `base`, `new`")]
#[case(&["compare", "a.json", "--report", "junit"], "no report of this kind")]
#[case(&["compare", "a.json", "b=a.json", "c=a.json"], "3 things to compare, and two can be")]
fn what_cannot_be_compared_is_refused(#[case] arguments: &[&str], #[case] expected: &str) {
    let said = project(&[("one", [1e5, 1e5, 1e5])]).run(arguments);
    assert_eq!(said.code, Some(2), "{}", said.stdout);
    assert!(said.stderr.contains(expected), "{}", said.stderr);
}

/// What `bench` leaves is what `compare` reads.
#[test]
fn a_benchmark_is_compared() {
    let project = Project::with_kernel(BINARY, CORRECT);
    let how = ["--mode", "logical", "--iterations", "2", "--blocks", "1", "--launches", "3"];
    let all = [&["bench", "scenarios/s.yaml", "--arm", "other=base", "--json", "a.json"], &how[..]];
    let said = project.run(&all.concat());
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    let said = project.run(&["compare", "a.json", "--report", "json"]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    let comparison: Value = serde_json::from_str(&said.stdout).expect("JSON");
    let row = &comparison["rows"][0];
    assert_eq!((&row["base"]["arm"], &row["arm"]["arm"]), (&json!("base"), &json!("other")));
    assert!(row["control"].is_object() && row["ratio"]["low"].is_number(), "{row}");
}

/// CSV of iris.bench, JSON of iris.bench and a list of samples are read as they are; what is nothing is refused.
#[test]
fn files_of_others_are_compared() {
    let project = Project::new(BINARY);
    let table = |time: &str| {
        format!(
            "benchmark,world_size,M,gpu_time_ms,min_time_ms,skew_pct,bandwidth_gbps,tflops,skipped,skip_reason\n\
             all_gather,8,1024,{time},1.0,1.0,10.0,,False,\nall_gather,8,2048,,,,,,True,no memory\n"
        )
    };
    for (number, [a, b]) in [["1.0", "1.2"], ["1.01", "1.21"], ["1.02", "1.23"]].iter().enumerate()
    {
        project.write(&format!("a{number}.csv"), &table(a));
        project.write(&format!("b{number}.csv"), &table(b));
    }
    let files = ["a=a0.csv", "a=a1.csv", "a=a2.csv", "b=b0.csv", "b=b1.csv", "b=b2.csv"];
    let said = project.run(&[&["compare"], &files[..], &["--gate"]].concat());
    assert_eq!(said.code, Some(1), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("1 slower, 0 faster, 0 same, 0 cannot tell, 1 without a ratio"));
    assert!(said.stdout.contains("`measured` was not measured: no memory"), "{}", said.stdout);
    assert!(said.stdout.contains("rankcheck did not verify"), "{}", said.stdout);

    let times = |factor: u32| (0..60).map(|i| factor * 100 + i * 7 % 13).collect::<Vec<_>>();
    project.write(
        "samples.json",
        &json!({"unit": "us", "base": times(10), "new": times(9)}).to_string(),
    );
    let said = project.run(&["compare", "samples.json"]);
    assert!(said.stdout.starts_with("0 slower, 1 faster"), "{}{}", said.stdout, said.stderr);

    project.write("nothing.txt", "hello");
    let said = project.run(&["compare", "nothing.txt"]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("no measurements in it"), "{}", said.stderr);
}
