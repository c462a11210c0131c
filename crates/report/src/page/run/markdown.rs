//! A run's document as Markdown, for the summary of a CI run.

use super::document::{Case, RunDocument};

/// So many failures are named.
const FAILURES: usize = 10;

/// Markdown of a run: the verdict, totals, the first failures with their commands.
pub fn run_markdown(run: &RunDocument) -> String {
    let summary = &run.summary;
    let mut lines = vec![
        format!("## rankcheck: {}", run.outcome().1),
        format!(
            "{} passed, {} failed, {} unsupported, {} not run; {} problems, {} launches, {:.1} s",
            summary.passed,
            summary.failed,
            summary.unsupported,
            summary.not_run,
            summary.problems,
            summary.launches,
            summary.duration_s,
        ),
    ];
    let failed: Vec<&Case> = run.cases.iter().filter(|case| case.verdict == "fail").collect();
    if !failed.is_empty() {
        lines.push(String::new());
    }
    for case in failed.iter().take(FAILURES) {
        let what = case.findings.first().map_or("", |finding| &finding.explanation);
        let what = what.lines().collect::<Vec<_>>().join(" ").replace('|', "\\|");
        lines.push(format!("- **{}** `{}`: {what}", case.why(), case.name()));
        lines.push(format!("  - replay: `{}`", case.replay));
    }
    if failed.len() > FAILURES {
        lines.push(format!("- and {} more", failed.len() - FAILURES));
    }
    lines.join("\n") + "\n"
}
