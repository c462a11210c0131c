//! Whether what was launched is what was asked for, on every rank and, in processes, at one time.

use collectives::{Finding, FindingKind, Rank, Tile};
use simt::{End, LaunchRecord, Outcome};
use verdict::{Effective, LaunchWitness};

use super::ran::Ran;
use crate::admit::Admitted;

/// Checks the launches of calls that ran together from `call` on and went well so far, and notes in `ran` what
/// they were.
pub(super) fn check(admitted: &Admitted<'_>, call: usize, outcomes: &[Outcome], ran: &mut Ran) {
    if !admitted.alone() {
        let apart = apart(admitted, call, ran);
        ran.findings.extend(apart);
    }
    for outcome in outcomes.iter().filter(|outcome| outcome.end == End::Finished) {
        for rank in &outcome.ranks {
            let call = call + rank.call as usize;
            let (finding, effective) = as_asked(admitted, call, rank);
            ran.findings.extend(finding);
            ran.calls[call].effective = Some(effective);
        }
    }
}

/// Processes that were not inside the kernel at one time; kernels that wait must have been.
fn apart(admitted: &Admitted<'_>, call: usize, ran: &mut Ran) -> Option<Finding> {
    let of_call = &mut ran.calls[call];
    let last_in = of_call.inside.iter().map(|inside| inside.start).max()?;
    let first_out = of_call.inside.iter().map(|inside| inside.end).min()?;
    let overlapped = last_in <= first_out;
    of_call.overlapped = Some(overlapped);
    (admitted.case.waits() && !overlapped).then(|| {
        let kind = FindingKind::MissingRank;
        let text = "the kernel waits for other ranks, but they were not inside it at one time";
        Finding::event(kind, None, Some(call), text)
    })
}

/// How a rank's launch differs from the request, and what it was.
fn as_asked(
    admitted: &Admitted<'_>,
    call: usize,
    rank: &simt::RankOutcome,
) -> (Vec<Finding>, Effective) {
    let shape = &admitted.case.problem.calls[call];
    let launch = admitted.jobs[call].launches.iter().find(|launch| launch.rank == rank.rank);
    let launch = launch.expect("outcomes are of the launches");
    let asked = Asked {
        tile: shape.tile,
        blocks: launch.grid,
        threads: launch.threads,
        group_size: shape.group.size(),
    };
    let did_not_run = |what: String| {
        Finding::event(FindingKind::KernelDidNotRun, Some(rank.rank), Some(call), what)
    };
    let mut findings = Vec::new();
    match rank.record {
        Some(record) => findings.extend(launch_mismatch(&asked, &record, rank.rank, call)),
        None if admitted.objects[call].records_launch => findings.push(did_not_run(format!(
            "rank {}: the kernel wrote no launch record, though its source has RC_RECORD_LAUNCH",
            rank.rank
        ))),
        None => {}
    }
    let complete = u64::from(launch.grid) * u64::from(launch.threads);
    if rank.threads_finished != complete {
        let (rank, ran) = (rank.rank, rank.threads_finished);
        findings.push(did_not_run(format!("rank {rank}: {ran} of {complete} threads ran")));
    }
    let (tile, source) = match rank.record {
        Some(record) => {
            let tile = Tile { m: record.tile_m.into(), n: record.tile_n.into() };
            (tile, LaunchWitness::Kernel)
        }
        None if admitted.config.capabilities().counts_threads => {
            (shape.tile, LaunchWitness::Executor)
        }
        None => (shape.tile, LaunchWitness::Driver),
    };
    let effective = Effective {
        entry: admitted.case.variant().entry.clone(),
        tile,
        blocks: rank.record.map_or(launch.grid, |record| record.blocks),
        threads: rank.record.map_or(launch.threads, |record| record.threads),
        group_size: rank.record.map_or(asked.group_size, |record| record.group_size),
        source,
    };
    (findings, effective)
}

/// What was asked of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// The tile: the requested one, or the variant's default.
    pub tile: Tile,
    /// The number of blocks.
    pub blocks: u32,
    /// The threads a block.
    pub threads: u32,
    /// The group's size.
    pub group_size: u32,
}

/// How a launch record differs from what was asked; `None` where it does not.
pub fn launch_mismatch(
    asked: &Asked,
    record: &LaunchRecord,
    rank: Rank,
    call: usize,
) -> Option<Finding> {
    let tile = Tile { m: record.tile_m.into(), n: record.tile_n.into() };
    let mut differences = Vec::new();
    if tile != asked.tile {
        differences.push(format!("tile {tile} instead of {}", asked.tile));
    }
    for (what, is, should) in [
        ("blocks", record.blocks, asked.blocks),
        ("threads a block", record.threads, asked.threads),
        ("ranks in the group", record.group_size, asked.group_size),
    ] {
        if is != should {
            differences.push(format!("{is} {what} instead of {should}"));
        }
    }
    (!differences.is_empty()).then(|| {
        let text =
            format!("rank {rank}, call {call}: the kernel ran with {}", differences.join(", "));
        Finding::event(FindingKind::LaunchMismatch, Some(rank), Some(call), text)
    })
}
