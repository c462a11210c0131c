//! Makes a failing draft smaller, one step at a time, as long as it still fails.

use collectives::{GroupSpec, Shape, Tile};
use scenario::keys::{CallSettings, find};
use scenario::values::{
    Blocks, CountsValue, GroupValue, OrDefault, Ranks, ShapeValue, Threads, TileValue,
};
use scenario::{Draft, Mode};

/// The smallest draft on the way down for which `fails` holds, and how many were tried, at most
/// `most`. Blocks are made smaller than `threads` threads, if that is more than one.
pub(crate) fn shrink(
    draft: Draft,
    threads: u32,
    most: usize,
    fails: &mut dyn FnMut(&Draft) -> bool,
) -> (Draft, usize) {
    let (mut smallest, mut tried) = (draft, 0);
    smallest.lead_with_first_call();
    // Steps are taken in turn, round and round, until none of a whole round leads anywhere.
    let (mut step, mut in_vain) = (0, 0);
    loop {
        let steps = simpler(&smallest, threads);
        if in_vain >= steps.len() || tried >= most {
            return (smallest, tried);
        }
        let next = &steps[step % steps.len()];
        in_vain += 1;
        if *next == smallest {
            step += 1;
            continue;
        }
        tried += 1;
        if fails(next) {
            smallest = next.clone();
            in_vain = 0;
        } else {
            step += 1;
        }
    }
}

/// Keys that have steps of their own, or whose default is not simpler.
const NOT_RESET: [&str; 7] = ["variant", "ranks", "shape", "calls", "seed", "threads", "modes"];

/// One step in every direction, those that remove most first.
fn simpler(draft: &Draft, threads: u32) -> Vec<Draft> {
    let mut all = Vec::new();
    let mut with = |change: &dyn Fn(&mut Draft)| {
        let mut next = draft.clone();
        change(&mut next);
        next.lead_with_first_call();
        all.push(next);
    };
    for call in (0..draft.calls.len()).filter(|_| draft.calls.len() > 1) {
        with(&|d| {
            d.calls.remove(call);
        });
    }
    with(&|d| *d = d.clone().in_mode(Mode::Logical));
    let most = draft.settings.ranks.value.0;
    for ranks in [1, 2, most / 2, most.saturating_sub(1)] {
        if (1..most).contains(&ranks) {
            with(&|d| limit_ranks(d, ranks));
        }
    }
    let threads = draft.settings.threads.value.0.map_or(threads, |threads| threads.0);
    for threads in smaller(threads.into()).filter(|n| *n > 0) {
        with(&|d| d.settings.threads = OrDefault(Some(Threads(threads as u32))).into());
    }
    let of_the_case = |name: &str| {
        let per_call = find(name).is_some_and(|key| key.call.is_some());
        !per_call && !NOT_RESET.contains(&name)
    };
    for settings in draft.settings.with_each(draft.defaults(), &of_the_case) {
        with(&|d| d.settings = settings.clone());
    }
    for (index, call) in draft.calls.iter().enumerate() {
        let of_calls = |name: &str| !NOT_RESET.contains(&name);
        for call in call.with_each(draft.defaults(), &of_calls) {
            with(&|d| d.calls[index] = call.clone());
        }
        for call in smaller_calls(call) {
            with(&|d| d.calls[index] = call.clone());
        }
    }
    all
}

/// A call with one number smaller.
fn smaller_calls(call: &CallSettings) -> Vec<CallSettings> {
    let mut all = Vec::new();
    let mut with = |change: &dyn Fn(&mut CallSettings)| {
        let mut next = call.clone();
        change(&mut next);
        all.push(next);
    };
    with(&|c| c.layout.value.input.pad_columns = 0);
    with(&|c| c.layout.value.input.offset_elements = 0);
    with(&|c| c.layout.value.output.pad_columns = 0);
    with(&|c| c.layout.value.output.offset_elements = 0);
    if call.blocks.value.0.is_some_and(|blocks| blocks.0 > 1) {
        with(&|c| c.blocks = OrDefault(Some(Blocks(1))).into());
    }
    if let Some(TileValue(tile)) = call.tile.value.0 {
        let tiled = |m: u64, n: u64| OrDefault(Some(TileValue(Tile { m, n }))).into();
        for rows in smaller(tile.m).filter(|rows| *rows > 0) {
            with(&|c| c.tile = tiled(rows, tile.n));
        }
        for columns in smaller(tile.n).filter(|columns| *columns > 0) {
            with(&|c| c.tile = tiled(tile.m, columns));
        }
    }
    let ShapeValue(Shape { m, n }) = call.shape.value;
    for rows in smaller(m) {
        with(&|c| c.shape.value.0.m = rows);
    }
    for columns in smaller(n) {
        with(&|c| c.shape.value.0.n = columns);
    }
    all
}

fn smaller(extent: u64) -> impl Iterator<Item = u64> {
    let candidates = [1, extent / 2, extent - extent / 4, extent.saturating_sub(1)];
    candidates.into_iter().filter(move |candidate| *candidate < extent)
}

/// Fewer ranks; groups that no longer fit become the world.
fn limit_ranks(draft: &mut Draft, ranks: u32) {
    draft.settings.ranks = Ranks(ranks).into();
    for CallSettings { group, root, counts, scalars, .. } in &mut draft.calls {
        if group.value.0.resolve(ranks).is_none() {
            *group = GroupValue(GroupSpec::World).into();
        }
        let size = group.value.0.resolve(ranks).map_or(1, |group| group.size());
        root.value = root.value.min(size - 1);
        scalars.value.0.truncate(size as usize);
        if let CountsValue::List(lists) = &mut counts.value {
            lists.truncate(size as usize);
            lists.iter_mut().for_each(|list| list.truncate(size as usize));
        }
    }
}
