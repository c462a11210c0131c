//! Logs of perf tools as measurements: one number a row and half, averaged by the tool.

use std::collections::BTreeMap;

use bench::file::{BenchFile, Verification};
use bench::import::{MEASURED, Measured, Origin, assemble};

use crate::perflog::{Check, Half, Log, Row, Status};

/// The rows of a log as a file of measurements; absent where it has none.
pub fn measurements(log: &Log, origin: Origin<'_>) -> Option<BenchFile> {
    let mut all: Vec<Measured> = Vec::new();
    for (row, half) in
        log.rows.iter().flat_map(|row| row.halves.iter().map(move |half| (row, half)))
    {
        let one = measured(log, row, half);
        // Further rows of one size are of the same process, and so of the same launch.
        match all.iter_mut().find(|known| known.id == one.id) {
            Some(known) => {
                known.launches[0].push(half.time_us * 1e3);
                if let Verification::Wrong(_) = one.verified {
                    known.verified = one.verified;
                }
            }
            None => all.push(one),
        }
    }
    let mut notes = Vec::new();
    if !matches!(log.status, Status::Ok) {
        let why = log.reasons.first().map_or("", String::as_str);
        notes.push(format!("{}: the log is {}: {why}", origin.path, log.status.name()));
    }
    let provenance = vec![origin.provenance("perf-tool log", true)];
    (!all.is_empty()).then(|| assemble(all, provenance, notes))
}

fn measured(log: &Log, row: &Row, half: &Half) -> Measured {
    let run = log.run_of(row);
    let collective = run.and_then(|run| run.collective.clone()).unwrap_or_default();
    let ranks = run.and_then(|run| run.ranks).and_then(|ranks| u32::try_from(ranks).ok());
    let ranks = ranks.unwrap_or(1).max(1);
    let redop = row.redop.clone().filter(|redop| !matches!(redop.as_str(), "" | "none"));
    let root = row.root.filter(|root| *root >= 0);
    let axes = [
        ("bytes", Some(row.size_bytes.to_string())),
        ("dtype", Some(row.dtype.clone())),
        ("op", redop.clone()),
        ("root", root.map(|root| root.to_string())),
        ("half", Some(half.kind.name().to_owned())),
    ];
    let axes: BTreeMap<String, String> =
        axes.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
    let parts: Vec<String> = axes.iter().map(|(name, value)| format!("/{name}={value}")).collect();
    let factor = (half.algbw_gbs > 0.0).then(|| half.busbw_gbs / half.algbw_gbs);
    Measured {
        id: format!("{collective}/w{ranks}{}", parts.concat()),
        semantics: [Some(collective.clone()), redop]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" "),
        collective,
        axes,
        ranks,
        bytes: row.size_bytes,
        bus_factor: factor.unwrap_or(0.0),
        arm: MEASURED.to_owned(),
        launches: vec![vec![half.time_us * 1e3]],
        verified: verified(half.check),
        skipped: None,
    }
}

fn verified(check: Check) -> Verification {
    match check {
        Check::NotChecked => Verification::NotJudged,
        wrong if wrong.is_wrong() => {
            Verification::Wrong("the tool counts wrong elements".to_owned())
        }
        Check::Wrong(_) | Check::Deviation { .. } => Verification::ClaimedRight,
    }
}
