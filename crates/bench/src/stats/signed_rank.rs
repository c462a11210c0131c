//! Wilcoxon's signed-rank test and the interval that is its inversion.

use super::Interval;
use super::inverted::{self, at_most};
use super::walsh::averages;

/// The exact distribution of Wilcoxon's signed-rank statistic of so many values under symmetry about 0.
///
/// Source: Wilcoxon 1945; the interval by Walsh averages is Tukey's, in Hollander and Wolfe, *Nonparametric Statistical
/// Methods*, 3.3. Assumes independent values with a symmetric distribution, nothing about its shape. Ties and zeros
/// are counted by half, which makes the test a little stricter than it says.
#[derive(Debug, Clone)]
pub struct SignedRank {
    /// By statistic, the probability of it.
    probabilities: Vec<f64>,
    count: usize,
}

impl SignedRank {
    /// The distribution of `count` values; its support is 0 to count (count + 1) / 2.
    pub fn new(count: usize) -> SignedRank {
        let most = count * (count + 1) / 2;
        let mut probabilities = vec![0.0; most + 1];
        probabilities[0] = 1.0;
        let mut reached = 0;
        for rank in 1..=count {
            reached += rank;
            // Each rank counts or does not, with one half.
            for at in (0..=reached).rev() {
                let with = at.checked_sub(rank).map_or(0.0, |before| probabilities[before]);
                probabilities[at] = (probabilities[at] + with) / 2.0;
            }
        }
        SignedRank { probabilities, count }
    }

    /// The two-sided p-value of values being symmetric about 0.
    ///
    /// # Panics
    /// The number of values is another one.
    pub fn p_value(&self, values: &[f64]) -> f64 {
        assert_eq!(values.len(), self.count, "the distribution is of another number of values");
        let averages = averages(values);
        let above = averages.iter().filter(|average| **average > 0.0).count() as f64;
        let none = averages.iter().filter(|average| **average == 0.0).count() as f64;
        let statistic = above + none / 2.0;
        let least = statistic.min(averages.len() as f64 - statistic);
        // A half is rounded to the side that is less significant.
        (2.0 * at_most(&self.probabilities, least.ceil() as usize)).min(1.0)
    }

    /// The interval of all middles that a two-sided test at `alpha` does not refuse; its confidence is at least
    /// 1 - alpha. Absent where so few values can refuse nothing.
    ///
    /// # Panics
    /// The number of values is another one.
    pub fn interval(&self, values: &[f64], alpha: f64) -> Option<Interval> {
        assert_eq!(values.len(), self.count, "the distribution is of another number of values");
        inverted::interval(&self.probabilities, averages(values), alpha)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::fixed::D;
    use rstest::rstest;

    /// scipy.stats.wilcoxon(d, method="exact")
    #[test]
    fn the_p_value_is_scipys() {
        let p = SignedRank::new(10).p_value(&D);
        assert!((p - 0.013_671_875).abs() < 1e-12, "{p}");
    }

    /// The middles at which scipy.stats.wilcoxon(d - middle, method="exact") has p > 0.05 lie between the Walsh
    /// averages number 9 from below and from above.
    #[test]
    fn the_interval_is_the_inverted_test() {
        let Interval { low, high } = SignedRank::new(10).interval(&D, 0.05).unwrap();
        assert!((low - 0.008).abs() < 1e-12 && (high - 0.0375).abs() < 1e-12, "{low} {high}");
        let p = |middle: f64| SignedRank::new(10).p_value(&D.map(|value| value - middle));
        assert!(p(low - 1e-6) <= 0.05 && p(low + 1e-6) > 0.05);
        assert!(p(high + 1e-6) <= 0.05 && p(high - 1e-6) > 0.05);
    }

    /// 2 / 2^n, in the table of statistics that refuse at all.
    #[rstest]
    #[case(5, 0.0625)]
    #[case(6, 0.031_25)]
    #[case(8, 0.007_812_5)]
    #[case(10, 0.001_953_125)]
    fn the_least_p_is_that_of_all_values_on_one_side(#[case] count: usize, #[case] least: f64) {
        let values: Vec<f64> = (1..=count).map(|value| value as f64).collect();
        let test = SignedRank::new(count);
        assert!((test.p_value(&values) - least).abs() < 1e-12);
        assert_eq!(test.interval(&values, 0.05).is_some(), least <= 0.05);
    }

    #[test]
    fn zeros_and_ties_prove_nothing() {
        assert_eq!(SignedRank::new(8).p_value(&[0.0; 8]), 1.0);
        let p = SignedRank::new(4).p_value(&[1.0, -1.0, 1.0, -1.0]);
        assert_eq!(p, 1.0);
    }

    #[test]
    fn two_hundred_values_have_a_distribution_too() {
        let test = SignedRank::new(200);
        assert!((test.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
}
