//! What a program says it launched, against what was asked for.

use collectives::{Call, Finding, FindingKind, Rank, Tile};
use scenario::{Case, Requested};
use simt::LaunchRecord;

use guest_protocol::message::HostLaunch;
use launch::attempt::{Asked, launch_mismatch};
use verdict::{Effective, LaunchWitness};

/// How what rank `rank` launched in a call differs from the request. What the scenario leaves to
/// the program is compared only where the collective's meaning depends on it: the tile of a
/// reduction whose tiles have owners.
pub(crate) fn mismatch(
    case: &Case,
    index: usize,
    rank: Rank,
    launch: Option<&HostLaunch>,
) -> Option<Finding> {
    let call = &case.problem.calls[index];
    let requested = case.requested[index];
    let about = |kind, text: String| {
        Some(Finding::event(
            kind,
            Some(rank),
            Some(index),
            format!("rank {rank}, call {index}: {text}"),
        ))
    };
    let Some(launch) = launch else {
        let text = "the program did not say that it launched anything (say it after the launch: call.launched, or rankcheck_launched)";
        return about(FindingKind::KernelDidNotRun, text.into());
    };
    let Requested { tile, blocks } = binding(call, requested);
    let silent = [
        (tile.map(|tile| format!("tile {tile}")), launch.tile.is_none()),
        (blocks.map(|blocks| format!("{blocks} blocks")), launch.blocks.is_none()),
        (case.threads.map(|threads| format!("{threads} threads")), launch.threads.is_none()),
    ];
    let unsaid: Vec<String> =
        silent.into_iter().filter(|(_, silent)| *silent).filter_map(|(asked, _)| asked).collect();
    if !unsaid.is_empty() {
        let text =
            format!("{} asked for, but the program did not say what it used", unsaid.join(" and "));
        return about(FindingKind::LaunchMismatch, text);
    }
    let said = launch.tile.unwrap_or(call.tile);
    let asked = Asked {
        tile: tile.unwrap_or(said),
        blocks: blocks.or(launch.blocks).unwrap_or(call.blocks),
        threads: case.threads.or(launch.threads).unwrap_or(0),
        group_size: call.group.size(),
    };
    let number = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    let record = LaunchRecord {
        tile_m: number(said.m),
        tile_n: number(said.n),
        blocks: launch.blocks.unwrap_or(call.blocks),
        threads: launch.threads.unwrap_or(0),
        group_size: launch.group_size.unwrap_or(asked.group_size),
    };
    launch_mismatch(&asked, &record, rank, index)
}

/// What the program had to use.
fn binding(call: &Call, requested: Requested) -> Requested {
    let by_tile = !call.details.owners.is_empty() || !call.details.starts.is_empty();
    Requested { tile: if by_tile { Some(call.tile) } else { requested.tile }, ..requested }
}

/// What ran, as the program says it. Numbers that it did not give are 0.
pub(crate) fn effective(launch: &HostLaunch, call: &Call) -> Effective {
    Effective {
        entry: launch.entry.clone().unwrap_or_default(),
        tile: launch.tile.unwrap_or(Tile { m: 0, n: 0 }),
        blocks: launch.blocks.unwrap_or(0),
        threads: launch.threads.unwrap_or(0),
        group_size: launch.group_size.unwrap_or(call.group.size()),
        source: LaunchWitness::Program,
    }
}
