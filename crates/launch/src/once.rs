//! Elements that may be written once only: which they are, and which were written again.

use collectives::{Finding, FindingKind, HeapPlan, Problem, Rank};
use device::WatchedByte;
use simt::Write;

use crate::tell::Context;

/// At most this many elements are watched.
const MOST: u64 = 1 << 20;

/// How many elements of outputs a case has, if they are too many to watch.
pub(crate) fn too_many(problem: &Problem, plan: &HeapPlan) -> Option<(u64, u64)> {
    let elements = |call| {
        let shape = plan.output(problem, call).shape;
        shape.m * shape.n * u64::from(call.group.size())
    };
    let most = problem.calls.iter().map(elements).max().unwrap_or(0);
    (most > MOST).then_some((most, MOST))
}

/// The first byte of each element of each member's output in a call.
pub(crate) fn watched(problem: &Problem, plan: &HeapPlan, call: usize) -> Vec<WatchedByte> {
    let call = &problem.calls[call];
    let view = plan.output(problem, call);
    let elements = |rank: Rank| {
        let place = move |row: u64| {
            (0..view.shape.n).map(move |column| WatchedByte {
                rank,
                call: 0,
                offset: view.row_bytes(row, column..column + 1).start,
            })
        };
        (0..view.shape.m).flat_map(place)
    };
    call.group.members().iter().copied().flat_map(elements).collect()
}

/// What was written more than once, a finding for each rank.
pub(crate) fn findings(
    context: &Context<'_>,
    watched: &[WatchedByte],
    writes: &[Option<Write>],
) -> Vec<Finding> {
    let twice = |rank: Rank| {
        let of_rank = watched.iter().zip(writes).filter(move |(byte, _)| byte.rank == rank);
        of_rank.filter_map(|(byte, write)| Some((byte, write.filter(|write| write.count > 1)?)))
    };
    let finding = |rank: Rank| {
        let (byte, write) = twice(rank).next()?;
        let place = context.place(byte.offset);
        let (thread, site) = write.first;
        let text = format!(
            "{} elements written more than once, though once is all they need: rank {rank}, call {}, {} ({},{}) {} times, first by {}, last by {}",
            twice(rank).count(),
            context.call,
            place.region,
            place.row.unwrap_or(0),
            place.column.unwrap_or(0),
            write.count,
            context.at(thread, Some(site)),
            context.at(write.thread, Some(write.site)),
        );
        let kind = FindingKind::WrittenTwice;
        let mut finding = Finding::event(kind, Some(rank), Some(context.call), text);
        finding.place = Some(place);
        finding.count = twice(rank).count() as u64 * context.problem.dtype.bytes();
        finding.writer = context.writer(write.thread, Some(write.site));
        Some(finding)
    };
    context.problem.ranks().filter_map(finding).collect()
}
