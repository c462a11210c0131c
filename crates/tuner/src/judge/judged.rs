//! `rankcheck.tuner-judge/1`: what the results say, row by row.

use bench::compare::{self, Compared, Control, Ratio};
use serde::Serialize;

use crate::evaluate::Situation;
use crate::perflog::HalfKind;
use crate::plan::{Arm, Zone};

use super::rows::Measured;

/// The name of the format.
pub const SCHEMA: &str = "rankcheck.tuner-judge/1";
/// Graph launches or none, three kinds of registered buffers, three CTA policies: what the perf tools can be told.
pub(super) const POSSIBLE_MODES: usize = 2 * 3 * 3;

/// What the results of a plan say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judgement {
    /// The name of the format.
    pub schema: String,
    /// The verdict on the change.
    pub verdict: Overall,
    /// The smallest difference that matters, as a share of the base's time.
    pub margin: f64,
    /// How many rows were tested: p-values are adjusted for all of them.
    pub tested: usize,
    /// Modes that were tested.
    pub modes: Modes,
    /// For each operation the widest range of sizes in which every tested row has improved.
    pub supported: Vec<Supported>,
    /// Whether no row outside the change is worse.
    pub edges_hold: bool,
    /// The rows, in the order of the plan.
    pub rows: Vec<Judged>,
    /// Timed runs that do not count, and why.
    pub not_counted: Vec<NotCounted>,
}

/// The verdict on a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Overall {
    /// Rows have improved, none is worse, none is unresolved.
    Improved,
    /// Some row is worse, or wrong.
    Worse,
    /// Nothing has changed.
    Unchanged,
    /// Some row is unresolved, and none is worse.
    Unresolved,
}

/// The verdict on a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It takes less time.
    Improved,
    /// It takes more time, or gives wrong elements.
    Worse,
    /// It takes as much time, within the margin.
    Unchanged,
    /// The measurements do not say.
    Unresolved,
}

impl Verdict {
    /// As people read it.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Improved => "improved",
            Verdict::Worse => "worse",
            Verdict::Unchanged => "unchanged",
            Verdict::Unresolved => "unresolved",
        }
    }
}

/// Modes of execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Modes {
    /// The flags of each mode that was run; empty for the tool's default.
    pub tested: Vec<String>,
    /// How many there are.
    pub possible: usize,
}

/// A range of sizes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Supported {
    /// The operation and its communicator.
    pub situation: Situation,
    /// The smallest and the largest size, both tested.
    pub bytes: [u64; 2],
    /// How many sizes in it were tested.
    pub sizes: usize,
    /// How many rows these are.
    pub rows: usize,
}

/// Where a row's numbers come from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// Runs whose raw log was read, each with the log's SHA-256.
    pub logs: Vec<(String, String)>,
    /// How many runs have a summary only, which cannot be checked.
    pub summaries: usize,
}

impl Provenance {
    /// In words.
    pub fn told(&self) -> String {
        match (self.logs.len(), self.summaries) {
            (0, 0) => "nothing".to_owned(),
            (logs, 0) => format!("{logs} raw logs"),
            (0, summaries) => format!("{summaries} runs, summary only"),
            (logs, summaries) => format!("{logs} raw logs, {summaries} runs summary only"),
        }
    }
}

/// A timed run that does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotCounted {
    /// The run's id.
    pub run: String,
    /// Why it does not count.
    pub why: String,
}

/// A ratio of times, with the bounds of its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Change {
    /// The estimate.
    pub estimate: f64,
    /// The lower bound; absent where there is too little to say.
    pub low: Option<f64>,
    /// The upper bound.
    pub high: Option<f64>,
}

/// An operation of one size in one mode, one half of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    /// The operation and its communicator.
    pub situation: Situation,
    /// Bytes of the whole operation.
    pub bytes: u64,
    /// Where the size lies.
    pub zone: Zone,
    /// Flags of the mode; empty for the tool's default.
    pub mode: String,
    /// Which half of the tool's rows.
    pub half: HalfKind,
    /// Rounds that have both arms.
    pub rounds: usize,
    /// The median over rounds of the old file, in microseconds.
    pub base_us: Option<f64>,
    /// The median over rounds of the new file, in microseconds.
    pub candidate_us: Option<f64>,
    /// The median over rounds of the old file once more, in microseconds.
    pub control_us: Option<f64>,
    /// The new file's time over the old one's.
    pub ratio: Option<Change>,
    /// The old file's time over its own.
    pub control: Option<Change>,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason in words.
    pub why: String,
    /// Where the numbers come from.
    pub provenance: Provenance,
}

/// The judgement on a row; `around` has what the controls of other modes and halves of the same size vary by.
pub(super) fn judged(
    row: &Measured,
    compared: Option<&Compared>,
    around: &[(String, f64)],
) -> Judged {
    let ratio = compared.and_then(|row| row.ratio.as_ref());
    let control = compared.and_then(|row| row.control.as_ref());
    let (verdict, why) = match compared {
        _ if !row.wrong.is_empty() => {
            let (arm, run) = &row.wrong[0];
            let why = format!("the tool counts wrong elements in {run}");
            let is_new = *arm == Arm::Candidate;
            (if is_new { Verdict::Worse } else { Verdict::Unresolved }, why)
        }
        None => (Verdict::Unresolved, "no run of both files counts".to_owned()),
        Some(compared) => resolved(compared, around),
    };
    Judged {
        situation: row.situation,
        bytes: row.bytes,
        zone: row.zone,
        mode: row.mode.clone(),
        half: row.half,
        rounds: row.rounds.iter().filter(|round| round[0].is_some() && round[1].is_some()).count(),
        base_us: row.median_us(Arm::Base),
        candidate_us: row.median_us(Arm::Candidate),
        control_us: row.median_us(Arm::Control),
        ratio: ratio.map(|Ratio { estimate, low, high, .. }| Change {
            estimate: *estimate,
            low: *low,
            high: *high,
        }),
        control: control.map(|Control { estimate, low, high, .. }| Change {
            estimate: *estimate,
            low: *low,
            high: *high,
        }),
        verdict,
        why,
        provenance: row.provenance.clone(),
    }
}

/// What a comparison says, held against what other controls of the same size show.
fn resolved(compared: &Compared, around: &[(String, f64)]) -> (Verdict, String) {
    let Some(ratio) = &compared.ratio else {
        return (Verdict::Unresolved, compared.why.clone());
    };
    let size = (ratio.estimate - 1.0).abs();
    let direction = if ratio.estimate > 1.0 { "slower" } else { "faster" };
    let own = compared.control.as_ref().map(|control| (control.estimate - 1.0).abs());
    let largest = around.iter().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|other| other.1 >= size);
    let differs =
        matches!(compared.verdict, Some(compare::Verdict::Faster | compare::Verdict::Slower));
    if let Some((other, spread)) = largest.filter(|_| differs) {
        let own = own.map_or_else(
            || "without a control of its own".to_owned(),
            |own| format!("against {} in its own control", percent(own)),
        );
        let why = format!(
            "unresolved: {} {direction} {own}, but another control of this size ({other}) varied by {}",
            percent(size),
            percent(*spread),
        );
        return (Verdict::Unresolved, why);
    }
    let against = own.map_or_else(String::new, |own| format!(", its control {}", percent(own)));
    match compared.verdict {
        Some(compare::Verdict::Faster) => {
            let times = 1.0 / ratio.estimate;
            (Verdict::Improved, format!("{times:.2}x, {} faster{against}", percent(size)))
        }
        Some(compare::Verdict::Slower) => {
            (Verdict::Worse, format!("{} slower{against}", percent(size)))
        }
        Some(compare::Verdict::Same) => (Verdict::Unchanged, compared.why.clone()),
        Some(compare::Verdict::CannotTell) | None => {
            (Verdict::Unresolved, format!("unresolved: {}", compared.why))
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// The verdict on all rows.
pub(super) fn overall(rows: &[Judged]) -> Overall {
    let has = |verdict: Verdict| rows.iter().any(|row| row.verdict == verdict);
    match () {
        () if has(Verdict::Worse) => Overall::Worse,
        () if has(Verdict::Unresolved) || rows.is_empty() => Overall::Unresolved,
        () if has(Verdict::Improved) => Overall::Improved,
        () => Overall::Unchanged,
    }
}
