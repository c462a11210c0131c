//! The page of a run: what failed and how, what could not run, every case.

mod document;
mod failure;
mod map;
mod markdown;
mod timeline;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use document::Case;
pub use document::RunDocument;
pub use markdown::run_markdown;

use super::html::{embedded, escaped, filter, list, page, section, table, verdict};

/// So many failures are told in full; the table has all.
const FAILURES: usize = 100;

/// A page of a run.
pub fn run_page(run: &RunDocument) -> String {
    let summary = &run.summary;
    let (class, word) = run.outcome();
    let sentence = format!(
        "{} passed, {} failed, {} unsupported, {} not run; {} problems, {} launches, {:.1} s",
        summary.passed,
        summary.failed,
        summary.unsupported,
        summary.not_run,
        summary.problems,
        summary.launches,
        summary.duration_s,
    );
    let mut body = verdict(class, word, &sentence);
    body += &environment(run);
    let failed: Vec<&Case> = run.cases.iter().filter(|case| case.verdict == "fail").collect();
    if !failed.is_empty() {
        body += &section("failures", "Failures");
        for (number, case) in failed.iter().take(FAILURES).enumerate() {
            body += &failure::told(case, number == 0);
        }
        if failed.len() > FAILURES {
            let more = failed.len() - FAILURES;
            body += &format!(
                "<p>{more} more failures stand in the table and in the JSON report.</p>\n"
            );
        }
    }
    body += &reasons(run);
    body += &not_proved(run);
    body += &section("cases", "All cases");
    body += &filter("all", "cases");
    body += "<noscript><p>The table of all cases needs a script; failures and reasons are above.</p></noscript>\n";
    let head = ["verdict", "case", "ranks", "launches", "why"];
    body += &table("all", "All cases, failures first", &head, &[]);
    body += &embedded("all-data", &rows(run));
    page("rankcheck: run", &body)
}

fn environment(run: &RunDocument) -> String {
    let environment = &run.environment;
    let commit = match (&environment.commit, environment.dirty) {
        (Some(commit), Some(true)) => format!(", commit {commit} with changes"),
        (Some(commit), _) => format!(", commit {commit}"),
        (None, _) => String::new(),
    };
    let compiler = environment.compiler.as_deref().unwrap_or("no compiler");
    let text = format!(
        "rankcheck {}, {}, {}, {compiler}{commit}",
        environment.rankcheck, environment.hardware, environment.system
    );
    format!("<p class=\"faint\">{}</p>\n", escaped(&text))
}

/// Why cases did not run, with how many.
fn reasons(run: &RunDocument) -> String {
    let mut counts: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for case in run.cases.iter().filter(|case| case.reason.is_some()) {
        *counts.entry((&case.verdict, case.why())).or_default() += 1;
    }
    if counts.is_empty() {
        return String::new();
    }
    let rows: Vec<(String, Vec<String>)> = counts
        .into_iter()
        .map(|((verdict, why), count)| {
            let cells = vec![escaped(&verdict.replace('_', " ")), count.to_string(), escaped(&why)];
            ("open".to_owned(), cells)
        })
        .collect();
    section("reasons", "What did not run, and why")
        + &table("why", "By reason", &["verdict", "#cases", "reason"], &rows)
}

/// What passes leave open, each once.
fn not_proved(run: &RunDocument) -> String {
    let mut open: Vec<String> = Vec::new();
    for one in run.cases.iter().flat_map(|case| &case.not_proved) {
        if !open.contains(one) && open.len() < 20 {
            open.push(one.clone());
        }
    }
    match open.is_empty() {
        true => String::new(),
        false => section("not-proved", "Not proved") + &list(&open),
    }
}

/// The rows of the table as data: class, then cells.
fn rows(run: &RunDocument) -> Value {
    let order = |case: &&Case| match case.verdict.as_str() {
        "fail" => 0,
        "not_run" => 1,
        "unsupported" => 2,
        _ => 3,
    };
    let mut cases: Vec<&Case> = run.cases.iter().collect();
    cases.sort_by_key(order);
    let rows = cases.into_iter().map(|case| {
        let class = match case.verdict.as_str() {
            "fail" => "bad",
            "pass" => "good",
            _ => "open",
        };
        let verdict = case.verdict.replace('_', " ");
        json!([
            class,
            verdict,
            case.name(),
            case.ranks.to_string(),
            case.launches.to_string(),
            case.why()
        ])
    });
    Value::Array(rows.collect())
}
