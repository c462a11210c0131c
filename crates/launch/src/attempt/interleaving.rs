//! How the launches of a process run in a call.

use std::ops::Range;

use collectives::Rank;
use device::{Borders, Interleaving};

use super::knobs::Knobs;
use crate::admit::Admitted;

/// How the launches of the process of `rank` run in calls that run together: kernels that wait need everybody
/// at once.
pub(super) fn interleaving(
    admitted: &Admitted<'_>,
    knobs: &Knobs,
    calls: &Range<usize>,
    borders: Option<&Borders>,
    rank: Rank,
) -> Interleaving {
    if !admitted.together {
        return Interleaving::Sequential;
    }
    let schedules = &admitted.config.schedules;
    let launches = admitted.jobs[calls.clone()].iter().flat_map(|job| &job.launches);
    let most = launches.map(|launch| launch.grid).max().unwrap_or(1);
    let residency = schedules.residency.or(admitted.case.residency);
    // Races are looked for in one process only: order may come from a rank in another process.
    let alone = admitted.alone();
    Interleaving::CoResident {
        borders: borders.cloned(),
        resident_blocks: residency.map_or(most, |residency| residency.min(most)),
        seed: knobs.seed,
        plan: knobs.interleaves.of(calls.start, rank),
        race: schedules.race && alone,
        weak: schedules.weak && alone,
    }
}
