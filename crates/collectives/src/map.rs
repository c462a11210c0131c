//! A region as a few lines of text: which columns of which rows are wrong.
//!
//! ```text
//!             col 0..255 | 256 | 257..263
//! row 0..17           .     .      P
//! ```

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::FindingKind;
use crate::plan::View;

/// At most this many bands of rows and of columns are drawn.
const BANDS: usize = 8;

/// First and last row, and the column ranges that are wrong in all of them.
type RowBand<'a> = (u64, u64, &'a [(u64, u64)]);

/// What is drawn.
pub(crate) struct RegionMap<'a> {
    pub kind: FindingKind,
    pub view: &'a View,
    /// Wrong column ranges (inclusive) by row.
    pub rows: &'a BTreeMap<u64, Vec<(u64, u64)>>,
}

impl RegionMap<'_> {
    /// The lines, empty where there is nothing to draw.
    pub(crate) fn lines(&self) -> Vec<String> {
        if self.rows.is_empty() || self.view.row_stride == 0 {
            return Vec::new();
        }
        let edges = self.column_edges();
        let columns: Vec<(u64, u64)> =
            edges.iter().zip(edges.iter().skip(1)).map(|(from, to)| (*from, to - 1)).collect();
        let shown = columns.len().min(BANDS);
        let heads: Vec<String> = columns[..shown].iter().map(|c| band(c.0, c.1)).collect();
        let mut lines = vec![format!("{:>14} {}", "col", heads.join(" | "))];
        let bands = self.row_bands();
        for (first, last, wrong) in bands.iter().take(BANDS) {
            let cells: Vec<String> = columns[..shown]
                .iter()
                .zip(&heads)
                .map(|(column, head)| {
                    let hit = wrong.iter().any(|(from, to)| *from <= column.0 && column.1 <= *to);
                    format!("{:^width$}", if hit { self.letter() } else { "." }, width = head.len())
                })
                .collect();
            lines.push(format!(
                "{:>14} {}",
                format!("row {}", band(*first, *last)),
                cells.join(" | ")
            ));
        }
        let more = bands.len().saturating_sub(BANDS) + columns.len().saturating_sub(BANDS);
        let more = if more > 0 { format!("   ({more} more bands)") } else { String::new() };
        lines.push(format!("{:>14} . right  {} {}{more}", "", self.letter(), self.legend()));
        lines
    }

    fn letter(&self) -> &'static str {
        match self.kind {
            FindingKind::PaddingOverwritten => "P",
            FindingKind::Unwritten => "U",
            _ => "X",
        }
    }

    fn legend(&self) -> &'static str {
        match self.kind {
            FindingKind::PaddingOverwritten => "padding overwritten",
            FindingKind::Unwritten => "unwritten",
            _ => "wrong",
        }
    }

    /// Where anything starts or ends: rows, wrong ranges, N. Tile edges where they are few.
    fn column_edges(&self) -> Vec<u64> {
        let mut edges = BTreeSet::from([0, self.view.shape.n, self.view.row_stride]);
        for (from, to) in self.rows.values().flatten() {
            edges.extend([*from, to + 1]);
        }
        let tile = self.view.tile.n;
        if tile > 0 && self.view.shape.n / tile < 4 {
            edges.extend((1..=self.view.shape.n / tile).map(|i| i * tile));
        }
        edges.into_iter().collect()
    }

    /// Runs of rows that are wrong in the same columns; rows that are right are bands too.
    fn row_bands(&self) -> Vec<RowBand<'_>> {
        let mut rows: Vec<RowBand<'_>> = Vec::new();
        let mut next = 0;
        for (row, wrong) in self.rows {
            if *row > next {
                rows.push((next, row - 1, &[]));
            }
            rows.push((*row, *row, wrong));
            next = row + 1;
        }
        if next < self.view.shape.m {
            rows.push((next, self.view.shape.m - 1, &[]));
        }
        rows.dedup_by(|row, band| {
            let same = row.2 == band.2;
            if same {
                band.1 = row.1;
            }
            same
        });
        rows
    }
}

fn band(first: u64, last: u64) -> String {
    if first == last { format!("{first}") } else { format!("{first}..{last}") }
}
