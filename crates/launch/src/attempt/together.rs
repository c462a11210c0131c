//! Which calls run together: a rank's next call begins when its own has ended, whatever other ranks do.

use std::ops::Range;

use collectives::{BetweenCalls, Rank, RegionName};
use device::Borders;

use super::knobs::Knobs;
use crate::admit::Admitted;

/// The calls of an attempt, cut where all ranks wait for each other in between.
pub(super) fn runs_of_calls(admitted: &Admitted<'_>, knobs: &Knobs) -> Vec<Range<usize>> {
    let overlap = admitted.overlaps && knobs.overlap;
    let mut runs: Vec<Range<usize>> = Vec::new();
    for call in 0..admitted.jobs.len() {
        match runs.last_mut() {
            Some(run) if overlap && follows_at_once(admitted, call) => run.end = call + 1,
            _ => runs.push(call..call + 1),
        }
    }
    runs
}

/// Whether nothing stands between a call and the one before: the group, its order included, and the object are
/// the same. Another group is another communicator, with flags of its own. A rank process of its own sees to its
/// own heap alone, so there every rank must take part.
pub(crate) fn follows_at_once(admitted: &Admitted<'_>, call: usize) -> bool {
    let [before, now] = [call - 1, call].map(|call| members(admitted, call));
    let everybody = now.len() == admitted.case.problem.world as usize;
    let objects = &admitted.objects;
    before == now
        && objects[call - 1].sha256 == objects[call].sha256
        && (admitted.alone() || everybody)
}

fn members<'a>(admitted: &'a Admitted<'_>, call: usize) -> &'a [Rank] {
    admitted.case.problem.calls[call].group.members()
}

/// What stands at the borders of calls that run together; `None` for one call.
pub(super) fn borders(admitted: &Admitted<'_>, calls: &Range<usize>) -> Option<Borders> {
    if calls.len() == 1 {
        return None;
    }
    let (problem, plan) = (&admitted.case.problem, admitted.plan);
    let members = members(admitted, calls.start);
    let mut touched = Vec::new();
    let mut start = 0;
    for kept in kept(admitted) {
        touched.push(start..kept.start);
        start = kept.end;
    }
    touched.push(start..plan.bytes);
    touched.retain(|part| !part.is_empty());
    Some(Borders {
        calls: calls.len() as u32,
        part_bytes: plan.bytes,
        touched,
        idle: problem.ranks().filter(|rank| !members.contains(rank)).collect(),
    })
}

/// The workspaces that hosts leave alone between calls, in order of place.
fn kept(admitted: &Admitted<'_>) -> Vec<Range<u64>> {
    let (problem, plan) = (&admitted.case.problem, admitted.plan);
    let stays = |index: &usize| problem.workspaces[*index].between_calls == BetweenCalls::Keep;
    let indices = (0..problem.workspaces.len()).filter(stays);
    let names: Vec<RegionName> = indices.map(RegionName::Workspace).collect();
    let regions = plan.regions.iter().filter(|region| names.contains(&region.name));
    regions.map(|region| region.storage.clone()).collect()
}
