//! The sequence of calls: prepare, fill, launch, compare.

use collectives::{Finding, FindingKind, Rank};
use ranks::PoolError;
use ranks::command::{Command, Reply, Start};

use super::interleaving::interleaving;
use super::knobs::{Knobs, Watch};
use super::ran::{CallRan, Ran};
use super::ranks::Ranks;
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
    for (call, object) in admitted.objects.iter().enumerate() {
        if loaded != Some(&object.sha256) {
            ran.findings = prepare(admitted, knobs, ranks, call)?;
            if !ran.is_right() {
                return Ok(ran);
            }
            loaded = Some(&object.sha256);
        }
        ranks.heaps().fill(problem, plan, call)?;
        launch(admitted, knobs, ranks, call, &mut ran)?;
        let lost = ran.findings.iter().any(|finding| is_loss(finding.kind));
        if !lost && knobs.compares(call, admitted.objects.len()) {
            let wrong = ranks.heaps().compare(problem, plan, call)?;
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
    if findings.iter().any(is_race) {
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

fn launch(
    admitted: &Admitted<'_>,
    knobs: &Knobs,
    ranks: &mut dyn Ranks,
    call: usize,
    ran: &mut Ran,
) -> Result<(), PoolError> {
    let launches = admitted.jobs[call].in_order(&knobs.order);
    let members: Vec<Rank> = launches.iter().map(|launch| launch.rank).collect();
    let active = processes(admitted, &members);
    let timed = knobs.timing.as_ref().map(|timing| timing.caches);
    ran.launches += launches.len() as u64;
    if admitted.alone() {
        let interleaving = interleaving(admitted, knobs, call, Rank(0));
        let watched = watched(admitted, knobs, call);
        ranks.tell(0, &Command::Launch { launches, interleaving, start: None, watched, timed });
    } else {
        let (met, count) = (ranks.met_so_far(), launches.len() as u32);
        let start = Some(Start {
            ready_at: met.wrapping_add(count),
            inside_at: met.wrapping_add(2 * count),
        });
        for launch in launches {
            let process = launch.rank.index();
            let interleaving = interleaving(admitted, knobs, call, launch.rank);
            let (launches, watched) = (vec![launch], Vec::new());
            ranks.tell(process, &Command::Launch { launches, interleaving, start, watched, timed });
        }
    }
    let answers = ranks.gather(&active, admitted.patience())?;
    let inside = active.iter().map(|process| ranks.inside(*process)).collect();
    ran.calls.push(CallRan { inside, ..CallRan::default() });
    let outcomes = replies::hear(admitted, call, answers.into_iter().zip(&active), ran)?;
    ran.findings.extend(replies::sanitized(admitted, ranks, &active, call));
    // The rank that was lost first comes first, those that it took along behind it.
    ran.findings.sort_by_key(|finding| finding.kind == FindingKind::MissingRank);
    ran.findings.extend(replies::lost_bystanders(admitted, ranks, &active, call));
    if ran.is_right() {
        launched::check(admitted, call, &outcomes, ran);
    }
    Ok(())
}

fn watched(admitted: &Admitted<'_>, knobs: &Knobs, call: usize) -> Vec<device::WatchedByte> {
    match &knobs.watch {
        Watch::Nothing => Vec::new(),
        Watch::Bytes(bytes) => bytes.clone(),
        Watch::EveryOutput => once::watched(&admitted.case.problem, admitted.plan, call),
    }
}
