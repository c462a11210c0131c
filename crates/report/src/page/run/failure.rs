//! A failing case in full.

use super::document::{Case, Finding, Writer};
use super::{map, timeline};
use crate::page::html::escaped;

/// A failing case: its findings, each with its pictures, and the command that shows it again.
pub(super) fn told(case: &Case, open: bool) -> String {
    let open = if open { " open" } else { "" };
    let mut html = format!(
        "<details{open}><summary><span class=\"word bad\">{}</span> <span class=\"id\">{}</span></summary>\n",
        escaped(&case.why()),
        escaped(&case.name()),
    );
    for finding in &case.findings {
        html += &one(finding);
    }
    if let Some(picture) = case.switches.as_deref().and_then(timeline::of_switches) {
        html += &picture;
    }
    let Case { location, replay, .. } = case;
    html += &format!(
        "<p class=\"faint\">scenario {}:{}</p><pre>{}</pre></details>\n",
        escaped(&location.file),
        location.line,
        escaped(replay)
    );
    html
}

fn one(finding: &Finding) -> String {
    let of = |name: &str, number: Option<String>| {
        number.map_or_else(String::new, |number| format!(", {name} {number}"))
    };
    let mut html = format!(
        "<h3>{}{}{}</h3><p>{}</p>\n",
        escaped(&finding.kind),
        of("rank", finding.rank.map(|rank| rank.to_string())),
        of("call", finding.call.map(|call| call.to_string())),
        escaped(&finding.explanation),
    );
    let mut facts: Vec<(&str, String)> = Vec::new();
    if let Some(cause) = &finding.looks_like {
        facts.push(("looks like", cause.clone()));
    }
    if let Some((expected, actual)) = finding.expected.as_ref().zip(finding.actual.as_ref()) {
        let place = match (&finding.region, finding.row, finding.column) {
            (Some(region), Some(row), Some(column)) => {
                format!("{region}, row {row}, column {column}: ")
            }
            (Some(region), _, _) => format!("{region}: "),
            _ => String::new(),
        };
        facts.push(("first", format!("{place}expected {expected}, got {actual}")));
    }
    if let Some(Writer { file, line, rank, block, thread }) = &finding.writer {
        facts.push((
            "written by",
            format!("{file}:{line}, rank {rank} block {block} thread {thread}"),
        ));
    }
    if !facts.is_empty() {
        html += "<table><tbody>";
        for (name, text) in facts {
            html += &format!("<tr><th scope=\"row\">{name}</th><td>{}</td></tr>", escaped(&text));
        }
        html += "</tbody></table>\n";
    }
    if let Some(region) = &finding.region_map {
        html += &map::pictures(region, finding);
    }
    if !finding.details.is_empty() {
        html += &timeline::of_details(&finding.details);
    }
    html
}
