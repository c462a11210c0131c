//! Makes a failing draft smaller, one step at a time, as long as it still fails.

use collectives::{DType, Data, GroupSpec, Shape, Tile};
use scenario::Mode;

use super::draft::{CallDraft, Draft};

/// The smallest draft on the way down for which `fails` holds, and how many were tried, at most
/// `most`. Blocks are made smaller than `threads` threads, if that is more than one.
pub(crate) fn shrink(
    draft: Draft,
    threads: u32,
    most: usize,
    fails: &mut dyn FnMut(&Draft) -> bool,
) -> (Draft, usize) {
    let (mut smallest, mut tried) = (draft, 0);
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

/// One step in every direction, those that remove most first.
fn simpler(draft: &Draft, threads: u32) -> Vec<Draft> {
    let mut all = Vec::new();
    let mut with = |change: &dyn Fn(&mut Draft)| {
        let mut next = draft.clone();
        change(&mut next);
        all.push(next);
    };
    for call in (0..draft.calls.len()).filter(|_| draft.calls.len() > 1) {
        with(&|d| {
            d.calls.remove(call);
        });
    }
    with(&|d| d.mode = Mode::Logical);
    for ranks in [1, 2, draft.ranks / 2, draft.ranks.saturating_sub(1)] {
        if (1..draft.ranks).contains(&ranks) {
            with(&|d| d.limit_ranks(ranks));
        }
    }
    for threads in smaller(draft.threads.unwrap_or(threads).into()).filter(|n| *n > 0) {
        with(&|d| d.threads = Some(threads as u32));
    }
    with(&|d| d.in_place = false);
    with(&|d| d.data = Data::Keyed);
    with(&|d| d.dtype = DType::F32);
    with(&|d| d.guard_bytes = 4096);
    with(&|d| d.input.pad_columns = 0);
    with(&|d| d.input.offset_elements = 0);
    with(&|d| d.output.pad_columns = 0);
    with(&|d| d.output.offset_elements = 0);
    for call in 0..draft.calls.len() {
        with(&|d| d.calls[call].group = GroupSpec::World);
        with(&|d| d.calls[call].tile = None);
        with(&|d| d.calls[call].blocks = None);
        if draft.calls[call].blocks.is_some_and(|blocks| blocks > 1) {
            with(&|d| d.calls[call].blocks = Some(1));
        }
        if let Some(tile) = draft.calls[call].tile {
            for rows in smaller(tile.m).filter(|rows| *rows > 0) {
                with(&|d| d.calls[call].tile = Some(Tile { m: rows, ..tile }));
            }
            for columns in smaller(tile.n).filter(|columns| *columns > 0) {
                with(&|d| d.calls[call].tile = Some(Tile { n: columns, ..tile }));
            }
        }
        with(&|d| d.calls[call].root = d.calls[call].root.map(|_| 0));
        with(&|d| d.calls[call].counts = Vec::new());
        let Shape { m, n } = draft.calls[call].shape;
        for rows in smaller(m) {
            with(&|d| d.calls[call].shape.m = rows);
        }
        for columns in smaller(n) {
            with(&|d| d.calls[call].shape.n = columns);
        }
    }
    all
}

fn smaller(extent: u64) -> impl Iterator<Item = u64> {
    let candidates = [1, extent / 2, extent - extent / 4, extent.saturating_sub(1)];
    candidates.into_iter().filter(move |candidate| *candidate < extent)
}

impl Draft {
    /// Fewer ranks; groups that no longer fit become the world.
    fn limit_ranks(&mut self, ranks: u32) {
        self.ranks = ranks;
        for CallDraft { group, root, .. } in &mut self.calls {
            if group.resolve(ranks).is_none() {
                *group = GroupSpec::World;
            }
            let size = group.resolve(ranks).map_or(1, |group| group.size());
            *root = root.map(|root| root.min(size - 1));
        }
    }
}
