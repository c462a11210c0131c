//! The arms of one file, which ran side by side.

use std::collections::BTreeSet;

use super::decide::Policy;
use super::evidence::of_arms;
use super::result::{Comparison, SCHEMA, Source};
use super::rows::{Pending, Place, control, judge, missing, pending};
use super::slices::slices;
use crate::file::{ArmKind, BenchFile, Row};

/// Files that cannot be compared at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// Nothing stands against the base.
    #[error(
        "no row has an arm besides the base and its control (a benchmark of two arms, or a second file, is needed)"
    )]
    OneArm,
    /// No row has such an arm.
    #[error("no row has an arm `{name}`, only {known}")]
    NoArm {
        /// What was asked for.
        name: String,
        /// The arms that there are.
        known: String,
    },
    /// Two files with nothing in common.
    #[error("no row of one file is in the other (rows are the same where their ids are)")]
    NoRows,
}

/// Compares every arm of a file with the base of its row: the first arm, or the one of that name.
///
/// # Errors
/// There is nothing to compare.
pub fn within(
    file: &BenchFile,
    base: Option<&str>,
    source: Source,
    policy: Policy,
) -> Result<Comparison, CompareError> {
    let known: BTreeSet<&str> = names(file).collect();
    if let Some(name) = base.filter(|name| !known.contains(name)) {
        let known = known.iter().map(|arm| format!("`{arm}`")).collect::<Vec<_>>().join(", ");
        return Err(CompareError::NoArm { name: name.to_owned(), known });
    }
    // Every arm that some row has is expected in every row.
    let mut others: Vec<&str> = Vec::new();
    for row in &file.rows {
        let base = base_of(row, base);
        let of_row = candidates(row).filter(|(arm, _)| Some(*arm) != base).map(|(_, name)| name);
        others.extend(of_row.filter(|name| !others.contains(name)).collect::<Vec<_>>());
    }
    if others.is_empty() {
        return Err(CompareError::OneArm);
    }
    let mut rows: Vec<Pending> = Vec::new();
    for row in &file.rows {
        let Some(at) = base_of(row, base) else { continue };
        let place = |arm: usize| Place { file, row, arm };
        let chance = control(file, row, at);
        for name in &others {
            rows.push(match candidates(row).find(|(_, other)| other == name) {
                Some((arm, _)) if arm == at => continue,
                Some((arm, _)) => {
                    pending(place(at), place(arm), || of_arms(row, at, arm), chance.clone())
                }
                None => {
                    let why = row.skipped.as_ref().map(|why| format!("not measured: {why}"));
                    missing(
                        place(at),
                        name,
                        why.unwrap_or_else(|| "the row has no such arm".into()),
                    )
                }
            });
        }
    }
    Ok(comparison(vec![source], rows, policy, notes(&[file])))
}

/// Judges rows and puts everything into one value.
pub(super) fn comparison(
    sources: Vec<Source>,
    rows: Vec<Pending>,
    policy: Policy,
    notes: Vec<String>,
) -> Comparison {
    let (rows, tested) = judge(rows, policy);
    Comparison {
        schema: SCHEMA.to_owned(),
        rankcheck: env!("CARGO_PKG_VERSION").to_owned(),
        sources,
        margin: policy.margin,
        family: policy.family,
        tested,
        slices: slices(&rows),
        rows,
        notes,
    }
}

/// What readers of the files must know.
pub(super) fn notes(files: &[&BenchFile]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let mut add = |note: String| {
        if !notes.contains(&note) {
            notes.push(note);
        }
    };
    for file in files {
        file.notes.iter().cloned().for_each(&mut add);
        if file.interrupted {
            add("the benchmark was interrupted: rows are missing".to_owned());
        }
        if !file.provenance.is_empty() {
            add("imported times: rankcheck did not verify what was timed".to_owned());
        }
        if file.provenance.iter().any(|from| from.summary_only) {
            add("some files have summaries only: one number a launch, no samples".to_owned());
        }
        let throttled =
            file.machine.readings.iter().filter(|reading| !reading.throttled.is_empty());
        let throttled = throttled.count();
        if throttled > 0 {
            let all = file.machine.readings.len();
            add(format!("clocks were held down in {throttled} of {all} readings of the GPUs"));
        }
    }
    notes
}

/// The arms that a base is compared with, by index and name.
pub(super) fn candidates(row: &Row) -> impl Iterator<Item = (usize, &str)> {
    let arms = row.arms.iter().enumerate().filter(|(_, arm)| arm.kind != ArmKind::Control);
    arms.map(|(index, arm)| (index, arm.name.as_str()))
}

/// The base's index in a row; absent where it has no such arm.
pub(super) fn base_of(row: &Row, name: Option<&str>) -> Option<usize> {
    match name {
        Some(name) => candidates(row).find(|(_, arm)| *arm == name).map(|(index, _)| index),
        None => candidates(row).next().map(|(index, _)| index),
    }
}

fn names(file: &BenchFile) -> impl Iterator<Item = &str> {
    file.rows.iter().flat_map(candidates).map(|(_, name)| name)
}
