//! The sequence of calls: prepare, fill, launch, compare.

use std::ops::Range;

use collectives::{Finding, FindingKind, Rank};
use device::{Borders, Launch, WatchedByte};
use ranks::PoolError;
use ranks::command::{Command, Reply, Start};
use simt::RankOutcome;

use super::interleaving::interleaving;
use super::knobs::{Knobs, Watch};
use super::ran::{CallRan, Ran};
use super::ranks::Ranks;
use super::together::{borders, runs_of_calls};
use super::{launched, replies};
use crate::admit::Admitted;
use crate::loss::is_loss;
use crate::once;

/// Runs the whole sequence of calls once, up to the first call that is wrong.
///
/// # Errors
/// Ctrl-C, or no rank process can be had.
pub fn attempt(
    admitted: &Admitted<'_>,
    knobs: &Knobs,
    ranks: &mut dyn Ranks,
) -> Result<Ran, PoolError> {
    let (problem, plan) = (&admitted.case.problem, admitted.plan);
    let mut ran = Ran::default();
    let mut loaded: Option<&str> = None;
    for calls in runs_of_calls(admitted, knobs) {
        let (call, object) = (calls.start, &admitted.objects[calls.start]);
        if loaded != Some(&object.sha256) {
            ran.findings = prepare(admitted, knobs, ranks, call)?;
            if !ran.is_right() {
                return Ok(ran);
            }
            loaded = Some(&object.sha256);
        }
        ranks.heaps().fill(problem, plan, call, 0)?;
        let borders = borders(admitted, &calls);
        if let Some(borders) = &borders {
            for (call, number) in calls.clone().zip(0..).skip(1) {
                ranks.heaps().fill(problem, plan, call, borders.before(number))?;
            }
        }
        let ended = launch(admitted, knobs, ranks, &calls, borders.as_ref(), &mut ran)?;
        let lost = ran.findings.iter().any(|finding| is_loss(finding.kind));
        if let Some(borders) = borders {
            let wrong = compare_calls(admitted, ranks, calls, &borders, ended)?;
            add_wrong_bytes(&mut ran.findings, wrong);
        } else if !lost && knobs.compares(call, admitted.objects.len()) {
            let wrong = ranks.heaps().compare(problem, plan, call, 0)?;
            add_wrong_bytes(&mut ran.findings, wrong);
        }
        if knobs.watch == Watch::EveryOutput && ran.is_right() {
            let watched = once::watched(problem, plan, call);
            ran.findings = once::findings(&admitted.context(call), &watched, &ran.writes);
        }
        if !ran.is_right() {
            return Ok(ran);
        }
    }
    for process in processes(admitted, &knobs.order) {
        ranks.tell(process, &Command::Judged);
    }
    Ok(ran)
}

/// What is wrong in the first `ended` of calls that ran together: in the heaps as each rank's own call left
/// them, and as they are when all have ended. While calls overlap, a workspace belongs to peers too, so it is
/// wrong only if it is in the end, and then since the first call in which it was.
fn compare_calls(
    admitted: &Admitted<'_>,
    ranks: &mut dyn Ranks,
    calls: Range<usize>,
    borders: &Borders,
    ended: usize,
) -> Result<Vec<Finding>, PoolError> {
    let (problem, plan) = (&admitted.case.problem, admitted.plan);
    let is_workspace = |finding: &Finding| finding.kind == FindingKind::WorkspaceMismatch;
    let mut workspaces = Vec::new();
    for (call, number) in calls.clone().zip(0..).take(ended) {
        let wrong = ranks.heaps().compare(problem, plan, call, borders.left(number))?;
        let (of_workspaces, wrong) = wrong.into_iter().partition(is_workspace);
        if !Vec::is_empty(&wrong) {
            return Ok(wrong);
        }
        workspaces.extend::<Vec<Finding>>(of_workspaces);
    }
    if ended < calls.len() {
        return Ok(Vec::new());
    }
    let mut wrong = ranks.heaps().compare(problem, plan, calls.end - 1, 0)?;
    let region = |finding: &Finding| finding.place.as_ref().map(|place| place.region.clone());
    for finding in wrong.iter_mut().filter(|finding| is_workspace(finding)) {
        let same = |seen: &&Finding| (seen.rank, region(seen)) == (finding.rank, region(finding));
        if let Some(first) = workspaces.iter().find(same) {
            *finding = first.clone();
        }
    }
    Ok(wrong)
}

/// The processes of some ranks, which take part in some call.
fn processes(admitted: &Admitted<'_>, ranks: &[Rank]) -> Vec<usize> {
    match admitted.alone() {
        true => vec![0],
        false => ranks.iter().map(|rank| rank.index()).collect(),
    }
}

/// A race that did no harm this time is the finding that nothing else makes; one that did explains the
/// wrong bytes better than they look.
fn add_wrong_bytes(findings: &mut Vec<Finding>, mut wrong: Vec<Finding>) {
    let is_race = |finding: &Finding| finding.kind == FindingKind::DataRace;
    if wrong.is_empty() {
        for race in findings.iter_mut().filter(|finding| is_race(finding)) {
            race.explanation += " (the outputs were right: comparing would have passed)";
        }
    }
    let comes_later = |finding: &Finding| finding.kind == FindingKind::ChangedAfterEnd;
    if findings.iter().any(|finding| is_race(finding) || comes_later(finding)) {
        // What stands in a racing place is a matter of chance, and looks like anything.
        wrong.iter_mut().for_each(|wrong| wrong.looks_like = None);
    }
    findings.extend(wrong);
}

fn prepare(
    admitted: &Admitted<'_>,
    knobs: &Knobs,
    ranks: &mut dyn Ranks,
    call: usize,
) -> Result<Vec<Finding>, PoolError> {
    let (problem, object) = (&admitted.case.problem, &admitted.objects[call]);
    let alone = admitted.alone();
    let processes = processes(admitted, &knobs.order);
    for process in &processes {
        let command = Command::Prepare {
            hosted: if alone { knobs.order.clone() } else { vec![Rank(*process as u32)] },
            alone,
            heaps: ranks.heaps().handles(problem.world),
            heap_bytes: admitted.plan.bytes,
            gaps: admitted.plan.gaps(problem),
            object: object.path.display().to_string(),
            symbols: object.symbols.clone(),
        };
        ranks.tell(*process, &command);
    }
    let answers = ranks.gather(&processes, admitted.patience())?;
    let of = |(reply, process): (&_, &usize)| match reply {
        Ok(Reply::Prepared) => None,
        Ok(Reply::Failed(reason)) => {
            let kind = FindingKind::CompileFailed;
            Some(replies::refused(admitted, kind, *process, call, reason))
        }
        Ok(other) => Some(replies::unexpected(admitted, *process, call, other)),
        Err(loss) => Some(admitted.context(call).lost(loss)),
    };
    Ok(answers.iter().zip(&processes).filter_map(of).collect())
}

/// Launches calls that run together, and says how many of them, from the first on, have ended on all ranks.
fn launch(
    admitted: &Admitted<'_>,
    knobs: &Knobs,
    ranks: &mut dyn Ranks,
    calls: &Range<usize>,
    borders: Option<&Borders>,
    ran: &mut Ran,
) -> Result<usize, PoolError> {
    let call = calls.start;
    let launches: Vec<Launch> = calls
        .clone()
        .zip(0..)
        .flat_map(|(call, number)| {
            let launches = admitted.jobs[call].in_order(&knobs.order).into_iter();
            launches.map(move |launch| Launch { call: number, ..launch })
        })
        .collect();
    let first = launches.iter().filter(|launch| launch.call == 0);
    let members: Vec<Rank> = first.map(|launch| launch.rank).collect();
    let active = processes(admitted, &members);
    let timed = knobs.timing.as_ref().map(|timing| timing.caches);
    ran.launches += launches.len() as u64;
    if admitted.alone() {
        let interleaving = interleaving(admitted, knobs, calls, borders, Rank(0));
        let watched = watched(admitted, knobs, calls);
        ranks.tell(0, &Command::Launch { launches, interleaving, start: None, watched, timed });
    } else {
        let (met, count) = (ranks.met_so_far(), members.len() as u32);
        let start = Some(Start {
            ready_at: met.wrapping_add(count),
            inside_at: met.wrapping_add(2 * count),
        });
        for rank in members {
            let own = launches.iter().filter(|launch| launch.rank == rank).cloned();
            let interleaving = interleaving(admitted, knobs, calls, borders, rank);
            let (launches, watched) = (own.collect(), Vec::new());
            let launch = Command::Launch { launches, interleaving, start, watched, timed };
            ranks.tell(rank.index(), &launch);
        }
    }
    let answers = ranks.gather(&active, admitted.patience() * calls.len() as u32)?;
    let inside = active.iter().map(|process| ranks.inside(*process)).collect();
    ran.calls.push(CallRan { inside, ..CallRan::default() });
    ran.calls.extend(calls.clone().skip(1).map(|_| CallRan::default()));
    let outcomes = replies::hear(admitted, call, answers.into_iter().zip(&active), ran)?;
    ran.findings.extend(replies::sanitized(admitted, ranks, &active, call));
    // The rank that was lost first comes first, those that it took along behind it.
    ran.findings.sort_by_key(|finding| finding.kind == FindingKind::MissingRank);
    ran.findings.extend(replies::lost_bystanders(admitted, ranks, &active, call));
    if ran.is_right() {
        launched::check(admitted, call, &outcomes, ran);
    }
    let has_ended = |number: &usize| {
        let of_call = |ended: &&RankOutcome| ended.call as usize == *number;
        let ends = outcomes.iter().flat_map(|outcome| &outcome.ranks).filter(of_call);
        let wanted = &admitted.jobs[calls.start + number].launches;
        let whole = |ended: &RankOutcome| {
            let launch = wanted.iter().find(|launch| launch.rank == ended.rank);
            launch.is_some_and(|launch| {
                ended.threads_finished == u64::from(launch.grid) * u64::from(launch.threads)
            })
        };
        ends.filter(|ended| whole(ended)).count() == wanted.len()
    };
    Ok((0..calls.len()).take_while(has_ended).count())
}

/// What is watched in calls that run together.
fn watched(admitted: &Admitted<'_>, knobs: &Knobs, calls: &Range<usize>) -> Vec<WatchedByte> {
    let number = |call: u32| (call as usize).checked_sub(calls.start).filter(|n| *n < calls.len());
    match &knobs.watch {
        Watch::Nothing => Vec::new(),
        // Those of other calls are asked for, too, so that answers are in the order of the bytes.
        Watch::Bytes(bytes) => {
            let here = |byte: &WatchedByte| {
                let call = number(byte.call).map_or(u32::MAX, |number| number as u32);
                WatchedByte { call, ..*byte }
            };
            bytes.iter().map(here).collect()
        }
        Watch::EveryOutput => once::watched(&admitted.case.problem, admitted.plan, calls.start),
    }
}
