//! The results of a plan: is the changed rule better, by how much, and where does nobody know?
//!
//! The module `taken` tells runs that count from those that do not (no log, no proof of the applied row, wrong bytes), what counts becomes
//! rows with a base, a candidate and a control by round, and [`bench::compare`] judges them. A difference that is not larger than
//! what any control of the same size shows stays unresolved.

mod judged;
mod range;
mod rows;
mod summary;
mod taken;
mod told;

pub use judged::{
    Change, Judged, Judgement, Modes, NotCounted, Overall, Provenance, SCHEMA, Supported, Verdict,
};
pub use summary::{SummaryHalf, summary};
pub use taken::{Content, LogFile, RunTable};

use std::collections::BTreeMap;

use bench::compare::{self, Compared, Policy, Source};

use crate::plan::{Plan, Zone};
use rows::Measured;

/// Judges the logs of a plan's runs. `tables` reads the tuner file that a run was given, `statuses` are the exit statuses that the
/// plan's script wrote down, by run.
pub fn judge(
    plan: &Plan,
    logs: &[LogFile<'_>],
    tables: RunTable<'_>,
    statuses: &BTreeMap<String, i32>,
    policy: Policy,
) -> Judgement {
    let taken = taken::taken(plan, logs, tables, statuses);
    let measured = rows::rows(plan, &taken);
    let source =
        Source { name: "plan".to_owned(), paths: Vec::new(), hardware: String::new(), seed: None };
    let compared = compare::within(&rows::file(&measured), None, source, policy);
    let (compared, tested) = match compared {
        Ok(comparison) => (comparison.rows, comparison.tested),
        // No round of any row has both arms.
        Err(_) => (Vec::new(), 0),
    };
    let by_id: BTreeMap<&str, &Compared> =
        compared.iter().map(|row| (row.id.as_str(), row)).collect();
    let judged: Vec<Judged> = measured
        .iter()
        .map(|row| {
            judged::judged(
                row,
                by_id.get(row.id.as_str()).copied(),
                &around(row, &measured, &by_id),
            )
        })
        .collect();
    let tested_modes: Vec<String> = rows::modes(plan);
    Judgement {
        schema: SCHEMA.to_owned(),
        verdict: judged::overall(&judged),
        margin: policy.margin,
        tested,
        modes: Modes { tested: tested_modes, possible: judged::POSSIBLE_MODES },
        supported: range::widest(&judged),
        edges_hold: judged
            .iter()
            .all(|row| row.zone == Zone::Inside || row.verdict != Verdict::Worse),
        rows: judged,
        not_counted: taken.not_counted,
    }
}

/// The controls of the same operation and size, in any mode and half: what each varies by.
fn around(
    row: &Measured,
    all: &[Measured],
    by_id: &BTreeMap<&str, &Compared>,
) -> Vec<(String, f64)> {
    let same = all.iter().filter(|other| other.id != row.id && other.is_beside(row));
    same.filter_map(|other| {
        let control = by_id.get(other.id.as_str())?.control.as_ref()?;
        Some((other.mode_and_half(), control.spread))
    })
    .collect()
}
