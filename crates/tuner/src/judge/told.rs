//! A judgement as text and as Markdown.

use std::fmt::Write as _;

use crate::evaluate::Situation;
use crate::plan::Zone;

use super::judged::{Change, Judged, Judgement, NotCounted, Overall, Supported, Verdict};

/// Runs that do not count are named up to here; JSON has all.
const NAMED: usize = 10;

impl Judgement {
    /// As text: the verdict, what it stands on, every row.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for line in self.sentences() {
            let _ = writeln!(text, "{line}");
        }
        for row in &self.rows {
            let _ = writeln!(
                text,
                "\n{:<11} {} {}\n  {}\n  {}; {} rounds, {}",
                row.verdict.name(),
                row.operation(),
                row.zone_name(),
                row.numbers().join("  "),
                row.why,
                row.rounds,
                row.provenance.told(),
            );
        }
        text
    }

    /// As Markdown: the sentences, and a table of rows.
    pub fn markdown(&self) -> String {
        let mut lines = self.sentences();
        lines[0] = format!("## Tuner rule: {}", lines[0]);
        let head = "| verdict | operation | bytes | where | mode | half | old -> new us | change | control | rounds | from | reason |";
        lines.splice(1..1, [String::new()]);
        lines.extend([
            String::new(),
            head.to_owned(),
            "|---|---|--:|---|---|---|--:|--:|--:|--:|---|---|".to_owned(),
        ]);
        for row in &self.rows {
            let [times, change, control] = row.numbers();
            lines.push(format!(
                "| {} | {} | {} | {} | {} | {} | {times} | {change} | {control} | {} | {} | {} |",
                row.verdict.name(),
                situation(row.situation),
                row.bytes,
                row.zone_name(),
                if row.mode.is_empty() { "default".to_owned() } else { format!("`{}`", row.mode) },
                row.half.name(),
                row.rounds,
                row.provenance.told(),
                row.why.replace('|', "\\|"),
            ));
        }
        // Sentences are paragraphs of their own there.
        lines.join("\n") + "\n"
    }

    /// The verdict first, then what it stands on.
    fn sentences(&self) -> Vec<String> {
        let word = match self.verdict {
            Overall::Improved => "improved",
            Overall::Worse => "worse",
            Overall::Unchanged => "unchanged",
            Overall::Unresolved => "unresolved",
        };
        let mut lines = vec![word.to_owned()];
        for (zone, name) in
            [(Zone::Inside, "inside"), (Zone::Around, "around"), (Zone::Outside, "outside")]
        {
            let rows: Vec<&Judged> = self.rows.iter().filter(|row| row.zone == zone).collect();
            if !rows.is_empty() {
                lines.push(format!("- {name} the change: {}", counts(&rows)));
            }
        }
        for Supported { situation: at, bytes: [from, to], sizes, rows } in &self.supported {
            lines.push(format!(
                "- the widest range that the evidence supports: {} from {from} to {to} bytes ({sizes} sizes, {rows} rows, all improved)",
                situation(*at)
            ));
        }
        if self.supported.is_empty() {
            lines.push("- the evidence supports no range".to_owned());
        }
        let tested = self.modes.tested.iter().map(|mode| match mode.is_empty() {
            true => "default".to_owned(),
            false => format!("`{mode}`"),
        });
        lines.push(format!(
            "- {} of {} modes were tested: {}",
            self.modes.tested.len(),
            self.modes.possible,
            tested.collect::<Vec<_>>().join(", ")
        ));
        let summaries = self.rows.iter().filter(|row| row.provenance.summaries > 0).count();
        if summaries > 0 {
            lines.push(format!(
                "- {summaries} rows stand on summaries, whose logs nobody can check"
            ));
        }
        if !self.not_counted.is_empty() {
            lines.push(format!("- {} timed runs do not count:", self.not_counted.len()));
            for NotCounted { run, why } in self.not_counted.iter().take(NAMED) {
                lines.push(format!("  - {run}: {why}"));
            }
            let more = self.not_counted.len().saturating_sub(NAMED);
            if more > 0 {
                lines.push(format!("  - and {more} more"));
            }
        }
        lines.push(format!(
            "- margin {:.1} %, {} rows tested, p adjusted for all of them; a change above 0 is slower",
            self.margin * 100.0,
            self.tested
        ));
        lines
    }
}

/// How many rows have which verdict, and by how much they have improved.
fn counts(rows: &[&Judged]) -> String {
    let all = rows.len();
    let verdicts = [Verdict::Improved, Verdict::Worse, Verdict::Unchanged, Verdict::Unresolved];
    let mut parts: Vec<String> = Vec::new();
    for verdict in verdicts {
        let of: Vec<&&Judged> = rows.iter().filter(|row| row.verdict == verdict).collect();
        if of.is_empty() {
            continue;
        }
        let mut part = format!("{} of {all} rows {}", of.len(), verdict.name());
        let times = || of.iter().filter_map(|row| row.ratio).map(|ratio| 1.0 / ratio.estimate);
        if verdict == Verdict::Improved {
            let least = times().fold(f64::INFINITY, f64::min);
            let _ = write!(part, ", {least:.2}x to {:.2}x", times().fold(0.0, f64::max));
        }
        parts.push(part);
    }
    parts.join("; ")
}

fn situation(at: Situation) -> String {
    format!("{}, {} nodes, {} ranks", at.collective, at.nodes, at.ranks)
}

impl Judged {
    fn operation(&self) -> String {
        let mode = if self.mode.is_empty() { String::new() } else { format!(" {}", self.mode) };
        format!("{}, {} bytes, {}{mode}", situation(self.situation), self.bytes, self.half.name())
    }

    fn zone_name(&self) -> &'static str {
        match self.zone {
            Zone::Inside => "inside",
            Zone::Around => "around",
            Zone::Outside => "outside",
        }
    }

    /// Times, change and control; a dash where there is none.
    fn numbers(&self) -> [String; 3] {
        let us = |us: Option<f64>| us.map_or("—".to_owned(), |us| format!("{us:.2}"));
        let percent = |ratio: f64| format!("{:+.1}%", (ratio - 1.0) * 100.0);
        let change = |change: Option<Change>| match change {
            None => "—".to_owned(),
            Some(Change { estimate, low: Some(low), high: Some(high) }) => {
                format!("{} [{}, {}]", percent(estimate), percent(low), percent(high))
            }
            Some(Change { estimate, .. }) => percent(estimate),
        };
        [
            format!("{} -> {}", us(self.base_us), us(self.candidate_us)),
            change(self.ratio),
            change(self.control),
        ]
    }
}
