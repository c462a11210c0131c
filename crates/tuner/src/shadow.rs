//! Rows that never or only partly decide, because an earlier row takes their sizes.
//!
//! A covered row is not dead: it still fires where the earlier row's algorithm and protocol are
//! unavailable. Only behind a row with the same algorithm and protocol it never can.

use schemars::JsonSchema;
use serde::Serialize;

use crate::csv::{Row, Table};
use crate::evaluate::Unavailable;
use crate::intervals::intervals;
use crate::scope::{Scope, Space};

/// Part of a row's sizes and the row that decides there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Piece {
    /// Smallest size, in bytes.
    pub from: u64,
    /// Largest size, in bytes.
    pub to: u64,
    /// The row that decides: an earlier one, or the row itself.
    pub winner: Row,
}

/// What is left of a row in some communicators.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Shadow {
    /// Index of the row among its table's rows.
    pub index: usize,
    /// The row.
    pub row: Row,
    /// Where this holds.
    pub scope: Scope,
    /// The row's sizes in order; at least one piece has another winner.
    pub pieces: Vec<Piece>,
    /// Whether the row decides somewhere else, in a communicator outside `scope`, undisturbed.
    pub intact_elsewhere: bool,
}

impl Shadow {
    /// The sizes that the row keeps.
    pub fn kept(&self) -> Vec<(u64, u64)> {
        let own = self.pieces.iter().filter(|piece| piece.winner == self.row);
        own.map(|piece| (piece.from, piece.to)).collect()
    }

    /// Pieces that earlier rows take.
    pub fn taken(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.iter().filter(|piece| piece.winner != self.row)
    }

    /// Whether every piece is lost to rows with the row's own algorithm and protocol, so that it
    /// cannot fire even where those are unavailable.
    pub fn is_unreachable(&self) -> bool {
        let pair = |row: &Row| (row.rule.algorithm, row.rule.protocol);
        self.pieces
            .iter()
            .all(|piece| piece.winner != self.row && pair(&piece.winner) == pair(&self.row))
    }

    /// The choices of the rows that take sizes, each once.
    fn winners(&self) -> Vec<String> {
        let choice = |row: &Row| format!("{}/{}", row.rule.algorithm, row.rule.protocol);
        let mut winners: Vec<_> = self.taken().map(|piece| choice(&piece.winner)).collect();
        winners.dedup();
        winners
    }

    /// `allreduce 54525952..117440511 tree/simple`.
    pub fn title(&self) -> String {
        let rule = &self.row.rule;
        let range = crate::bytes::range(rule.min_bytes, rule.max_bytes);
        format!("{} {range} {}/{}", rule.collective, rule.algorithm, rule.protocol)
    }

    /// What happens to the row, in words: who takes what, what is kept.
    pub fn describe(&self) -> String {
        let taken: Vec<_> = self
            .taken()
            .map(|piece| {
                let range = crate::bytes::range(piece.from, piece.to);
                let Row { line, rule } = piece.winner;
                format!("{range} goes to line {line} ({}/{})", rule.algorithm, rule.protocol)
            })
            .collect();
        let kept: Vec<_> =
            self.kept().iter().map(|&(from, to)| crate::bytes::range(from, to)).collect();
        let fate = match (kept.is_empty(), self.is_unreachable()) {
            (true, true) => "fully shadowed by rows of the same choice: never fires".to_owned(),
            (true, false) => {
                format!("fully shadowed unless {} is unavailable", self.winners().join(" or "))
            }
            (false, _) => format!("cut to {}", kept.join(", ")),
        };
        format!("{fate} ({})", taken.join("; "))
    }
}

/// Every row that loses sizes to an earlier one, with all algorithms available.
pub fn shadows(table: &Table) -> Vec<Shadow> {
    let space = Space::of(&[table]);
    let maps: Vec<_> = space
        .cells()
        .into_iter()
        .map(|at| (at, intervals(&[table], at, Unavailable::default())))
        .collect();
    let mut result = Vec::new();
    for (index, row) in table.rows.iter().enumerate() {
        let concerned: Vec<_> = maps
            .iter()
            .filter(|(at, _)| row.rule.concerns(at))
            .map(|(at, map)| (*at, pieces(table, row, map)))
            .collect();
        let is_whole = |pieces: &[Piece]| pieces.iter().all(|piece| piece.winner == *row);
        let intact_elsewhere = concerned.iter().any(|(_, pieces)| is_whole(pieces));
        let cut = concerned.into_iter().filter(|(_, pieces)| !is_whole(pieces)).collect();
        result.extend(space.fold(cut).into_iter().map(|(scope, pieces)| Shadow {
            index,
            row: *row,
            scope,
            pieces,
            intact_elsewhere,
        }));
    }
    result
}

/// The part of a map that lies inside a row's sizes.
pub(crate) fn pieces(table: &Table, row: &Row, map: &[crate::intervals::Interval]) -> Vec<Piece> {
    let rule = &row.rule;
    map.iter()
        .filter(|span| span.from <= rule.max_bytes && span.to >= rule.min_bytes)
        .filter_map(|span| {
            // Some row decides everywhere here: this one matches.
            let winner = table.rows[span.rows[0]?];
            let (from, to) = (span.from.max(rule.min_bytes), span.to.min(rule.max_bytes));
            Some(Piece { from, to, winner })
        })
        .collect()
}
