//! The matrix for people: a table at the terminal, a table for reviewers.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::matrix::{Matrix, Outcome, Row, Twin};

impl Outcome {
    fn name(self) -> &'static str {
        match self {
            Outcome::Caught => "caught",
            Outcome::Missed => "MISSED",
            Outcome::ExpectedSurvivor => "survivor",
            Outcome::Untestable => "untestable",
        }
    }
}

impl Row {
    fn what(&self) -> String {
        let finding = self.finding.as_ref().map(ToString::to_string);
        let twin = (self.twin == Some(Twin::Fail)).then(|| "TWIN FAILS".to_owned());
        let parts = [twin, finding, self.reason.clone()];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    fn ran(&self) -> bool {
        self.mode.is_some()
    }
}

impl Matrix {
    fn totals(&self) -> String {
        let s = &self.summary;
        let ended = if s.interrupted { " (interrupted)" } else { "" };
        format!(
            "{} caught, {} missed, {} expected survivors, {} untestable; twins: {} pass, {} fail; {:.1} s{ended}",
            s.caught,
            s.missed,
            s.expected_survivors,
            s.untestable,
            s.twins_passed,
            s.twins_failed,
            s.duration_s
        )
    }

    /// What the rows that did not run wait for, each with its rows.
    fn waiting(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut waiting: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for row in self.mutants.iter().filter(|row| !row.ran()) {
            let reason = row.reason.as_deref().unwrap_or_default();
            waiting.entry(reason).or_default().push(&row.mutant);
        }
        waiting
    }

    /// For a terminal.
    pub(crate) fn human(&self) -> String {
        let widest = self.mutants.iter().filter(|row| row.ran()).map(|row| row.mutant.len()).max();
        let width = widest.unwrap_or(0);
        let mut text = String::new();
        for row in self.mutants.iter().filter(|row| row.ran()) {
            let mode = row.mode.map_or("", |mode| mode.name());
            let _ = writeln!(
                text,
                "{:<10}  {:width$}  {mode:<7}  {:>5.2} s  {}",
                row.outcome.name(),
                row.mutant,
                row.seconds,
                row.what()
            );
            if (row.outcome == Outcome::Missed || row.twin == Some(Twin::Fail))
                && let Some(replay) = &row.replay
            {
                let _ = writeln!(text, "            {}\n            {replay}", row.mechanism);
            }
        }
        for (reason, rows) in self.waiting() {
            let _ = writeln!(text, "untestable  {reason}: {}", rows.join(", "));
        }
        text + &self.totals() + "\n"
    }

    /// For reviewers.
    pub(crate) fn markdown(&self) -> String {
        let clean = self.summary.missed + self.summary.twins_failed == 0;
        let verdict = if clean { "PASS" } else { "FAIL" };
        let mut text = format!("## rankcheck selftest: {verdict}\n{}\n\n", self.totals());
        text += "| mutant | rows | mechanism | mode | outcome | twin | finding | s |\n|---|---|---|---|---|---|---|---|\n";
        for row in self.mutants.iter().filter(|row| row.ran()) {
            let twin = match row.twin {
                Some(Twin::Pass) => "pass",
                Some(Twin::Fail) => "FAIL",
                None => "",
            };
            let _ = writeln!(
                text,
                "| `{}` | {} | {} | {} | {} | {twin} | {} | {:.2} |",
                row.mutant,
                row.rows.join(" "),
                row.mechanism,
                row.mode.map_or("", |mode| mode.name()),
                row.outcome.name(),
                row.what().replace('|', "\\|"),
                row.seconds
            );
        }
        text += "\n";
        for (reason, rows) in self.waiting() {
            let _ = writeln!(text, "- untestable, {reason}: {}", rows.join(", "));
        }
        text
    }
}
