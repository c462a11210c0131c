//! How the launches of a process run in a call.

use collectives::Rank;
use device::Interleaving;

use super::knobs::Knobs;
use crate::admit::Admitted;

/// How the launches of the process of `rank` run in a call: kernels that wait need everybody at once.
pub(super) fn interleaving(
    admitted: &Admitted<'_>,
    knobs: &Knobs,
    call: usize,
    rank: Rank,
) -> Interleaving {
    if !admitted.together {
        return Interleaving::Sequential;
    }
    let schedules = &admitted.config.schedules;
    let most = admitted.jobs[call].launches.iter().map(|launch| launch.grid).max().unwrap_or(1);
    let residency = schedules.residency.or(admitted.case.residency);
    // Races are looked for in one process only: order may come from a rank in another process.
    let alone = admitted.alone();
    Interleaving::CoResident {
        resident_blocks: residency.map_or(most, |residency| residency.min(most)),
        seed: knobs.seed,
        plan: knobs.interleaves.of(call, rank),
        race: schedules.race && alone,
        weak: schedules.weak && alone,
    }
}
