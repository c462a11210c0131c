//! Every interleaving of a small case.

use collectives::Rank;
use ranks::PoolError;
use scenario::Reason;
use simt::{Explorer, Recorded};
use verdict::Switch;

use super::failure;
use crate::admit::Admitted;
use crate::attempt::{Knobs, Ran, Ranks, attempt};
use crate::job::Job;
use crate::schedules::{Interleaves, switch};
use crate::tally::Tally;

/// With more threads on all ranks a case is not small.
const THREADS: u64 = 64;
/// Seeds whose places to switch are those of an exploration: at synchronisation, at every access.
const SEEDS: [u64; 2] = [1, 3];

/// All ranks at once, under every interleaving of their synchronisation. Plain accesses are no
/// places to switch where races are looked for: if their order mattered, they would race.
pub(super) fn run(
    admitted: &Admitted<'_>,
    ranks: &mut dyn Ranks,
    tally: &mut Tally,
    order: &[Rank],
) -> Result<(), PoolError> {
    let schedules = &admitted.config.schedules;
    // Calls one by one: of calls that overlap there are too many interleavings.
    let mut knobs = Knobs { overlap: false, ..Knobs::new(order.to_vec()) };
    knobs.seed = SEEDS[usize::from(!schedules.race)];
    tally.schedules().race = schedules.race;
    if let Some(reason) = too_large(admitted) {
        tally.unsupported(reason);
        return Ok(());
    }
    let most = schedules.count;
    let mut explorer = Explorer::new();
    let mut open_wait = None;
    for _ in 0..most {
        let calls = 0..admitted.jobs.len();
        knobs.interleaves = Interleaves::explored(calls.map(|call| explorer.branch(call)));
        let ran = attempt(admitted, &knobs, ranks)?;
        tally.add(&ran);
        let counts = tally.schedules();
        counts.hash = Some(ran.schedule_hash);
        if !ran.is_right() {
            let turns = switches(&ran);
            counts.ran = explorer.complete() as usize + 1;
            counts.failed = 1;
            counts.first_failing = Some(knobs.seed);
            counts.switches = Some(turns.clone());
            tally.result.replay.under(knobs.seed, Some(turns));
            return failure::take_first(admitted, &knobs, ranks, tally, ran.findings);
        }
        let recorded: Vec<Recorded> =
            ran.recorded.into_iter().map(|(_, of_call)| of_call).collect();
        let more = explorer.ran(&recorded);
        counts.ran = explorer.complete() as usize;
        open_wait = open_wait.or(ran.open_waits.into_iter().next());
        if more {
            continue;
        }
        match open_wait {
            None => counts.complete = Some(explorer.complete()),
            Some((_, wait)) => tally.unsupported(Reason::new(
                "waits of which every end can be tried, for --strategy exhaustive",
                format!("{} interleavings that pass, in which {wait}", explorer.complete()),
            )),
        }
        return Ok(());
    }
    tally.unsupported(Reason::new(
        format!("at most {most} interleavings for --strategy exhaustive (--schedules N for more)"),
        format!("{} that pass, and more to come", explorer.complete()),
    ));
    Ok(())
}

/// The switches of an attempt's interleavings, all calls.
pub(super) fn switches(ran: &Ran) -> Vec<Switch> {
    let calls = ran.recorded.iter();
    calls
        .flat_map(|(call, recorded)| recorded.turns.iter().map(|turn| switch(*call, turn)))
        .collect()
}

fn too_large(admitted: &Admitted<'_>) -> Option<Reason> {
    let launches = admitted.jobs.iter().flat_map(|job| &job.launches);
    let fewer = launches.map(|launch| launch.grid).max();
    let residency = admitted.config.schedules.residency;
    if let Some(residency) = residency.filter(|residency| Some(*residency) < fewer) {
        return Some(Reason::new(
            "all blocks resident for --strategy exhaustive",
            format!("--residency {residency}"),
        ));
    }
    let threads = |job: &Job| -> u64 {
        job.launches.iter().map(|launch| u64::from(launch.grid) * u64::from(launch.threads)).sum()
    };
    let most = admitted.jobs.iter().map(threads).max().unwrap_or(0);
    (most > THREADS).then(|| {
        Reason::new(
            format!("at most {THREADS} threads on all ranks for --strategy exhaustive"),
            format!("{most} (a scenario may say `threads:`)"),
        )
    })
}
