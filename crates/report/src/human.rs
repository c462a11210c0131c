//! For people at a terminal: failures in full as they come, a progress bar, totals a mode.

use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Write as _};

use collectives::{Detail, Finding, FindingKind};
use indicatif::{ProgressBar, ProgressStyle};
use scenario::Mode;
use verdict::{CaseResult, Event, Summary, Verdict};

use crate::counts::Counts;
use crate::region_map;
use crate::{ReportError, Reporter};

/// At most this many failures are shown in full.
const SHOWN: usize = 20;

/// Prints to standard output as things happen.
#[derive(Debug)]
pub struct Human {
    bar: Option<ProgressBar>,
    counts: BTreeMap<Mode, Counts>,
    reasons: BTreeMap<String, usize>,
    failures: usize,
    /// Cases that passed under all of their interleavings, and how many those were.
    complete: (usize, u64),
    /// Delays of one rank at one place, and how many of them failed.
    delays: (usize, usize),
    /// Unsupported cases are listed one by one.
    pub verbose: bool,
}

impl Human {
    /// A reporter; the bar appears on terminals only.
    pub fn new(verbose: bool) -> Human {
        let (counts, reasons) = (BTreeMap::new(), BTreeMap::new());
        Human { bar: None, counts, reasons, failures: 0, complete: (0, 0), delays: (0, 0), verbose }
    }

    fn print(&self, text: &str) -> Result<(), ReportError> {
        match &self.bar {
            Some(bar) => bar.suspend(|| print(text)),
            None => print(text),
        }
    }

    fn case(&mut self, case: &CaseResult) -> Result<(), ReportError> {
        self.counts.entry(case.mode).or_default().add(case.verdict);
        if let Some(run) = case.how.processes() {
            self.delays = (self.delays.0 + run.delays, self.delays.1 + run.delays_failed);
        }
        match case.verdict {
            Verdict::Pass => {
                let schedules = case.how.schedules();
                if let Some(interleavings) = schedules.and_then(|run| run.complete) {
                    self.complete = (self.complete.0 + 1, self.complete.1 + interleavings);
                }
            }
            Verdict::NotRun => {}
            Verdict::Unsupported => {
                let reason = case.reason.as_ref().map_or_else(String::new, ToString::to_string);
                if self.verbose {
                    self.print(&format!("SKIP {} ({reason})\n", case.name()))?;
                }
                *self.reasons.entry(reason).or_default() += 1;
            }
            Verdict::Fail => {
                self.failures += 1;
                if self.failures <= SHOWN {
                    self.print(&(failure_text(case) + "\n"))?;
                } else {
                    self.print(&format!("FAIL {}\n", case.name()))?;
                }
            }
        }
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
        Ok(())
    }

    fn totals(&self, summary: &Summary) -> String {
        let mut text = String::new();
        for (mode, counts) in &self.counts {
            let Counts { passed, failed, unsupported, not_run } = counts;
            text += &format!(
                "{:>8}: {passed} passed, {failed} failed, {unsupported} unsupported",
                mode.name()
            );
            if *not_run > 0 {
                text += &format!(", {not_run} not run");
            }
            text += "\n";
        }
        if let (cases @ 1.., interleavings) = self.complete {
            text += &format!(
                "complete: {interleavings} interleavings, all there are of {cases} cases\n"
            );
        }
        if let (delays @ 1.., failed) = self.delays {
            text += &format!("one rank late at one place: {failed} of {delays} failed\n");
        }
        if !self.reasons.is_empty() {
            text += "unsupported, by reason:\n";
            for (reason, count) in &self.reasons {
                text += &format!("{count:>8}  {reason}\n");
            }
        }
        let compiled = summary.compiled;
        text += &format!(
            "{} distinct problems, {} launches, {compiled} objects compiled, {:.1} s{}\n",
            summary.problems,
            summary.launches,
            summary.duration_s,
            if summary.interrupted { ", interrupted" } else { "" },
        );
        text
    }
}

fn print(text: &str) -> Result<(), ReportError> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(ReportError { path: "standard output".into(), reason: error.to_string() })
        }
        _ => Ok(()),
    }
}

impl Reporter for Human {
    fn event(&mut self, event: &Event) -> Result<(), ReportError> {
        match event {
            Event::RunStarted { selected, .. } => {
                if std::io::stderr().is_terminal() {
                    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {elapsed}");
                    let bar = ProgressBar::new(*selected as u64);
                    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
                    self.bar = Some(bar);
                }
                Ok(())
            }
            Event::CaseFinished(case) => self.case(case),
            Event::RunFinished(summary) => {
                if let Some(bar) = self.bar.take() {
                    bar.finish_and_clear();
                }
                print(&self.totals(summary))
            }
        }
    }
}

/// A failing case, as people read it.
pub fn failure_text(case: &CaseResult) -> String {
    let failing = case.how.schedules().and_then(|run| Some((run, run.first_failing?)));
    let schedules = failing.map_or_else(String::new, |(run, seed)| {
        format!("{} of {} schedules, first seed {seed}   ", run.failed, run.ran)
    });
    let mut text = format!("FAIL {:<90} {schedules}{:.2} s\n", case.name(), case.duration_s);
    let mut shown: Vec<(&Finding, Vec<String>)> = Vec::new();
    for finding in &case.findings {
        let rank = finding.rank.map_or_else(String::new, |rank| rank.to_string());
        match shown.iter_mut().find(|(other, _)| alike(other, finding)) {
            Some((_, ranks)) => ranks.push(rank),
            None => shown.push((finding, vec![rank])),
        }
    }
    for (finding, ranks) in &shown {
        text += &finding_text(finding, ranks);
    }
    let location = &case.location;
    text += &format!("  {:<12}{}:{}\n", "scenario", location.file, location.line);
    text += &format!("  {:<12}{}\n", "replay", case.replay);
    text
}

/// The same fault on another rank.
fn alike(a: &Finding, b: &Finding) -> bool {
    let region = |finding: &Finding| finding.place.as_ref().map(|place| place.region.clone());
    a.kind == b.kind
        && a.call == b.call
        && a.extent == b.extent
        && a.place.is_some()
        && region(a) == region(b)
        && a.region_map == b.region_map
}

fn finding_text(finding: &Finding, ranks: &[String]) -> String {
    let line = |label: &str, text: &str| format!("  {label:<12}{text}\n");
    let kind = finding.kind.to_string();
    let what = &finding.explanation;
    let also = match ranks.len() {
        0 | 1 => String::new(),
        _ => format!(" (the same on ranks {})", ranks.join(", ")),
    };
    let mut text = if kind.len() < 12 {
        line(&kind, &format!("{what}{also}"))
    } else {
        format!("  {kind}  {what}{also}\n")
    };
    if let Some(cause) = &finding.looks_like {
        text += &line("looks like", cause);
    }
    if let (Some(place), Some(expected), Some(actual)) =
        (&finding.place, &finding.expected, &finding.actual)
    {
        let at = match (place.row, place.column) {
            (Some(row), Some(column)) => format!("row {row}, column {column}"),
            _ => format!("byte {:#x} of the heap", place.offset),
        };
        let rank = ranks.first().map_or("?", String::as_str);
        text += &line("first", &format!("rank {rank}, {at}: expected {expected}, got {actual}"));
    }
    // A race names both of its threads itself.
    let writer = finding.writer.as_ref().filter(|_| finding.details.is_empty());
    if let Some(writer) = writer {
        let label = match finding.kind {
            FindingKind::Deadlock | FindingKind::Timeout => "waits at",
            FindingKind::Crashed | FindingKind::OutOfBounds | FindingKind::MisalignedAccess => "at",
            _ => "written by",
        };
        let collectives::Writer { file, line: number, rank, block, thread } = writer;
        text +=
            &line(label, &format!("{file}:{number}, rank {rank} block {block} thread {thread}"));
    }
    for Detail { label, text: detail } in &finding.details {
        text += &format!("    {label:<10}{detail}\n");
    }
    for row in finding.region_map.iter().flat_map(region_map::lines) {
        text += &format!("  {row}\n");
    }
    text
}
