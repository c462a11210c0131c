//! Rules about several rows: shadows, gaps, touching and uneven bounds.

use std::collections::BTreeMap;

use crate::bytes::{range, show};
use crate::csv::{Row, Rule, Table, WILDCARD};
use crate::evaluate::{Situation, Unavailable};
use crate::intervals::{Interval, intervals};
use crate::lint::rules::RuleId;
use crate::lint::{Finding, values};
use crate::names::Collective;
use crate::scope::Space;
use crate::shadow::{Shadow, shadows};

/// Rows of one kind differ in sizes and choice only.
type Kind = (Collective, i32, i32, i32, i32);

/// Fields that findings here point at.
const COLLECTIVE: usize = 0;
const MIN: usize = 1;
const MAX: usize = 2;
const CHANNELS: usize = 5;

/// One communicator and which row decides for each size in it.
type Seen = (Situation, Vec<Interval>);

/// Findings whose `column` is the index of a field; the caller knows where fields stand.
pub(super) fn findings(table: &Table) -> Vec<Finding> {
    let space = Space::of(&[table]);
    let maps: Vec<Seen> = space
        .cells()
        .into_iter()
        .map(|at| (at, intervals(&[table], at, Unavailable::default())))
        .collect();
    let mut found: Vec<_> = shadows(table).iter().filter_map(shadow).collect();
    let mut kinds: BTreeMap<Kind, Vec<Row>> = BTreeMap::new();
    for row in table.rows.iter().filter(|row| !values::never_matches(&row.rule)) {
        kinds.entry(kind(&row.rule)).or_default().push(*row);
    }
    for rows in kinds.values_mut() {
        rows.sort_by_key(|row| (row.rule.min_bytes, row.line));
        found.extend(touching(rows).map(|(earlier, later)| touching_finding(&earlier, &later)));
        let seen: Vec<&Seen> = maps.iter().filter(|(at, _)| rows[0].rule.concerns(at)).collect();
        found.extend(gaps(&space, &seen, rows));
        found.extend(open_top(&space, &seen, rows));
    }
    found.extend(one_channel(table));
    found.extend(mixed_bounds(table));
    found.extend(table.rows.iter().flat_map(near_power));
    found
}

fn kind(rule: &Rule) -> Kind {
    (rule.collective, rule.nodes, rule.ranks, rule.pipe_ops, rule.reg_buff)
}

/// Pairs of rows of one kind that share exactly the size at which one ends and the other begins,
/// the earlier row of the file first.
fn touching(rows: &[Row]) -> impl Iterator<Item = (Row, Row)> {
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
    Finding::new(RuleId::TouchingBounds, later.line, field, message).suggest(format!(
        "write {bound} instead of {shared}, if line {} is always available there",
        earlier.line
    ))
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
    let message = format!("for {}: {}", shadow.scope, shadow.describe());
    let finding = Finding::new(id, shadow.row.line, COLLECTIVE, message);
    Some(match (shadow.kept().is_empty(), id) {
        (true, RuleId::Shadowed) => finding.suggest("remove the row, or move it up"),
        _ => finding,
    })
}

/// Says things about all communicators of a kind at once, and names those that differ from the rest.
fn in_scopes<T: Ord + Clone>(
    space: &Space,
    seen: &[&Seen],
    of: impl Fn(&Seen) -> Vec<T>,
) -> Vec<(String, T)> {
    let all: Vec<(Situation, Vec<T>)> = seen.iter().map(|seen| (seen.0, of(seen))).collect();
    let everywhere = |what: &T| all.iter().all(|(_, said)| said.contains(what));
    let mut told: Vec<(String, T)> = Vec::new();
    let mut some: BTreeMap<T, Vec<Situation>> = BTreeMap::new();
    for (at, said) in &all {
        for what in said {
            match everywhere(what) {
                true if told.iter().any(|(_, known)| known == what) => {}
                true => told.push((String::new(), what.clone())),
                false => some.entry(what.clone()).or_default().push(*at),
            }
        }
    }
    for (what, cells) in some {
        let cells = cells.into_iter().map(|at| (at, ())).collect();
        told.extend(
            space
                .fold(cells)
                .into_iter()
                .map(|(scope, ())| (format!("for {scope}: "), what.clone())),
        );
    }
    told
}

/// Stretches between rows of one kind where no row of any kind applies, in any communicator.
fn gaps(space: &Space, seen: &[&Seen], rows: &[Row]) -> Vec<Finding> {
    let least = rows[0].rule.min_bytes;
    let holes = |(_, spans): &Seen| -> Vec<(u64, u64, usize)> {
        spans
            .iter()
            .filter(|span| span.rows == [None] && span.from > least)
            .filter_map(|span| {
                let above = rows.iter().find(|row| row.rule.min_bytes > span.to)?;
                Some((span.from, span.to, above.line))
            })
            .collect()
    };
    in_scopes(space, seen, holes)
        .into_iter()
        .map(|(scope, (from, to, line))| {
            let message = format!("{scope}sizes {} below this row have no row", range(from, to));
            Finding::new(RuleId::Gap, line, MIN, message)
                .suggest(format!("begin at {from}, or say why not in a comment"))
        })
        .collect()
}

/// The largest bound of a kind, where no row of any kind applies above it.
fn open_top(space: &Space, seen: &[&Seen], rows: &[Row]) -> Vec<Finding> {
    let Some(last) = rows.iter().max_by_key(|row| row.rule.max_bytes) else {
        return Vec::new();
    };
    let max = last.rule.max_bytes;
    let is_open = |(_, spans): &Seen| -> Vec<()> {
        let above = spans.iter().find(|span| span.to > max);
        above.filter(|span| span.rows == [None]).map(|_| ()).into_iter().collect()
    };
    in_scopes(space, seen, is_open)
        .into_iter()
        .map(|(scope, ())| {
            let message = format!("{scope}sizes above {} have no row", show(max));
            let finding = Finding::new(RuleId::OpenTop, last.line, MAX, message);
            match max {
                // The example file's "covers all sizes" ends at 4 GiB.
                4_294_967_295 => finding.suggest(format!("write {} for no limit", u64::MAX)),
                _ => finding,
            }
        })
        .collect()
}

/// Rows and holes that get 1 channel from a reader that presets it.
fn one_channel(table: &Table) -> Vec<Finding> {
    if table.dialect.preset_channels() != 1 {
        return Vec::new();
    }
    let default = |row: &&Row| row.rule.channels == WILDCARD && !values::never_matches(&row.rule);
    let mut found: Vec<_> = table
        .rows
        .iter()
        .filter(default)
        .map(|row| {
            let message = format!("channels -1 is 1 channel in {}", table.dialect);
            Finding::new(RuleId::OneChannel, row.line, CHANNELS, message)
                .suggest("write the number of channels, or 0 for the library's own")
        })
        .collect();
    if let Some(row) = table.rows.first() {
        let message = format!(
            "{} runs everything that no row is for with 1 channel: other collectives, communicators \
             and sizes",
            table.dialect
        );
        found.push(Finding::new(RuleId::OneChannel, row.line, COLLECTIVE, message).suggest(
            "load it only where every call has a row, or use a reader without this preset",
        ));
    }
    found
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
