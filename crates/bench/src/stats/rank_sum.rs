//! The rank-sum test of two independent samples, and the interval that is its inversion.

use super::Interval;
use super::inverted::{self, at_most};
use super::walsh::differences;

/// The exact distribution of Mann and Whitney's U of two samples of such sizes from one distribution.
///
/// Source: Mann and Whitney 1947; the interval of the shift is Moses', in Hollander and Wolfe, 4.3. Assumes independent
/// values, and for the interval that both samples have the same shape. Ties are counted by half.
#[derive(Debug, Clone)]
pub struct RankSum {
    /// By statistic, the probability of it.
    probabilities: Vec<f64>,
    sizes: [usize; 2],
}

impl RankSum {
    /// The distribution for samples of such sizes; its support is 0 to their product.
    pub fn new(first: usize, second: usize) -> RankSum {
        // By how many of the first are placed, and by statistic: the number of arrangements, as a recurrence over
        // who has the largest value. Scaled to probabilities at each step, so that nothing overflows.
        let mut table = vec![vec![1.0]; first + 1];
        for placed in 1..=second {
            let mut row: Vec<Vec<f64>> = vec![vec![1.0]];
            for of_first in 1..=first {
                let total = (of_first + placed) as f64;
                let mut now = vec![0.0; of_first * placed + 1];
                // The largest is of the second sample: it is above all that are of the first.
                for (statistic, p) in table[of_first].iter().enumerate() {
                    now[statistic + of_first] += p * placed as f64 / total;
                }
                for (statistic, p) in row[of_first - 1].iter().enumerate() {
                    now[statistic] += p * of_first as f64 / total;
                }
                row.push(now);
            }
            table = row;
        }
        RankSum { probabilities: table.swap_remove(first), sizes: [first, second] }
    }

    /// The two-sided p-value of both samples being from one distribution.
    ///
    /// # Panics
    /// The samples have other sizes.
    pub fn p_value(&self, first: &[f64], second: &[f64]) -> f64 {
        assert_eq!([first.len(), second.len()], self.sizes, "the distribution is of other sizes");
        let differences = differences(first, second);
        let above = differences.iter().filter(|difference| **difference > 0.0).count() as f64;
        let none = differences.iter().filter(|difference| **difference == 0.0).count() as f64;
        let statistic = above + none / 2.0;
        let least = statistic.min(differences.len() as f64 - statistic);
        (2.0 * at_most(&self.probabilities, least.ceil() as usize)).min(1.0)
    }

    /// The interval of all shifts from the first to the second that a two-sided test at `alpha` does not refuse;
    /// its confidence is at least 1 - alpha. Absent where so few values can refuse nothing.
    ///
    /// # Panics
    /// The samples have other sizes.
    pub fn interval(&self, first: &[f64], second: &[f64], alpha: f64) -> Option<Interval> {
        assert_eq!([first.len(), second.len()], self.sizes, "the distribution is of other sizes");
        inverted::interval(&self.probabilities, differences(first, second), alpha)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::fixed::{A, B};
    use rstest::rstest;

    /// scipy.stats.mannwhitneyu(b, a, method="exact", alternative="two-sided")
    #[test]
    fn the_p_value_is_scipys() {
        let p = RankSum::new(7, 8).p_value(&A, &B);
        assert!((p - 0.003_729_603_729_603_729_6).abs() < 1e-12, "{p}");
    }

    #[test]
    fn the_interval_is_the_inverted_test() {
        let test = RankSum::new(7, 8);
        let Interval { low, high } = test.interval(&A, &B, 0.05).unwrap();
        let p = |shift: f64| test.p_value(&A, &B.map(|value| value - shift));
        assert!(p(low - 1e-6) <= 0.05 && p(low + 1e-6) > 0.05, "{low}");
        assert!(p(high + 1e-6) <= 0.05 && p(high - 1e-6) > 0.05, "{high}");
    }

    /// scipy.stats.mannwhitneyu(range(n), range(n, 2 * n), method="exact").pvalue
    #[rstest]
    #[case(3, 0.1)]
    #[case(4, 0.028_571_428_571_428_57)]
    #[case(5, 0.007_936_507_936_507_936)]
    #[case(6, 0.002_164_502_164_502_164_4)]
    fn the_least_p_is_that_of_samples_apart(#[case] count: usize, #[case] least: f64) {
        let low: Vec<f64> = (0..count).map(|value| value as f64).collect();
        let high: Vec<f64> = low.iter().map(|value| value + 100.0).collect();
        let test = RankSum::new(count, count);
        assert!((test.p_value(&low, &high) - least).abs() < 1e-12);
        assert_eq!(test.interval(&low, &high, 0.05).is_some(), least <= 0.05);
    }
}
