//! The statistics of few, noisy numbers: what a comparison stands on.
//!
//! Every function says its source and what it assumes, and is held against SciPy 1.17 on fixed data. Nothing here
//! knows of rows, arms or times. Random numbers are not needed: intervals come from exact distributions of ranks or
//! from Student's t, never from resampling, so the same file always gets the same answer.

pub mod adjust;
mod autocorrelation;
mod inverted;
mod median;
mod rank_sum;
mod signed_rank;
mod student;
mod walsh;

pub use autocorrelation::effective_count;
pub use median::{mean, median, quantile};
pub use rank_sum::RankSum;
pub use signed_rank::SignedRank;
pub use student::StudentT;
pub use walsh::{hodges_lehmann, shift};

/// The bounds of an interval, in the unit of the data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl Interval {
    /// The largest distance from 0 inside the interval.
    pub fn reach(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// Whether a value is inside, bounds included.
    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// The fixed data that SciPy has seen, too.
#[cfg(test)]
pub(crate) mod fixed {
    pub(crate) const A: [f64; 7] = [10.1, 10.4, 9.8, 10.9, 10.2, 10.6, 9.9];
    pub(crate) const B: [f64; 8] = [10.8, 11.2, 10.7, 11.9, 10.5, 11.1, 11.4, 12.0];
    pub(crate) const D: [f64; 10] =
        [0.031, -0.012, 0.025, 0.044, 0.018, -0.003, 0.052, 0.037, 0.009, 0.028];
}
