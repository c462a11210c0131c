//! What a change to a tuner file changes: sizes, old choice, new choice, nothing else.
//!
//! Any number of files are compared against the first, so that two pending changes to one base
//! can be laid side by side. Compared are effects, not text: a moved row that decides as before is
//! no change.

use serde::Serialize;

use crate::csv::{Row, Table};
use crate::evaluate::{Choice, Situation, Unavailable};
use crate::intervals::intervals;
use crate::scope::{Scope, Space};
use crate::shadow::{Shadow, shadows};

/// What one file does over a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Decision {
    /// The row that applies.
    pub row: Option<Row>,
    /// Its effect.
    pub choice: Choice,
}

/// How two changes to one base meet over a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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
#[derive(Debug, Clone, Serialize)]
pub struct NewShadow {
    /// Line of the same row in the old file, where it stood there.
    pub old_line: Option<usize>,
    /// What is left of it in the new file.
    #[serde(flatten)]
    pub shadow: Shadow,
}

/// Rows that are shadowed in `new` and were not, or not in this way, in `old`.
pub fn new_shadows(old: &Table, new: &Table) -> Vec<NewShadow> {
    // Lines move when rows are added, so winners are compared by what they say.
    let key = |shadow: &Shadow| {
        let pieces: Vec<_> =
            shadow.pieces.iter().map(|piece| (piece.from, piece.to, piece.winner.rule)).collect();
        (shadow.row.rule, pieces)
    };
    let before: Vec<_> = shadows(old).iter().map(key).collect();
    shadows(new)
        .into_iter()
        .filter(|shadow| !before.contains(&key(shadow)))
        .map(|shadow| NewShadow {
            old_line: old.rows.iter().find(|row| row.rule == shadow.row.rule).map(|row| row.line),
            shadow,
        })
        .collect()
}
