//! What a change to a tuner file changes: sizes, old choice, new choice, nothing else.
//!
//! Any number of files are compared against the first, so that two pending changes to one base
//! can be laid side by side. Compared are effects, not text: a moved row that decides as before is
//! no change.

use schemars::JsonSchema;
use serde::Serialize;

use crate::csv::{Row, Table};
use crate::evaluate::{Choice, Situation, Unavailable};
use crate::intervals::intervals;
use crate::scope::{Scope, Space};
use crate::shadow::{Piece, Shadow, pieces};

/// What one file does over a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Decision {
    /// The row that applies.
    pub row: Option<Row>,
    /// Its effect.
    pub choice: Choice,
}

/// How two changes to one base meet over a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Overlap {
    /// No file differs from the first.
    Unchanged,
    /// One file differs from the first.
    One,
    /// Several differ from the first, all to the same choice.
    Agree,
    /// Several differ from the first, to different choices: merge order would decide.
    Conflict,
}

/// Sizes over which every file's decision is constant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Span {
    /// Smallest size, in bytes.
    pub from: u64,
    /// Largest size, in bytes.
    pub to: u64,
    /// One decision a file, in the order given.
    pub decisions: Vec<Decision>,
}

impl Span {
    /// How the files after the first relate here.
    pub fn overlap(&self) -> Overlap {
        let base = self.decisions[0].choice;
        let mut changed = self.decisions[1..].iter().map(|d| d.choice).filter(|&c| c != base);
        match (changed.next(), changed.collect::<Vec<_>>()) {
            (None, _) => Overlap::Unchanged,
            (Some(_), rest) if rest.is_empty() => Overlap::One,
            (Some(first), rest) if rest.iter().all(|&choice| choice == first) => Overlap::Agree,
            (Some(_), _) => Overlap::Conflict,
        }
    }
}

/// The spans of the communicators in one scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Map {
    /// The communicators.
    pub scope: Scope,
    /// Spans in order of size.
    pub spans: Vec<Span>,
}

/// All sizes of all scopes in which some file differs from the first, unchanged spans included.
pub fn maps(tables: &[&Table], unavailable: Unavailable) -> Vec<Map> {
    folded(tables, unavailable, |spans| spans)
}

/// The changed spans only, with scopes as wide as these spans allow.
pub fn changes(tables: &[&Table], unavailable: Unavailable) -> Vec<Map> {
    folded(tables, unavailable, |mut spans| {
        spans.retain(|span| span.overlap() != Overlap::Unchanged);
        spans
    })
}

fn folded(
    tables: &[&Table],
    unavailable: Unavailable,
    select: impl Fn(Vec<Span>) -> Vec<Span>,
) -> Vec<Map> {
    let space = Space::of(tables);
    let said = space
        .cells()
        .into_iter()
        .map(|at| (at, spans(tables, at, unavailable)))
        .filter(|(_, spans)| spans.iter().any(|span| span.overlap() != Overlap::Unchanged))
        .map(|(at, spans)| (at, select(spans)))
        .collect();
    space.fold(said).into_iter().map(|(scope, spans)| Map { scope, spans }).collect()
}

fn spans(tables: &[&Table], at: Situation, unavailable: Unavailable) -> Vec<Span> {
    let decide = |table: &Table, row: Option<usize>| {
        let row = row.map(|index| table.rows[index]);
        Decision { row, choice: Choice::of(table.dialect, row.as_ref().map(|row| &row.rule)) }
    };
    intervals(tables, at, unavailable)
        .into_iter()
        .map(|interval| Span {
            from: interval.from,
            to: interval.to,
            decisions: tables
                .iter()
                .zip(interval.rows)
                .map(|(table, row)| decide(table, row))
                .collect(),
        })
        .collect()
}

/// A row of the new file that loses sizes which it did not lose in the old one.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NewShadow {
    /// Line of the same row in the old file, where it stood there.
    pub old_line: Option<usize>,
    /// What is left of it in the new file.
    #[serde(flatten)]
    pub shadow: Shadow,
}

/// Rows that lose sizes in `new` which they did not lose in `old`, with the communicators in which
/// they do.
pub fn new_shadows(old: &Table, new: &Table) -> Vec<NewShadow> {
    let space = Space::of(&[old, new]);
    let maps: Vec<_> = space
        .cells()
        .into_iter()
        .map(|at| {
            let map = |table: &Table| intervals(&[table], at, Unavailable::default());
            (at, map(old), map(new))
        })
        .collect();
    let mut found = Vec::new();
    for (index, row) in new.rows.iter().enumerate() {
        let before = same_row(old, new, index);
        let mut cells = Vec::new();
        let mut intact_elsewhere = false;
        for (at, old_map, new_map) in maps.iter().filter(|(at, ..)| row.rule.concerns(at)) {
            let now = pieces(new, row, new_map);
            intact_elsewhere |= lost(&now, row).is_empty();
            let then = before.map(|row| (row, pieces(old, &row, old_map)));
            let lost_then = then.map(|(row, pieces)| lost(&pieces, &row)).unwrap_or_default();
            let is_new = |(from, to): &(u64, u64)| !covers(&lost_then, *from, *to);
            if lost(&now, row).iter().any(is_new) {
                cells.push((*at, now));
            }
        }
        found.extend(space.fold(cells).into_iter().map(|(scope, pieces)| NewShadow {
            old_line: before.map(|row| row.line),
            shadow: Shadow { index, row: *row, scope, pieces, intact_elsewhere },
        }));
    }
    found
}

/// The row of `old` that row `index` of `new` is: the same content, counted from the end, because
/// what is put in front of a file is what is new.
fn same_row(old: &Table, new: &Table, index: usize) -> Option<Row> {
    let rule = new.rows[index].rule;
    let later = new.rows[index + 1..].iter().filter(|row| row.rule == rule).count();
    old.rows.iter().rev().filter(|row| row.rule == rule).nth(later).copied()
}

/// The sizes that a row loses to others, neighbours joined.
fn lost(pieces: &[Piece], row: &Row) -> Vec<(u64, u64)> {
    let mut lost: Vec<(u64, u64)> = Vec::new();
    for piece in pieces.iter().filter(|piece| piece.winner != *row) {
        match lost.last_mut() {
            Some((_, to)) if to.checked_add(1) == Some(piece.from) => *to = piece.to,
            _ => lost.push((piece.from, piece.to)),
        }
    }
    lost
}

/// Whether one of the stretches holds all of this one.
fn covers(stretches: &[(u64, u64)], from: u64, to: u64) -> bool {
    stretches.iter().any(|&(first, last)| first <= from && to <= last)
}
