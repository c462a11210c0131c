//! All ranks at once, under schedules that seeds name.

use collectives::{Finding, FindingKind, Rank};
use ranks::PoolError;

use super::failure;
use crate::admit::Admitted;
use crate::attempt::{Knobs, Ranks, attempt};
use crate::loss::loses_process;
use crate::schedules::Interleaves;
use crate::tally::Tally;

/// Attempts a case under every schedule that was asked for.
pub(super) fn run(
    admitted: &Admitted<'_>,
    ranks: &mut dyn Ranks,
    tally: &mut Tally,
    order: &[Rank],
) -> Result<(), PoolError> {
    let (schedules, abilities) = (&admitted.config.schedules, admitted.config.capabilities());
    let mut knobs = Knobs::new(order.to_vec());
    if let Some(switches) = &schedules.switches {
        knobs.interleaves = Interleaves::switched(switches, admitted.jobs.len());
    }
    tally.schedules().race = schedules.race && abilities.observes_accesses;
    // A device that makes its own schedule runs once, whatever was asked for.
    let runs = if abilities.chooses_interleavings { usize::MAX } else { 1 };
    for seed in schedules.seeds().take(runs) {
        knobs.seed = seed;
        tally.schedules().ran += 1;
        let ran = attempt(admitted, &knobs, ranks)?;
        tally.add(&ran);
        let counts = tally.schedules();
        if ran.is_right() {
            if counts.first_failing.is_none() {
                counts.hash = Some(ran.schedule_hash);
            }
            continue;
        }
        counts.failed += 1;
        let lost = ran.findings.iter().any(|finding| loses_process(finding.kind));
        if counts.first_failing.is_some() {
            add_new_kinds(tally, ran.findings, seed);
        } else {
            counts.first_failing = Some(seed);
            counts.hash = Some(ran.schedule_hash);
            counts.switches.clone_from(&schedules.switches);
            if abilities.chooses_interleavings {
                tally.result.replay.under(seed, schedules.switches.clone());
            }
            failure::take_first(admitted, &knobs, ranks, tally, ran.findings)?;
        }
        if lost {
            break;
        }
    }
    Ok(())
}

/// What a later schedule found that none before it had.
fn add_new_kinds(tally: &mut Tally, findings: Vec<Finding>, seed: u64) {
    let known: Vec<FindingKind> = tally.result.findings.iter().map(|f| f.kind).collect();
    for mut finding in findings.into_iter().filter(|finding| !known.contains(&finding.kind)) {
        finding.explanation += &format!(" (--schedule-seed {seed})");
        tally.result.findings.push(finding);
    }
}
