//! What rank processes say about a launch, or that they are gone.

use collectives::draw::mix;
use collectives::{Finding, FindingKind, Rank};
use ranks::command::Reply;
use ranks::{Loss, PoolError};
use simt::Outcome;

use super::ran::Ran;
use super::ranks::Ranks;
use crate::admit::Admitted;
use crate::tell::{sanitizer, trace};

/// Takes the replies to launches of calls that ran together from `call` on into `ran`, and gives the outcomes of those that ran to their end.
///
/// # Errors
/// The ranks do not fit the device at once.
pub(super) fn hear<'a>(
    admitted: &Admitted<'_>,
    call: usize,
    replies: impl Iterator<Item = (Result<Reply, Loss>, &'a usize)>,
    ran: &mut Ran,
) -> Result<Vec<Outcome>, PoolError> {
    let context = admitted.context(call);
    let sanitized = admitted.config.target.sanitizer().is_some();
    let mut outcomes = Vec::new();
    ran.involved.clear();
    ran.writes.clear();
    for (reply, process) in replies {
        match reply {
            Ok(Reply::Finished(launched)) => {
                ran.findings.extend(context.outcome(&launched.outcome, &launched.flags));
                ran.findings.extend(launched.races.iter().map(|race| context.race(race)));
                // What a call has spoilt, later ones only pass on.
                let changed = launched.changed.iter().min_by_key(|byte| byte.call);
                ran.findings.extend(changed.map(|byte| context.changed(byte)));
                let open = launched.outcome.open_waits.iter();
                ran.open_waits.extend(open.map(|wait| (wait.why, context.open_wait(wait))));
                ran.schedule_hash = mix(ran.schedule_hash ^ launched.outcome.schedule_hash);
                ran.involved = trace::involved(&launched);
                ran.recorded.extend(launched.recorded.map(|recorded| (call, recorded)));
                ran.writes = launched.writes;
                if let (Some(measured), Some(of_call)) =
                    (launched.measured, ran.calls.get_mut(call))
                {
                    of_call.measured.push(measured);
                }
                outcomes.push(launched.outcome);
            }
            Ok(Reply::Failed(reason)) => {
                let kind = FindingKind::LaunchMismatch;
                ran.findings.push(refused(admitted, kind, *process, call, &reason));
            }
            Ok(Reply::DoesNotFit { needed, found }) => {
                return Err(PoolError::DoesNotFit { needed, found });
            }
            Ok(Reply::Faulted { fault, rank, text }) => {
                let rank = rank.or(rank_of(admitted, *process));
                ran.findings.push(context.faulted(fault, rank, &text, sanitized));
            }
            Ok(other) => ran.findings.push(unexpected(admitted, *process, call, &other)),
            Err(loss) => ran.findings.push(context.lost(&loss)),
        }
    }
    Ok(outcomes)
}

/// What the sanitizer printed about a launch.
pub(super) fn sanitized(
    admitted: &Admitted<'_>,
    ranks: &mut dyn Ranks,
    active: &[usize],
    call: usize,
) -> Vec<Finding> {
    if admitted.config.target.sanitizer().is_none() {
        return Vec::new();
    }
    let of = |process: &usize| {
        sanitizer::findings(&ranks.printed(*process), rank_of(admitted, *process), call)
    };
    active.iter().flat_map(of).collect()
}

/// Processes of ranks that take no part in the call, and that are gone all the same.
pub(super) fn lost_bystanders(
    admitted: &Admitted<'_>,
    ranks: &mut dyn Ranks,
    active: &[usize],
    call: usize,
) -> Vec<Finding> {
    if admitted.alone() {
        return Vec::new();
    }
    let idle = (0..admitted.processes()).filter(|process| !active.contains(process));
    let losses = idle.filter_map(|process| ranks.lost(process));
    losses
        .map(|loss| {
            let mut finding = admitted.context(call).lost(&loss);
            finding.kind = FindingKind::MissingRank;
            finding.explanation += "; it takes no part in this call";
            finding
        })
        .collect()
}

/// The rank that a process stands for; absent where it hosts all.
fn rank_of(admitted: &Admitted<'_>, process: usize) -> Option<Rank> {
    (!admitted.alone()).then_some(Rank(process as u32))
}

/// A process that could not do what it was told.
pub(super) fn refused(
    admitted: &Admitted<'_>,
    kind: FindingKind,
    process: usize,
    call: usize,
    reason: &str,
) -> Finding {
    Finding::event(kind, rank_of(admitted, process), Some(call), reason)
}

/// A process that said what was not asked for.
pub(super) fn unexpected(
    admitted: &Admitted<'_>,
    process: usize,
    call: usize,
    reply: &Reply,
) -> Finding {
    let what = match reply {
        Reply::Hello { .. } => "a greeting",
        Reply::Prepared => "that it is ready",
        Reply::Copied(_) => "how fast the device copies",
        Reply::Finished(_) => "that a launch has ended",
        Reply::DoesNotFit { .. } => "that ranks do not fit the device",
        Reply::Faulted { text, .. } | Reply::Failed(text) => text,
    };
    let text = format!(
        "it said {what} when that was not asked for (was the rank process forked by its kernel?)"
    );
    refused(admitted, FindingKind::ProtocolError, process, call, &text)
}
