//! `rankcheck report` as a whole, and its pages in a browser.

use std::path::Path;
use std::process::Command;

use rankcheck_tests::{CORRECT, Project};
use rstest::rstest;
use serde_json::{Value, json};

const BINARY: &str = env!("CARGO_BIN_EXE_rankcheck-under-test");

/// The page as a browser leaves it once its script has run, and what it complained about.
fn opened(page: &Path, fragment: &str, width: u32) -> (String, String) {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let profile = tempfile::tempdir().expect("a folder");
    for name in names {
        let mut browser = Command::new(name);
        browser.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--enable-logging=stderr",
            "--virtual-time-budget=10000",
            "--dump-dom",
        ]);
        browser.arg(format!("--user-data-dir={}", profile.path().display()));
        browser.arg(format!("--window-size={width},900"));
        browser.arg(format!("file://{}#{fragment}", page.display()));
        match browser.output() {
            Ok(output) => {
                let said = rankcheck_tests::said(output);
                let console = said.stderr.lines().filter(|line| line.contains("CONSOLE"));
                return (said.stdout, console.collect::<Vec<_>>().join("\n"));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => panic!("{name}: {error}"),
        }
    }
    panic!("a browser is needed, one of {} (ci/packages.sh installs one)", names.join(", "));
}

/// How many rows a filter shows, as the page says.
fn shown(page: &Path, fragment: &str) -> String {
    let (dom, console) = opened(page, fragment, 1280);
    assert_eq!(console, "", "the console is empty");
    assert!(dom.contains("data-ready=\"yes\""), "the script came to its end: {dom:.3000}");
    assert!(!dom.contains("data-broken"), "nothing threw");
    let table = fragment.split('=').next().expect("a table");
    let filter = dom.split(&format!("data-table=\"{table}\"")).nth(1).expect("a filter");
    let count = filter.split("aria-live=\"polite\">").nth(1).expect("a count");
    count.split('<').next().expect("text").to_owned()
}

/// A kernel that writes one column too many in some cases, and a case that cannot run.
fn run(project: &Project) -> (Value, String) {
    project.write(
        "scenarios/more.yaml",
        "scenario: t/more\nkernel: t/k\nmatrix:\n  ranks: [2, 4]\n  shape: [4x64, 4x65]\n  dtype: [f16]\nlayout: {output: {pad_columns: 3}}\n",
    );
    let said = project.run(&["run", "--report", "json=run.json", "--report", "html=run.html"]);
    assert_eq!(said.code, Some(1), "{}{}", said.stdout, said.stderr);
    let read = |file: &str| std::fs::read_to_string(project.path().join(file)).expect("a report");
    (serde_json::from_str(&read("run.json")).expect("JSON"), read("run.html"))
}

#[test]
fn a_run_is_a_page_whose_filter_works() {
    let wrong = CORRECT.replace("column < n;", "column < n + (n == 65);");
    let project = Project::with_kernel(BINARY, &wrong);
    let (document, html) = run(&project);
    let summary = &document["summary"];
    assert!(
        summary["failed"].as_u64() > Some(0) && summary["passed"].as_u64() > Some(0),
        "{summary}"
    );
    let verdict = html.find("class=\"verdict bad\"").expect("a verdict");
    assert!(verdict < html.find("<table").expect("tables"), "the verdict comes first");
    assert!(html.contains("class=\"map-wrong\"") && html.contains("class=\"map-first\""));
    assert!(
        !html.contains("src=\"http") && !html.contains("href=\"http"),
        "it needs nothing but itself"
    );
    let page = project.path().join("run.html");
    let all = summary["selected"].as_u64().expect("a count");
    let failed = summary["failed"].as_u64().expect("a count");
    assert_eq!(shown(&page, "all="), format!("{all} of {all}"));
    assert_eq!(shown(&page, "all=fail+padding_overwritten"), format!("{failed} of {all}"));
    assert_eq!(shown(&page, "all=no+such+case"), format!("0 of {all}"));
    // The JSON gives the same page; its Markdown begins with the verdict.
    let said = project.run(&["report", "run.json", "--report", "html=again.html"]);
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    let again = std::fs::read_to_string(project.path().join("again.html")).expect("a page");
    assert!(again == html, "the same page");
    let said = project.run(&["report", "run.json", "--report", "markdown"]);
    assert!(said.stdout.starts_with("## rankcheck: FAIL\n"), "{}", said.stdout);
    assert!(said.stdout.contains("replay: `rankcheck run"), "{}", said.stdout);
}

/// Two sizes of two arms with a control, one size skipped; five launches.
fn measurements() -> Value {
    let arm = |name: &str, kind: &str| {
        json!({"name": name, "kind": kind, "semantics": "all_gather",
            "verified": {"before": "right", "after": "right"}})
    };
    let row = |size: u64, skipped: bool| {
        let launch = |number: u32| {
            let runs = [0_usize, 1, 2, 2, 1, 0].map(|arm| {
                let varied = 1.0 + 0.001 * f64::from((number + arm as u32) % 3);
                let time = [1.0, 0.9, 1.0][arm] * size as f64 * varied;
                json!({"arm": arm, "at_ns": 1e6 * f64::from(number), "samples": [[time, time * 0.9]]})
            });
            json!({"number": number, "blocks": [{"runs": runs}]})
        };
        let launches: Vec<Value> = (0..if skipped { 0 } else { 5 }).map(launch).collect();
        let mut row = json!({
            "id": format!("row/<{size}>"), "collective": "all_gather", "ranks": 2, "bytes": size,
            "bus_factor": 0.5, "axes": {"dtype": "f16"}, "mode": "process",
            "arms": [arm("base", "variant"), arm("new", "variant"), arm("base again", "control")],
            "launches": launches,
        });
        if skipped {
            row["skipped"] = json!("no memory");
        }
        row
    };
    let rows = [row(1 << 20, false), row(1 << 22, false), row(1 << 24, true)];
    json!({"schema": "rankcheck.bench/1", "rankcheck": "0.1.0", "rows": rows})
}

#[rstest]
#[case::of_measurements("a.json")]
#[case::of_a_comparison("compare.json")]
fn measurements_are_a_page_whose_filter_works(#[case] file: &str) {
    let project = Project::new(BINARY);
    project.write("a.json", &measurements().to_string());
    let said = project.run(&["compare", "a.json", "--report", "json=compare.json"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let said = project.run(&["report", file, "--report", "html=page.html"]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    let page = project.path().join("page.html");
    let html = std::fs::read_to_string(&page).expect("a page");
    assert!(
        html.contains("<strong>FASTER</strong>") || html.contains("<strong>SOME FASTER</strong>")
    );
    assert!(html.contains("no memory") && html.contains("—"), "a dash and its reason");
    assert!(html.contains("row/&lt;1048576&gt;") && !html.contains("row/<1"), "text is text");
    assert!(html.matches("<svg role=\"img\" aria-label=").count() >= 1, "pictures have words");
    assert_eq!(html.matches("<svg").count(), html.matches("<svg role").count());
    assert_eq!(shown(&page, "compared="), "3 of 3");
    assert_eq!(shown(&page, "compared=faster"), "2 of 3");
    let (dom, console) = opened(&page, "compared=", 400);
    assert!(console.is_empty() && dom.contains("data-ready"), "{console}");
}

#[test]
fn measurements_are_a_table_too() {
    let project = Project::new(BINARY);
    project.write("a.json", &measurements().to_string());
    let said = project.run(&["report", "a.json", "--report", "csv"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(said.stdout.lines().count(), 7, "{}", said.stdout);
    assert!(said.stdout.contains("True,no memory"), "{}", said.stdout);
    let said = project.run(&["report", "a.json", "--report", "markdown"]);
    assert!(said.stdout.contains("| row | arm | size |"), "{}", said.stdout);
    let wrong = project.run(&["report", "a.json", "--report", "junit"]);
    assert_eq!(wrong.code, Some(2));
}

/// Ten thousand cases: the file is a few megabytes, and the browser makes no more rows than are read.
#[test]
fn a_page_of_ten_thousand_cases_opens() {
    let project =
        Project::with_kernel(BINARY, &CORRECT.replace("column < n;", "column < n + (n == 65);"));
    let (mut document, _) = run(&project);
    let cases = document["cases"].as_array().expect("cases").clone();
    let many = (0..10_000).map(|number| {
        let mut case = cases[number % cases.len()].clone();
        case["id"] = json!(format!("{}/n{number}", case["id"].as_str().unwrap_or_default()));
        case
    });
    document["cases"] = Value::Array(many.collect());
    project.write("many.json", &document.to_string());
    let said = project.run(&["report", "many.json", "--report", "html=many.html"]);
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    let page = project.path().join("many.html");
    let bytes = std::fs::metadata(&page).expect("a page").len();
    assert!(bytes < 10 << 20, "{bytes} bytes");
    assert_eq!(shown(&page, "all="), "10000 of 10000");
    let (dom, _) = opened(&page, "all=", 1280);
    let rows = dom.split("id=\"all\"").nth(1).expect("the table").matches("<tr").count();
    assert!(rows <= 201, "{rows} rows are made");
    assert_eq!(shown(&page, "all=n9999"), "1 of 10000");
}
