//! From what a log holds to one status with its reasons.
//!
//! Wrong data outranks a crash, a crash outranks missing parts, missing parts outrank a run without
//! communication and missing checks: the strongest thing that the log proves is its status, all others stay as reasons.

use super::factor;
use super::footer::contradictions;
use super::model::{Check, Evidence, Footer, Log, Row, Status, Unreadable};

/// Lines quoted for one reason.
const MAX_QUOTED: usize = 3;

pub(super) fn judge(evidence: Evidence) -> Log {
    let mut reasons: Vec<(Status, String)> = Vec::new();
    let below_min_bandwidth =
        evidence.footers.iter().flat_map(|footer| &footer.averages).any(|a| a.ok == Some(false));
    if evidence.is_perf_tool {
        wrong(&evidence, &mut reasons);
        crashed(&evidence, below_min_bandwidth, &mut reasons);
        truncated(&evidence, &mut reasons);
        alone(&evidence, &mut reasons);
        unchecked(&evidence.rows, &mut reasons);
    } else {
        reasons.push((Status::NotACollective, "nothing in it comes from a perf tool".to_owned()));
    }
    let mut notes = evidence.notes;
    if below_min_bandwidth {
        notes.push("the tool found its bandwidth below NCCL_TESTS_MIN_BW".to_owned());
    }
    for footer in evidence.footers.iter().filter(|footer| footer.worlds > 1) {
        let worlds = footer.worlds;
        notes.push(format!("{worlds} worlds share one run: was the tool built without MPI?"));
    }
    let halves = || evidence.rows.iter().flat_map(|row| &row.halves);
    let unchecked = halves().filter(|half| half.check == Check::NotChecked).count();
    if unchecked > 0 {
        notes.push(format!("{unchecked} of {} halves were not checked", halves().count()));
    }
    let noisy = evidence.rows.iter().filter(|row| row.had_noise).count();
    if noisy > 0 {
        notes.push(format!("other output stood inside {noisy} rows and was taken out"));
    }
    Log {
        status: reasons.first().map_or(Status::Ok, |(status, _)| *status),
        reasons: reasons.into_iter().map(|(_, reason)| reason).collect(),
        notes,
        format: evidence.format,
        tool: evidence.tool,
        collective: common(&evidence.footers, |run| run.collective.clone()),
        ranks: common(&evidence.footers, |run| run.ranks),
        below_min_bandwidth,
        rows: evidence.rows,
        unreadable: evidence.unreadable,
        footers: evidence.footers,
    }
}

/// What all runs have in common; none where they differ.
fn common<T: PartialEq>(runs: &[Footer], of: impl Fn(&Footer) -> Option<T>) -> Option<T> {
    let first = of(runs.first()?)?;
    runs.iter().all(|run| of(run).as_ref() == Some(&first)).then_some(first)
}

/// The rows of one run.
fn rows_of(evidence: &Evidence, section: usize) -> Vec<&Row> {
    evidence.rows.iter().filter(|row| row.section == section).collect()
}

fn alone(evidence: &Evidence, reasons: &mut Vec<(Status, String)>) {
    for (section, run) in evidence.footers.iter().enumerate() {
        let rows = rows_of(evidence, section);
        if !rows.is_empty() && factor::is_alone(run, &rows) {
            let why = match run.worlds {
                0 | 1 => "one rank: nothing was communicated".to_owned(),
                many => format!("{many} worlds of one rank each: nothing was communicated"),
            };
            reasons.push((Status::NoCommunication, why));
        }
    }
}

fn wrong(evidence: &Evidence, reasons: &mut Vec<(Status, String)>) {
    for row in &evidence.rows {
        for half in row.halves.iter().filter(|half| half.check.is_wrong()) {
            let what = match half.check {
                Check::Wrong(elements) => format!("{elements} wrong elements"),
                Check::Deviation { value, .. } => format!("deviation {value:e}"),
                Check::NotChecked => continue,
            };
            let (line, size, kind) = (row.line, row.size_bytes, half.kind.name());
            reasons.push((Status::Wrong, format!("line {line}: {what} at {size} bytes, {kind}")));
        }
    }
    reasons.extend(evidence.mismatches.iter().map(|line| (Status::Wrong, line.clone())));
    let said: u64 = evidence
        .footers
        .iter()
        .flat_map(|f| &f.out_of_bounds)
        .filter(|o| !o.ok)
        .map(|o| o.count)
        .sum();
    let failed = evidence.footers.iter().flat_map(|footer| &footer.out_of_bounds).any(|o| !o.ok);
    if failed && reasons.is_empty() {
        let why = format!("the footer says FAILED ({said}), but no row that was read is wrong");
        reasons.push((Status::Wrong, why));
    }
}

fn crashed(evidence: &Evidence, below_min: bool, reasons: &mut Vec<(Status, String)>) {
    let quoted = |lines: &[String]| lines.iter().take(MAX_QUOTED).cloned().collect::<Vec<_>>();
    reasons.extend(quoted(&evidence.deaths).into_iter().map(|line| (Status::Crashed, line)));
    // The tool also says `Test failure` when it only found something wrong or slow.
    if reasons.is_empty() && !below_min {
        reasons.extend(quoted(&evidence.failures).into_iter().map(|line| (Status::Crashed, line)));
    }
}

fn truncated(evidence: &Evidence, reasons: &mut Vec<(Status, String)>) {
    let mut missing = evidence.missing.clone();
    for group in evidence.unreadable.chunk_by(|a, b| a.why == b.why) {
        let Unreadable { line, why, .. } = &group[0];
        missing.push(match group.len() {
            1 => format!("line {line}: {why}"),
            many => format!("line {line} and {} more: {why}", many - 1),
        });
    }
    let worlds: usize = evidence.footers.iter().map(|footer| footer.worlds).sum();
    if evidence.preambles > worlds {
        let lost = evidence.preambles - worlds;
        missing.push(format!("{lost} runs began and did not get to a header"));
    }
    if evidence.footers.is_empty() {
        missing.push("no header".to_owned());
    }
    for (index, footer) in evidence.footers.iter().enumerate() {
        let rows = rows_of(evidence, index);
        missing.extend(some_of(factor::contradictions(footer, &rows)));
        if footer.worlds == 0 {
            missing.push("a footer without a header".to_owned());
        } else if evidence.format.has_footer() && !footer.is_complete() {
            missing.push(format!("the footer is missing or incomplete after {} rows", rows.len()));
        } else if rows.is_empty() {
            missing.push("no row was read".to_owned());
        } else if evidence.unreadable.is_empty() {
            missing.extend(contradictions(footer, &rows));
        }
    }
    reasons.extend(missing.into_iter().map(|reason| (Status::Truncated, reason)));
}

/// The first few, and how many more there are.
fn some_of(mut reasons: Vec<String>) -> Vec<String> {
    let more = reasons.len().saturating_sub(MAX_QUOTED);
    reasons.truncate(MAX_QUOTED);
    reasons.extend((more > 0).then(|| format!("and {more} more of this run")));
    reasons
}

fn unchecked(rows: &[Row], reasons: &mut Vec<(Status, String)>) {
    let is_unchecked = |row: &&Row| row.halves.iter().all(|half| half.check == Check::NotChecked);
    let count = rows.iter().filter(is_unchecked).count();
    if count > 0 {
        let why = format!("{count} of {} rows were checked in neither half", rows.len());
        reasons.push((Status::Unchecked, why));
    }
}
