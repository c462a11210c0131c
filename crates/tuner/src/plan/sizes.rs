//! Which sizes a comparison runs: inside, around and outside every changed span.

use super::{Options, Point, Zone};
use crate::csv::Table;
use crate::diff::{Span, changes};
use crate::evaluate::{Situation, Unavailable};
use crate::scope::Scope;
use crate::sizes::{at_or_above, at_or_below, granule};

/// All sizes of all changed scopes, each in one communicator of the scope, and the scopes that no
/// single call reaches.
pub(super) fn points(old: &Table, new: &Table, options: &Options) -> (Vec<Point>, Vec<Scope>) {
    let defaults = &options.defaults;
    let (mut points, mut untestable) = (Vec::new(), Vec::new());
    for map in changes(&[old, new], Unavailable::default()) {
        let situation = Situation {
            collective: map.scope.collective,
            nodes: map.scope.nodes.example(defaults.nodes),
            ranks: map.scope.ranks.example(defaults.ranks),
            pipe_ops: map.scope.pipe_ops.example(1),
            reg_buff: map.scope.reg_buff.example(0),
        };
        if situation.pipe_ops != 1 {
            untestable.push(map.scope);
            continue;
        }
        let step = granule(situation.collective, situation.ranks, defaults.dtype, options.runner);
        let mut sizes: Vec<u64> = map.spans.iter().flat_map(|span| around(span, step)).collect();
        sizes.extend(outside(&map.spans, step));
        sizes.sort_unstable();
        sizes.dedup();
        let inside = |bytes: u64| map.spans.iter().any(|s| (s.from..=s.to).contains(&bytes));
        let touches = |bytes: u64| {
            bytes.checked_add(step).is_some_and(inside)
                || bytes.checked_sub(step).is_some_and(inside)
        };
        points.extend(sizes.into_iter().map(|bytes| {
            let zone = match (inside(bytes), touches(bytes)) {
                (true, _) => Zone::Inside,
                (false, true) => Zone::Around,
                (false, false) => Zone::Outside,
            };
            (situation, bytes, zone)
        }));
    }
    (points, untestable)
}

/// How far outside a change sizes are run, as powers of two: harm may lie beyond the next size.
const OUTSIDE: [u32; 3] = [1, 2, 3];

/// A half, a quarter and an eighth of where each unbroken stretch of changed spans begins; two,
/// four and eight times where it ends.
fn outside(spans: &[Span], step: u64) -> Vec<u64> {
    let begins = |from: u64| !spans.iter().any(|span| span.to.checked_add(1) == Some(from));
    let ends = |to: u64| !spans.iter().any(|span| Some(span.from) == to.checked_add(1));
    let below = spans.iter().filter(|span| begins(span.from)).flat_map(|span| {
        OUTSIDE.into_iter().filter_map(move |shift| at_or_below(span.from >> shift, step))
    });
    let above = spans.iter().filter(|span| ends(span.to)).flat_map(|span| {
        OUTSIDE
            .into_iter()
            .filter_map(move |shift| at_or_above(span.to.checked_mul(1 << shift)?, step))
    });
    below.chain(above).collect()
}

/// Runnable sizes for one changed span: both sides of both edges and the geometric middle.
fn around(span: &Span, step: u64) -> Vec<u64> {
    let first = at_or_above(span.from, step).or_else(|| at_or_above(span.from.max(1), step));
    let middle = (span.from.max(step) as f64 * span.to as f64).sqrt() as u64;
    [
        span.from.checked_sub(1).and_then(|bytes| at_or_below(bytes, step)),
        first,
        at_or_below(middle.clamp(span.from, span.to), step),
        at_or_below(span.to, step).filter(|_| span.to < u64::MAX),
        span.to.checked_add(1).and_then(|bytes| at_or_above(bytes, step)),
    ]
    .into_iter()
    .flatten()
    .collect()
}
