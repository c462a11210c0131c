//! Rules about several rows: shadows, gaps, touching and uneven bounds.

use std::collections::BTreeMap;

use crate::bytes::{range, show};
use crate::csv::{Row, Rule, Table, WILDCARD};
use crate::evaluate::{Query, Situation, Unavailable, evaluate};
use crate::intervals::intervals;
use crate::lint::rules::RuleId;
use crate::lint::{Finding, values};
use crate::names::Collective;
use crate::shadow::{Shadow, shadows};

/// Rows of one kind differ in sizes and choice only.
type Kind = (Collective, i32, i32, i32, i32);

/// Fields that findings here point at.
const COLLECTIVE: usize = 0;
const MIN: usize = 1;
const MAX: usize = 2;

/// Findings whose `column` is the index of a field; the caller knows where fields stand.
pub(super) fn findings(table: &Table) -> Vec<Finding> {
    let mut found: Vec<_> = shadows(table).iter().filter_map(shadow).collect();
    let mut kinds: BTreeMap<Kind, Vec<Row>> = BTreeMap::new();
    for row in table.rows.iter().filter(|row| !values::never_matches(&row.rule)) {
        kinds.entry(kind(&row.rule)).or_default().push(*row);
    }
    for rows in kinds.values_mut() {
        rows.sort_by_key(|row| (row.rule.min_bytes, row.line));
        found.extend(touching(rows).map(|(earlier, later)| touching_finding(&earlier, &later)));
        found.extend(gaps(table, rows));
        found.extend(open_top(table, rows));
    }
    found.extend(mixed_bounds(table));
    found.extend(table.rows.iter().flat_map(near_power));
    found
}

fn kind(rule: &Rule) -> Kind {
    (rule.collective, rule.nodes, rule.ranks, rule.pipe_ops, rule.reg_buff)
}

/// A communicator that the rows of a kind match and that no other row names, where possible.
fn example(table: &Table, rule: &Rule) -> Situation {
    let pick = |value: i32, axis: fn(&Rule) -> i32| match value {
        WILDCARD => {
            let named =
                |candidate: &i32| table.rows.iter().any(|row| axis(&row.rule) == *candidate);
            (1..).find(|candidate| !named(candidate)).unwrap_or(1)
        }
        value => value,
    };
    Situation {
        collective: rule.collective,
        nodes: pick(rule.nodes, |rule| rule.nodes),
        ranks: pick(rule.ranks, |rule| rule.ranks),
        pipe_ops: pick(rule.pipe_ops, |rule| rule.pipe_ops),
        reg_buff: rule.reg_buff.max(0),
    }
}

/// Pairs of rows of one kind that share exactly the size at which one ends and the other begins,
/// the earlier row of the file first.
pub(super) fn touching(rows: &[Row]) -> impl Iterator<Item = (Row, Row)> {
    let pairs = rows.iter().flat_map(move |low| rows.iter().map(move |high| (*low, *high)));
    pairs
        .filter(|(low, high)| {
            low.line != high.line
                && low.rule.max_bytes == high.rule.min_bytes
                && low.rule.min_bytes < high.rule.min_bytes
                && low.rule.max_bytes < high.rule.max_bytes
        })
        .map(|(low, high)| if low.line < high.line { (low, high) } else { (high, low) })
}

fn touching_finding(earlier: &Row, later: &Row) -> Finding {
    let ends_low = earlier.rule.max_bytes == later.rule.min_bytes;
    let shared = if ends_low { later.rule.min_bytes } else { later.rule.max_bytes };
    let message = format!("size {} is also in line {}, which takes it", show(shared), earlier.line);
    let (field, bound) = if ends_low { (MIN, shared + 1) } else { (MAX, shared - 1) };
    Finding::new(RuleId::TouchingBounds, later.line, field, message)
        .suggest(format!("write {bound} instead of {shared}"))
        .fixable()
}

fn shadow(shadow: &Shadow) -> Option<Finding> {
    let rule = &shadow.row.rule;
    let shared: Vec<_> = shadow.taken().collect();
    let is_touching = shared.iter().all(|piece| {
        let other = &piece.winner.rule;
        let at_edge = piece.from == rule.min_bytes || piece.to == rule.max_bytes;
        kind(other) == kind(rule)
            && piece.from == piece.to
            && at_edge
            && (other.max_bytes == rule.min_bytes || other.min_bytes == rule.max_bytes)
    });
    if is_touching && !shadow.kept().is_empty() {
        return None;
    }
    let id = if shadow.intact_elsewhere { RuleId::SpecificFirst } else { RuleId::Shadowed };
    let message = match id {
        RuleId::SpecificFirst => format!("for {}: {}", shadow.scope, shadow.describe()),
        _ => shadow.describe(),
    };
    let finding = Finding::new(id, shadow.row.line, COLLECTIVE, message);
    Some(match (shadow.kept().is_empty(), id) {
        (true, RuleId::Shadowed) => finding.suggest("remove the row, or move it up"),
        _ => finding,
    })
}

/// Stretches between rows of one kind where no row of any kind applies.
fn gaps(table: &Table, rows: &[Row]) -> Vec<Finding> {
    let Some(first) = rows.first() else {
        return Vec::new();
    };
    let at = example(table, &first.rule);
    intervals(&[table], at, Unavailable::default())
        .into_iter()
        .filter(|span| span.rows == [None] && span.from > first.rule.min_bytes)
        .filter_map(|span| {
            let above = rows.iter().find(|row| row.rule.min_bytes > span.to)?;
            let gap = range(span.from, span.to);
            let message = format!("sizes {gap} below this row have no row");
            Some(
                Finding::new(RuleId::Gap, above.line, MIN, message)
                    .suggest(format!("begin at {}, or say why not in a comment", span.from)),
            )
        })
        .collect()
}

fn open_top(table: &Table, rows: &[Row]) -> Option<Finding> {
    let last = rows.iter().max_by_key(|row| row.rule.max_bytes)?;
    let bytes = last.rule.max_bytes.checked_add(1)?;
    let query = Query { situation: example(table, &last.rule), bytes };
    if evaluate(table, &query, Unavailable::default()).is_some() {
        return None;
    }
    let message = format!("sizes above {} have no row", show(last.rule.max_bytes));
    let finding = Finding::new(RuleId::OpenTop, last.line, MAX, message);
    Some(match last.rule.max_bytes {
        // The example file's "covers all sizes" ends at 4 GiB.
        4_294_967_295 => finding.suggest(format!("write {} for no limit", u64::MAX)),
        _ => finding,
    })
}

/// Whether a bound is a round size: a multiple of 1 KiB or a power of two.
fn is_round(bytes: u64) -> bool {
    bytes > 0 && bytes.is_multiple_of(1024) || bytes >= 256 && bytes.is_power_of_two()
}

fn mixed_bounds(table: &Table) -> Vec<Finding> {
    // The largest 32- and 64-bit numbers mean "no limit", not a convention.
    let limit = |max: u64| max == u64::MAX || max == u64::from(u32::MAX);
    let counts = |row: &&Row| !limit(row.rule.max_bytes) && !values::never_matches(&row.rule);
    let rows: Vec<_> = table.rows.iter().filter(counts).collect();
    let (on, below): (Vec<&Row>, Vec<&Row>) = (
        rows.iter().copied().filter(|row| is_round(row.rule.max_bytes)).collect(),
        rows.iter().copied().filter(|row| is_round(row.rule.max_bytes + 1)).collect(),
    );
    // An even mixture is no convention that a row could break.
    let (few, many, other) = if 2 * on.len() <= below.len() {
        (&on, below.len(), -1)
    } else if 2 * below.len() <= on.len() {
        (&below, on.len(), 1)
    } else {
        return Vec::new();
    };
    few.iter()
        .map(|row: &&Row| {
            let max = row.rule.max_bytes;
            let (this, most) = match other {
                -1 => ("on a round size", "one byte below one"),
                _ => ("one byte below a round size", "on one"),
            };
            let message = format!("ends {this}, {}; {many} other rows end {most}", show(max));
            Finding::new(RuleId::MixedBounds, row.line, MAX, message)
                .suggest(format!("did you mean {}?", max.wrapping_add_signed(other)))
        })
        .collect()
}

/// Bounds within 0.1 % of an eighth of an octave, but not on it or one byte beside it.
fn near_power(row: &Row) -> Vec<Finding> {
    let near = |bound: u64| {
        let grid = 1u64 << bound.checked_ilog2()?.checked_sub(3)?;
        let round = bound.checked_add(grid / 2)? / grid * grid;
        let distance = bound.abs_diff(round);
        (bound >= 4096 && distance > 1 && distance <= bound / 1000).then_some(round)
    };
    let bounds = [(MIN, "minimum", row.rule.min_bytes), (MAX, "maximum", row.rule.max_bytes)];
    bounds
        .into_iter()
        .filter_map(|(field, what, bound)| {
            let round = near(bound)?;
            let message =
                format!("{what} {bound} is {} bytes off {}", bound.abs_diff(round), show(round));
            let finding = Finding::new(RuleId::NearPower, row.line, field, message);
            Some(finding.suggest(format!("did you mean {} or {round}?", round - 1)))
        })
        .collect()
}
