//! The same arms of two files, which ran at different times.

use std::collections::{BTreeMap, BTreeSet};

use super::decide::{Policy, spread};
use super::estimate::Estimate;
use super::evidence::apart;
use super::result::{Comparison, Source};
use super::rows::{Pending, Place, control, missing, pending};
use super::within::{CompareError, candidates, comparison, notes};
use crate::file::{BenchFile, Row};

/// Compares every arm of the first file with the arm of the same name in the second; where both have one arm
/// only, these two whatever they are called.
///
/// # Errors
/// There is nothing to compare.
pub fn between(
    [base, other]: [&BenchFile; 2],
    sources: [Source; 2],
    policy: Policy,
) -> Result<Comparison, CompareError> {
    let others: BTreeMap<&str, &Row> =
        other.rows.iter().map(|row| (row.id.as_str(), row)).collect();
    let known: BTreeSet<&str> = base.rows.iter().map(|row| row.id.as_str()).collect();
    if !base.rows.iter().any(|row| others.contains_key(row.id.as_str())) {
        return Err(CompareError::NoRows);
    }
    let mut rows = Vec::new();
    for row in &base.rows {
        let there = others.get(row.id.as_str()).copied();
        of_row(base, row, other, there, &sources[1].name, &mut rows);
    }
    for row in other.rows.iter().filter(|row| !known.contains(row.id.as_str())) {
        for (arm, _) in candidates(row) {
            let why = format!("not in {}", sources[0].name);
            let place = Place { file: other, row, arm };
            let mut pending = missing(place, &place.arm().name, why);
            // What is there is the other side.
            std::mem::swap(&mut pending.compared.base, &mut pending.compared.arm);
            rows.push(pending);
        }
    }
    let mut notes = notes(&[base, other]);
    let hardware = sources.each_ref().map(|source| source.hardware.as_str());
    if hardware[0] != hardware[1] {
        notes.push(format!("different hardware: {} and {}", hardware[0], hardware[1]));
    }
    notes.push("the files were measured at different times: a change of the machine between them looks like one of the kernel".to_owned());
    Ok(comparison(sources.into(), rows, policy, notes))
}

fn of_row(
    base: &BenchFile,
    row: &Row,
    other: &BenchFile,
    there: Option<&Row>,
    name: &str,
    into: &mut Vec<Pending>,
) {
    let only = |row: &Row| candidates(row).count() == 1;
    for (arm, arm_name) in candidates(row) {
        let place = Place { file: base, row, arm };
        let Some(there) = there else {
            into.push(missing(place, arm_name, format!("not in {name}")));
            continue;
        };
        let same = candidates(there)
            .find(|(_, other)| *other == arm_name)
            .or_else(|| candidates(there).next().filter(|_| only(row) && only(there)));
        let Some((at, _)) = same else {
            into.push(missing(place, arm_name, format!("{name} has no arm `{arm_name}`")));
            continue;
        };
        let other = Place { file: other, row: there, arm: at };
        let evidence = || apart([row, there], [arm, at]);
        let chance = wider(control(base, row, 0), control(other.file, there, 0));
        into.push(pending(place, other, evidence, chance));
    }
}

/// Of the controls of both files the one that shows more.
fn wider(first: Option<Estimate>, second: Option<Estimate>) -> Option<Estimate> {
    match (first, second) {
        (Some(first), Some(second)) if spread(&second) > spread(&first) => Some(second),
        (first, second) => first.or(second),
    }
}
