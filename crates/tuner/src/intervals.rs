//! Which row decides, for every size at once.
//!
//! Between two neighbouring bounds of concerned rows nothing can change, so one evaluation an
//! interval covers all 2^64 sizes.

use std::collections::BTreeSet;

use crate::csv::Table;
use crate::evaluate::{Query, Situation, Unavailable, evaluate};

/// An interval of sizes over which the same row of every table decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interval {
    /// Smallest size, in bytes.
    pub from: u64,
    /// Largest size, in bytes.
    pub to: u64,
    /// For each table, the index of the row that applies.
    pub rows: Vec<Option<usize>>,
}

/// All sizes from 0 to 2^64 - 1 in one situation, as maximal intervals in order.
pub fn intervals(
    tables: &[&Table],
    situation: Situation,
    unavailable: Unavailable,
) -> Vec<Interval> {
    let mut starts = BTreeSet::from([0]);
    for row in tables.iter().flat_map(|table| &table.rows) {
        if row.rule.concerns(&situation) {
            starts.insert(row.rule.min_bytes);
            starts.extend(row.rule.max_bytes.checked_add(1));
        }
    }
    let mut result: Vec<Interval> = Vec::new();
    for from in starts {
        let query = Query { situation, bytes: from };
        let rows: Vec<_> =
            tables.iter().map(|table| evaluate(table, &query, unavailable)).collect();
        if let Some(last) = result.last_mut() {
            last.to = from - 1;
            if last.rows == rows {
                last.to = u64::MAX;
                continue;
            }
        }
        result.push(Interval { from, to: u64::MAX, rows });
    }
    result
}
