//! Pairwise sampling: a part of the matrix in which every pair of axis values still occurs.

use std::collections::HashSet;

use collectives::draw::mix;

use crate::case::Case;
use crate::keys::Sample;

/// The cases that a sample keeps, in order; each comes with the number of its value on each axis.
pub(super) fn sampled(cases: Vec<(Vec<usize>, Case)>, sample: Option<Sample>) -> Vec<Case> {
    let Some(Sample::Pairwise(seed)) = sample else {
        return cases.into_iter().map(|(_, case)| case).collect();
    };
    let (rows, cases): (Vec<Vec<usize>>, Vec<Case>) = cases.into_iter().unzip();
    let chosen: HashSet<usize> = pairwise(&rows, seed).into_iter().collect();
    let numbered = cases.into_iter().enumerate();
    numbered.filter(|(index, _)| chosen.contains(index)).map(|(_, case)| case).collect()
}

/// Which of `rows` to keep, in order. A row is the number of its value on each axis.
fn pairwise(rows: &[Vec<usize>], seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|row| mix(seed ^ mix(*row as u64)));
    let mut seen = HashSet::new();
    let mut kept: Vec<usize> = Vec::new();
    for row in order {
        let values = &rows[row];
        let mut is_new = false;
        for (a, left) in values.iter().enumerate() {
            for (b, right) in values.iter().enumerate().skip(a + 1) {
                is_new |= seen.insert((a, *left, b, *right));
            }
        }
        if is_new || values.len() < 2 {
            kept.push(row);
        }
    }
    kept.sort_unstable();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_occurs_and_fewer_rows_remain() {
        let mut rows = Vec::new();
        for a in 0..4 {
            for b in 0..4 {
                for c in 0..4 {
                    for d in 0..3 {
                        rows.push(vec![a, b, c, d]);
                    }
                }
            }
        }
        let kept = pairwise(&rows, 1);
        assert!(kept.len() < rows.len() / 2, "{}", kept.len());
        for a in 0..4 {
            for b in a + 1..4 {
                let all: HashSet<_> = rows.iter().map(|row| (row[a], row[b])).collect();
                let some: HashSet<_> =
                    kept.iter().map(|row| (rows[*row][a], rows[*row][b])).collect();
                assert_eq!(all, some, "axes {a} and {b}");
            }
        }
        assert_eq!(kept, pairwise(&rows, 1));
        assert_ne!(kept, pairwise(&rows, 2));
    }
}
