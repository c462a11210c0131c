//! Which runs count: those whose log is there, whole and right, and whose row was proved.

use std::collections::BTreeMap;

use crate::csv::Table;
use crate::evaluate::{Query, Situation};
use crate::perflog::{self, HalfKind, Log, Status};
use crate::plan::{Arm, Phase, Plan, Run};
use crate::proof::{Expectation, Proof, prove};

use super::judged::NotCounted;
use super::summary::SummaryHalf;

/// What there is of a run.
#[derive(Debug, Clone)]
pub struct LogFile<'a> {
    /// The run's id: the file's name without `.log`.
    pub run: String,
    /// The SHA-256 of the file, in hexadecimal.
    pub sha256: &'a str,
    /// What the file holds of it.
    pub content: Content<'a>,
}

/// What a file holds of a run.
#[derive(Debug, Clone)]
pub enum Content<'a> {
    /// Everything that the run printed.
    Log(&'a [u8]),
    /// Its rows alone, as somebody else read them.
    Summary(Vec<SummaryHalf>),
}

/// Reads the tuner file of a path as a run was given it; absent where it cannot be read.
pub type RunTable<'a> = &'a dyn Fn(&str) -> Option<Table>;

/// A run that counts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Counted {
    /// Microseconds an operation, by half.
    pub(super) times_us: BTreeMap<HalfKind, f64>,
    /// Halves in which the tool counts wrong elements.
    pub(super) wrong: Vec<HalfKind>,
    pub(super) sha256: String,
    pub(super) is_summary: bool,
}

/// All runs of a plan.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// Timed runs that count, by id.
    pub(super) counted: BTreeMap<String, Counted>,
    pub(super) not_counted: Vec<NotCounted>,
}

/// What a proof is for: the file, the mode and the call.
type Proved<'a> = (&'a str, &'a str, Situation, u64);

fn place(run: &Run) -> Proved<'_> {
    (&run.file, &run.mode, run.situation, run.bytes)
}

pub(super) fn taken(
    plan: &Plan,
    logs: &[LogFile<'_>],
    tables: RunTable<'_>,
    statuses: &BTreeMap<String, i32>,
) -> Taken {
    let by_run: BTreeMap<&str, &LogFile<'_>> =
        logs.iter().map(|log| (log.run.as_str(), log)).collect();
    let mut files: BTreeMap<&str, Option<Table>> = BTreeMap::new();
    for run in &plan.runs {
        files.entry(&run.file).or_insert_with(|| tables(&run.file));
    }
    let mut proofs: BTreeMap<Proved<'_>, Result<(), String>> = BTreeMap::new();
    for run in plan.runs.iter().filter(|run| run.phase == Phase::Proof) {
        let log = by_run.get(run.id.as_str()).copied();
        proofs.insert(place(run), proved(plan, run, log, files[run.file.as_str()].as_ref()));
    }
    let mut taken = Taken::default();
    for run in plan.runs.iter().filter(|run| run.phase == Phase::Timed) {
        let log = by_run.get(run.id.as_str()).copied();
        let status = statuses.get(&run.id).copied().filter(|status| *status != 0);
        let of_place = proofs.get(&place(run)).cloned();
        let found = match (log, status) {
            (None, _) => Err("no log".to_owned()),
            (Some(_), Some(status)) => Err(format!("the run ended with status {status}")),
            (Some(log), None) => {
                let own = own_proof(plan, run, log, files[run.file.as_str()].as_ref());
                own.or(of_place)
                    .unwrap_or_else(|| Err("no proof of the applied row was planned".to_owned()))
                    .and_then(|()| counted(run, log))
            }
        };
        match found {
            Ok(counted) => {
                taken.counted.insert(run.id.clone(), counted);
            }
            Err(why) => taken.not_counted.push(NotCounted { run: run.id.clone(), why }),
        }
    }
    taken
}

/// Whether the log of a proof shows that the planned row was applied.
fn proved(
    plan: &Plan,
    run: &Run,
    log: Option<&LogFile<'_>>,
    table: Option<&Table>,
) -> Result<(), String> {
    let wrong = |why: &str| Err(format!("the applied row is not proved ({}: {why})", run.id));
    let Some(log) = log else { return wrong("no log") };
    let Some(table) = table else { return wrong(&format!("{} cannot be read", run.file)) };
    let Content::Log(log) = &log.content else {
        return wrong("a summary has no lines of the library");
    };
    let proof = proof(plan, run, log, table);
    if proof.choice != run.expected {
        let (now, then) = (proof.choice, run.expected);
        return wrong(&format!("{} says {now} by now, and {then} was planned", run.file));
    }
    match proof.problems.first() {
        None => Ok(()),
        Some(problem) => wrong(problem),
    }
}

fn proof(plan: &Plan, run: &Run, log: &[u8], table: &Table) -> Proof {
    let expected = Expectation {
        table,
        file: &run.file,
        query: Query { situation: run.situation, bytes: run.bytes },
        own_columns: plan.own_columns && run.phase == Phase::Proof,
    };
    prove(log, &expected)
}

/// What a timed log says of the applied row itself, where the library's log was on; it goes before the proof.
fn own_proof(
    plan: &Plan,
    run: &Run,
    log: &LogFile<'_>,
    table: Option<&Table>,
) -> Option<Result<(), String>> {
    let (table, Content::Log(text)) = (table?, &log.content) else { return None };
    let names = ["TUNER/", "tuner, config"];
    let speaks = names.iter().any(|name| text.windows(name.len()).any(|at| at == name.as_bytes()));
    speaks.then(|| match proof(plan, run, text, table).problems.first() {
        None => Ok(()),
        Some(problem) => Err(format!("its own log does not prove the applied row: {problem}")),
    })
}

/// The times of a run, from a log that is what was planned.
fn counted(run: &Run, file: &LogFile<'_>) -> Result<Counted, String> {
    let log: Log = match &file.content {
        Content::Summary(halves) => return of_summary(run, file, halves),
        Content::Log(bytes) => perflog::read(bytes),
    };
    match log.status {
        Status::Ok | Status::Unchecked | Status::Wrong => {}
        other => {
            let why = log.reasons.first().map_or("", String::as_str);
            return Err(format!("the log is {}: {why}", other.name()));
        }
    }
    let rows: Vec<_> = log.rows.iter().filter(|row| row.size_bytes == run.bytes).collect();
    let Some(first) = rows.first() else {
        return Err(format!("the log has no row of {} bytes", run.bytes));
    };
    let ranks = log.run_of(first).and_then(|footer| footer.ranks);
    let planned = usize::try_from(run.situation.ranks).unwrap_or(0);
    if let Some(ranks) = ranks.filter(|ranks| *ranks != planned) {
        return Err(format!("the log is of {ranks} ranks, and {planned} were planned"));
    }
    let mut times: BTreeMap<HalfKind, Vec<f64>> = BTreeMap::new();
    let mut wrong = Vec::new();
    for half in rows.iter().flat_map(|row| &row.halves) {
        times.entry(half.kind).or_default().push(half.time_us);
        if half.check.is_wrong() {
            wrong.push(half.kind);
        }
    }
    let median = |times: Vec<f64>| bench::stats::median(&times).unwrap_or(0.0);
    Ok(Counted {
        times_us: times.into_iter().map(|(kind, times)| (kind, median(times))).collect(),
        wrong,
        sha256: file.sha256.to_owned(),
        is_summary: false,
    })
}

/// The times of a run, from a summary.
fn of_summary(run: &Run, file: &LogFile<'_>, halves: &[SummaryHalf]) -> Result<Counted, String> {
    let halves: Vec<&SummaryHalf> = halves.iter().filter(|half| half.bytes == run.bytes).collect();
    if halves.is_empty() {
        return Err(format!("the summary has no row of {} bytes", run.bytes));
    }
    Ok(Counted {
        times_us: halves.iter().map(|half| (half.kind, half.time_us)).collect(),
        wrong: halves.iter().filter(|half| half.is_wrong).map(|half| half.kind).collect(),
        sha256: file.sha256.to_owned(),
        is_summary: true,
    })
}

/// As a row of results calls the arms.
pub(super) const ARMS: [Arm; 3] = [Arm::Base, Arm::Candidate, Arm::Control];
