//! The widest range of sizes that the evidence supports.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluate::Situation;

use super::judged::{Judged, Supported, Verdict};

/// For each operation the widest run of neighbouring tested sizes at which every row, in every mode and half, has improved.
/// Sizes between two tested ones are taken to be like these.
pub(super) fn widest(rows: &[Judged]) -> Vec<Supported> {
    let plain = |at: Situation| Situation { reg_buff: 0, ..at };
    let situations: BTreeSet<Situation> = rows.iter().map(|row| plain(row.situation)).collect();
    let widest = situations.into_iter().filter_map(|situation| {
        let mut sizes: BTreeMap<u64, (bool, usize)> = BTreeMap::new();
        for row in rows.iter().filter(|row| plain(row.situation) == situation) {
            let size = sizes.entry(row.bytes).or_insert((true, 0));
            *size = (size.0 && row.verdict == Verdict::Improved, size.1 + 1);
        }
        let mut best: Option<Supported> = None;
        let mut run: Option<Supported> = None;
        for (bytes, (improved, rows)) in sizes {
            run = match (improved, run) {
                (false, _) => None,
                (true, None) => Some(Supported { situation, bytes: [bytes; 2], sizes: 1, rows }),
                (true, Some(run)) => Some(Supported {
                    situation,
                    bytes: [run.bytes[0], bytes],
                    sizes: run.sizes + 1,
                    rows: run.rows + rows,
                }),
            };
            let width = |range: &Supported| (range.bytes[1] - range.bytes[0], range.sizes);
            if let Some(run) = &run
                && best.as_ref().is_none_or(|best| width(run) > width(best))
            {
                best = Some(run.clone());
            }
        }
        best
    });
    widest.collect()
}
