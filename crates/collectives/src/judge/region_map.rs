//! Where in a matrix a finding's bytes are wrong, as bands of rows and columns. How they are drawn is a
//! report's business.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::heap::plan::View;
use crate::judge::finding::FindingKind;
use crate::meaning::shape::Tile;

/// At most this many bands of rows and of columns are kept.
const BANDS: usize = 8;

/// Which columns of which rows are wrong. Bands that are right are there too, so that the map covers
/// the matrix and its padding from the first row and column on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionMap {
    /// What is wrong with the marked cells.
    pub mark: Mark,
    /// The first bands of columns, from left to right, at most eight.
    pub columns: Vec<Band>,
    /// The first bands of rows, from top to bottom, at most eight.
    pub rows: Vec<RowBand>,
    /// How many bands of rows and of columns there are beyond those.
    pub more_bands: u64,
    /// Columns of the matrix, in elements; columns at or beyond it are padding.
    pub n: u64,
    /// Elements from the start of a row to the start of the next.
    pub row_stride: u64,
    /// The tile that the kernel was asked to use, in elements.
    pub tile: Tile,
}

/// Rows or columns beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Band {
    /// The first of them, from 0.
    pub first: u64,
    /// The last of them, which may be the first.
    pub last: u64,
}

/// Rows beside each other that are wrong in the same columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowBand {
    /// The first of the rows, from 0.
    pub first: u64,
    /// The last of the rows, which may be the first.
    pub last: u64,
    /// By band of columns: whether every element of these rows is wrong there.
    pub wrong: Vec<bool>,
}

/// What is wrong with the marked cells of a [`RegionMap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// They hold something else than what belongs there.
    Wrong,
    /// They were never written.
    Unwritten,
    /// They are padding and were written.
    PaddingOverwritten,
}

/// First and last row, and the column ranges that are wrong in all of them.
type Run<'a> = (u64, u64, &'a [(u64, u64)]);

/// The map of a matrix of which `rows` says the wrong column ranges (inclusive) by row; nothing where no
/// row is wrong or rows have no columns.
pub(crate) fn region_map(
    kind: FindingKind,
    view: &View,
    rows: &BTreeMap<u64, Vec<(u64, u64)>>,
) -> Option<RegionMap> {
    if rows.is_empty() || view.row_stride == 0 {
        return None;
    }
    let edges = column_edges(view, rows);
    let between = edges.iter().zip(edges.iter().skip(1));
    let columns: Vec<Band> =
        between.map(|(from, to)| Band { first: *from, last: to - 1 }).collect();
    let runs = row_runs(view, rows);
    let beyond = |bands: usize| bands.saturating_sub(BANDS) as u64;
    let more_bands = beyond(runs.len()) + beyond(columns.len());
    let columns: Vec<Band> = columns.into_iter().take(BANDS).collect();
    let row_band = |(first, last, ranges): &Run<'_>| {
        let is_wrong = |column: &Band| {
            ranges.iter().any(|(from, to)| *from <= column.first && column.last <= *to)
        };
        RowBand { first: *first, last: *last, wrong: columns.iter().map(is_wrong).collect() }
    };
    Some(RegionMap {
        mark: match kind {
            FindingKind::PaddingOverwritten => Mark::PaddingOverwritten,
            FindingKind::Unwritten => Mark::Unwritten,
            _ => Mark::Wrong,
        },
        rows: runs.iter().take(BANDS).map(row_band).collect(),
        columns,
        more_bands,
        n: view.shape.n,
        row_stride: view.row_stride,
        tile: view.tile,
    })
}

/// Where anything starts or ends: rows, wrong ranges, N. Tile edges where they are few.
fn column_edges(view: &View, rows: &BTreeMap<u64, Vec<(u64, u64)>>) -> Vec<u64> {
    let mut edges = BTreeSet::from([0, view.shape.n, view.row_stride]);
    for (from, to) in rows.values().flatten() {
        edges.extend([*from, to + 1]);
    }
    let tile = view.tile.n;
    if tile > 0 && view.shape.n / tile < 4 {
        edges.extend((1..=view.shape.n / tile).map(|i| i * tile));
    }
    edges.into_iter().collect()
}

/// Runs of rows that are wrong in the same columns; rows that are right are runs too.
fn row_runs<'a>(view: &View, rows: &'a BTreeMap<u64, Vec<(u64, u64)>>) -> Vec<Run<'a>> {
    let mut runs: Vec<Run<'a>> = Vec::new();
    let mut next = 0;
    for (row, wrong) in rows {
        if *row > next {
            runs.push((next, row - 1, &[]));
        }
        runs.push((*row, *row, wrong));
        next = row + 1;
    }
    if next < view.shape.m {
        runs.push((next, view.shape.m - 1, &[]));
    }
    runs.dedup_by(|row, run| {
        let same = row.2 == run.2;
        if same {
            run.1 = row.1;
        }
        same
    });
    runs
}
