//! Estimates by Hodges and Lehmann.

use super::median::median;

/// The middle of a symmetric distribution: the median of the means of all pairs of values, each value with itself
/// included. Absent where there is no value.
///
/// Source: Hodges and Lehmann 1963. Assumes symmetry; up to 29 % of values may be arbitrarily wrong.
pub fn hodges_lehmann(values: &[f64]) -> Option<f64> {
    median(&averages(values))
}

/// How far the second sample lies above the first: the median of all differences. Absent where one is empty.
///
/// Source: Hodges and Lehmann 1963. Assumes that both samples have the same shape.
pub fn shift(first: &[f64], second: &[f64]) -> Option<f64> {
    median(&differences(first, second))
}

/// The means of all pairs of values, each with itself included: n (n + 1) / 2.
pub(super) fn averages(values: &[f64]) -> Vec<f64> {
    let pairs = values
        .iter()
        .enumerate()
        .flat_map(|(i, a)| values[i..].iter().map(move |b| f64::midpoint(*a, *b)));
    pairs.collect()
}

/// Every value of the second less every value of the first.
pub(super) fn differences(first: &[f64], second: &[f64]) -> Vec<f64> {
    second.iter().flat_map(|b| first.iter().map(move |a| b - a)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::fixed::{A, B, D};

    /// numpy.median([(d[i] + d[j]) / 2 for i in range(10) for j in range(i, 10)])
    #[test]
    fn the_estimate_is_the_median_of_walsh_averages() {
        assert!((hodges_lehmann(&D).unwrap() - 0.0245).abs() < 1e-12);
        assert_eq!(hodges_lehmann(&[]), None);
    }

    /// numpy.median([y - x for y in b for x in a])
    #[test]
    fn the_shift_is_the_median_of_differences() {
        assert!((shift(&A, &B).unwrap() - 0.9).abs() < 1e-12);
        assert_eq!(shift(&A, &[]), None);
    }

    #[test]
    fn one_wild_value_of_ten_moves_the_estimate_little() {
        let mut wild = D;
        wild[6] = 1e6;
        assert!((hodges_lehmann(&wild).unwrap() - 0.0245).abs() < 0.01);
    }
}
