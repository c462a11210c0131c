//! For reviewers: at most 25 lines.

use std::collections::BTreeMap;
use std::path::Path;

use scenario::Mode;
use verdict::{CaseResult, Event, Summary, Verdict};

use crate::counts::Counts;
use crate::file::ReportFile;
use crate::{ReportError, Reporter};

/// No report is longer, in lines.
pub(crate) const LINES: usize = 25;
const FINDINGS: usize = 3;

/// Writes Markdown at the end of a run.
#[derive(Debug)]
pub struct Markdown {
    file: Option<ReportFile>,
    /// Appended to instead of written: a CI run's summary.
    append_to: Option<std::path::PathBuf>,
    counts: BTreeMap<(Mode, u32), Counts>,
    kernels: BTreeMap<String, String>,
    not_proved: Vec<&'static str>,
    failures: Vec<CaseResult>,
    failed: usize,
}

impl Markdown {
    /// A report to `file`.
    pub fn new(file: ReportFile) -> Markdown {
        Markdown::with(Some(file), None)
    }

    /// A report appended to a file that others write to as well.
    pub fn appended(path: &Path) -> Markdown {
        Markdown::with(None, Some(path.to_owned()))
    }

    fn with(file: Option<ReportFile>, append_to: Option<std::path::PathBuf>) -> Markdown {
        Markdown {
            file,
            append_to,
            counts: BTreeMap::new(),
            kernels: BTreeMap::new(),
            not_proved: Vec::new(),
            failures: Vec::new(),
            failed: 0,
        }
    }

    fn case(&mut self, case: &CaseResult) {
        self.counts.entry((case.mode, case.ranks)).or_default().add(case.verdict);
        if !case.source.sha256.is_empty() {
            let commit = match (&case.source.commit, case.source.dirty) {
                (Some(commit), Some(true)) => format!(", commit {} with changes", short(commit)),
                (Some(commit), _) => format!(", commit {}", short(commit)),
                (None, _) => String::new(),
            };
            let identity =
                format!("{} sha256 {}{commit}", case.source.path, short(&case.source.sha256));
            self.kernels.insert(case.kernel.clone(), identity);
        }
        for open in &case.not_proved {
            // Some name a number of orders; one line for all of them is enough.
            if case.verdict == Verdict::Pass && !self.not_proved.contains(&open.topic()) {
                self.not_proved.push(open.topic());
            }
        }
        if case.verdict == Verdict::Fail {
            self.failed += 1;
            if self.failures.len() < FINDINGS {
                self.failures.push(case.clone());
            }
        }
    }

    fn text(&self, summary: &Summary) -> String {
        let verdict = match summary {
            Summary { failed: 1.., .. } => "FAIL",
            Summary { not_run: 1.., .. } => "INCOMPLETE",
            Summary { passed: 0, .. } => "NOTHING RAN",
            _ => "PASS",
        };
        let mut lines = vec![
            format!("## rankcheck: {verdict}"),
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
            String::new(),
        ];
        for (kernel, identity) in self.kernels.iter().take(2) {
            lines.push(format!("- `{kernel}`: {identity}"));
        }
        if self.kernels.len() > 2 {
            lines.push(format!("- and {} more kernels", self.kernels.len() - 2));
        }
        lines.push(String::new());
        lines.extend(self.table());
        for case in &self.failures {
            let kind = case.findings.first().map_or_else(String::new, |f| f.kind.to_string());
            let what = case.findings.first().map_or("", |finding| &finding.explanation);
            lines.push(format!("- **{kind}** `{}`: {}", case.id, one_line(what)));
        }
        if let Some(case) = self.failures.first() {
            lines.push(format!("- replay: `{}`", case.replay));
        }
        if !self.not_proved.is_empty() {
            lines.push(String::new());
            lines.push(format!("Not proved: {}.", self.not_proved.join("; ")));
        }
        assert!(lines.len() <= LINES, "the report has {} lines", lines.len());
        lines.join("\n") + "\n"
    }

    /// Modes down, ranks across: passed/failed/unsupported. One row a mode, so it stays short.
    fn table(&self) -> Vec<String> {
        let mut ranks: Vec<u32> = self.counts.keys().map(|(_, ranks)| *ranks).collect();
        ranks.sort_unstable();
        ranks.dedup();
        let heads: Vec<String> = ranks.iter().map(|ranks| format!("{ranks} ranks")).collect();
        let mut lines = vec![
            format!("| passed / failed / unsupported | {} |", heads.join(" | ")),
            format!("|---|{}", "---|".repeat(ranks.len())),
        ];
        for mode in Mode::ALL {
            if !self.counts.keys().any(|(other, _)| *other == mode) {
                continue;
            }
            let cells: Vec<String> = ranks
                .iter()
                .map(|ranks| match self.counts.get(&(mode, *ranks)) {
                    Some(Counts { passed, failed, unsupported, .. }) => {
                        format!("{passed} / {failed} / {unsupported}")
                    }
                    None => "—".into(),
                })
                .collect();
            lines.push(format!("| {mode} | {} |", cells.join(" | ")));
        }
        lines
    }
}

fn short(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

fn one_line(text: &str) -> String {
    const LONGEST: usize = 240;
    let text = text.lines().map(str::trim).collect::<Vec<_>>().join(" ").replace('|', "\\|");
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

impl Reporter for Markdown {
    fn event(&mut self, event: &Event) -> Result<(), ReportError> {
        match event {
            Event::RunStarted { .. } => Ok(()),
            Event::CaseFinished(case) => {
                self.case(case);
                Ok(())
            }
            Event::RunFinished(summary) => {
                let text = self.text(summary);
                if let Some(path) = &self.append_to {
                    use std::io::Write as _;
                    std::fs::OpenOptions::new()
                        .append(true)
                        .create(true)
                        .open(path)
                        .and_then(|mut file| file.write_all(text.as_bytes()))
                        .map_err(|reason| ReportError {
                            path: path.display().to_string(),
                            reason: reason.to_string(),
                        })?;
                }
                match &mut self.file {
                    Some(file) => file.finish(&text),
                    None => Ok(()),
                }
            }
        }
    }
}
