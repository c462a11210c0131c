//! What a pass of a case leaves open, by how its ranks ran.

use collectives::Problem;
use scenario::Mode;
use verdict::{How, NotProved};

use crate::admit::Admitted;
use crate::attempt::follows_at_once;

/// What a pass of `admitted` leaves open, after it ran as `how` says on these GPUs, by rank.
pub(crate) fn not_proved(admitted: &Admitted<'_>, how: &How, gpus: &[u32]) -> Vec<NotProved> {
    let mut open = Vec::new();
    if !one_gpu_a_rank(gpus) {
        open.push(NotProved::Transport);
    }
    open.push(NotProved::HostCode);
    let capabilities = admitted.config.capabilities();
    if !capabilities.observes_accesses {
        open.extend([NotProved::RacesOnDevice, NotProved::FarWrites]);
        open.extend(admitted.case.write_once.then_some(NotProved::WriteOnce));
    }
    if has_gaps(admitted, &admitted.case.problem) {
        open.push(NotProved::Gaps);
    }
    open.extend(borders(admitted, how));
    match (admitted.mode, admitted.together) {
        (Mode::Logical, false) => {
            open.push(NotProved::ConcurrentRanks);
            if let How::Orders(orders) = how
                && !orders.complete
            {
                open.push(NotProved::OrdersBeyond(orders.ran));
            }
        }
        (Mode::Logical, true) if !capabilities.chooses_interleavings => {
            open.push(NotProved::OtherInterleavings);
        }
        (Mode::Logical, true) => {
            let none = verdict::SchedulesRun::default();
            let schedules = how.schedules().unwrap_or(&none);
            open.push(match schedules.complete {
                Some(_) => NotProved::LateVisibility,
                None => NotProved::SchedulesBeyond(schedules.ran),
            });
            open.extend((!schedules.race).then_some(NotProved::RacesNotSought));
            open.extend(schedules.long_waits.then_some(NotProved::LongWaits));
        }
        (Mode::Process | Mode::Host, _) => {
            let delays = how.processes().map_or((0, 0), |run| (run.delays, run.delays_failed));
            open.push(match delays {
                (0, _) => NotProved::OtherInterleavings,
                (ran, failed) => NotProved::OtherDelays { ran, failed },
            });
        }
    }
    open
}

/// What stood between calls, where it was not what the stream of a rank has there.
fn borders(admitted: &Admitted<'_>, how: &How) -> Option<NotProved> {
    let calls = admitted.jobs.len();
    let contract = admitted.case.waits() && admitted.case.kernel.manifest.overlap;
    let one_by_one = how.schedules().is_some_and(|schedules| schedules.complete.is_some());
    let apart = !admitted.overlaps || one_by_one;
    match contract {
        _ if calls == 1 => None,
        false => Some(NotProved::HostBarrier),
        true => (1..calls)
            .any(|call| apart || !follows_at_once(admitted, call))
            .then_some(NotProved::CallsOverlap),
    }
}

fn has_gaps(admitted: &Admitted<'_>, problem: &Problem) -> bool {
    !admitted.plan.gaps(problem).is_empty()
}

/// Whether several ranks ran, each on a GPU of its own.
fn one_gpu_a_rank(gpus: &[u32]) -> bool {
    let mut used = gpus.to_vec();
    used.sort_unstable();
    used.dedup();
    used.len() == gpus.len() && used.len() > 1
}
