//! A ratio of times with its interval, from evidence.

use serde::{Deserialize, Serialize};

use super::evidence::Evidence;
use crate::stats::{
    Interval, RankSum, SignedRank, StudentT, effective_count, hodges_lehmann, shift,
};

/// One minus the confidence of intervals, and the level of tests.
pub const ALPHA: f64 = 0.05;
/// The probability with which the detectable effect is found.
const POWER: f64 = 0.8;
/// From so many launches on the exact tests of ranks are used. With fewer their least p-value, 2 / 2^n, is too large to
/// be adjusted for many rows, and Student's t is used.
const EXACT: usize = 10;
/// With fewer launches nothing is known of how they differ.
const LAUNCHES: usize = 3;
/// Where that is not known, intervals are of this confidence and wider: one minus it.
const STRICTER: f64 = 0.01;
/// By how much a single launch may differ from the next: arms side by side in the same processes.
const UNSEEN_PAIRED: f64 = 0.01;
/// The same for arms that ran at different times.
const UNSEEN_APART: f64 = 0.02;

/// What is known of a ratio, in natural logarithms: 0 is "as fast".
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// The logarithm of the ratio of the arm's time to the base's.
    pub log_ratio: f64,
    /// Where the true one lies; absent where there is too little to say.
    pub interval: Option<Interval>,
    /// The two-sided p-value of "as fast"; 1 where there is too little to say.
    pub p: f64,
    /// The smallest effect that would be found four times of five; absent where there is too little to say.
    pub detectable: Option<f64>,
    /// How it was found.
    pub method: Method,
    /// Launches of the arm that has fewer.
    pub launches: usize,
    /// By launch, what it alone says; by pair of launches where arms ran at different times. Absent where launches
    /// cannot be paired.
    pub by_launch: Vec<f64>,
}

/// How a ratio was found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Hodges and Lehmann's estimate over launches, with the exact interval of the signed-rank test.
    SignedRank,
    /// Hodges and Lehmann's shift between launches, with the exact interval of the rank-sum test.
    RankSum,
    /// Hodges and Lehmann's estimate over launches, with the interval of Student's t.
    StudentT,
    /// The same between launches of two files, with Welch's degrees of freedom.
    Welch,
    /// One or two launches: what varies within them, at 99 %, widened by what launches may differ by.
    WithinLaunches {
        /// By how much it is widened on each side, as a logarithm.
        widened: f64,
    },
}

/// What evidence says; absent where an arm has no time.
pub fn estimate(evidence: &Evidence) -> Option<Estimate> {
    match evidence {
        Evidence::Paired(launches) => paired(launches),
        Evidence::Apart { base, other } => apart(base, other),
    }
}

fn paired(launches: &[Vec<f64>]) -> Option<Estimate> {
    let effects = levels(launches);
    let count = effects.len();
    let log_ratio = hodges_lehmann(&effects)?;
    if count < LAUNCHES {
        let widened = UNSEEN_PAIRED / (count as f64).sqrt();
        let test = pooled(launches);
        return Some(within(test, widened, log_ratio, effects));
    }
    let t = StudentT::of(&effects)?;
    let known = Known { log_ratio, launches: count, by_launch: effects };
    Some(if count >= EXACT {
        let test = SignedRank::new(count);
        let interval = test.interval(&known.by_launch, ALPHA);
        let p = test.p_value(&known.by_launch);
        known.with(Method::SignedRank, interval, p, t)
    } else {
        known.with(Method::StudentT, Some(t.interval(ALPHA)), t.p_value(), t)
    })
}

fn apart(base: &[Vec<f64>], other: &[Vec<f64>]) -> Option<Estimate> {
    let (base_levels, levels) = (levels(base), levels(other));
    let log_ratio = shift(&base_levels, &levels)?;
    let count = base_levels.len().min(levels.len());
    if count < LAUNCHES {
        let widened = UNSEEN_APART / (count as f64).sqrt();
        let test = pooled(other).zip(pooled(base)).and_then(|(other, base)| other.less(base));
        return Some(within(test, widened, log_ratio, Vec::new()));
    }
    let t = StudentT::between(&base_levels, &levels)?;
    let known = Known { log_ratio, launches: count, by_launch: Vec::new() };
    Some(if count >= EXACT {
        let test = RankSum::new(base_levels.len(), levels.len());
        let interval = test.interval(&base_levels, &levels, ALPHA);
        known.with(Method::RankSum, interval, test.p_value(&base_levels, &levels), t)
    } else {
        known.with(Method::Welch, Some(t.interval(ALPHA)), t.p_value(), t)
    })
}

/// What every method has.
struct Known {
    log_ratio: f64,
    launches: usize,
    by_launch: Vec<f64>,
}

impl Known {
    fn with(self, method: Method, interval: Option<Interval>, p: f64, t: StudentT) -> Estimate {
        Estimate {
            log_ratio: self.log_ratio,
            // Both are estimates of one middle; an interval has its own estimate in it.
            interval: interval.map(|interval| Interval {
                low: interval.low.min(self.log_ratio),
                high: interval.high.max(self.log_ratio),
            }),
            p,
            detectable: Some(t.detectable(ALPHA, POWER)),
            method,
            launches: self.launches,
            by_launch: self.by_launch,
        }
    }
}

/// One or two launches. What they differ by is not seen in them, so it is allowed for.
fn within(test: Option<StudentT>, widened: f64, log_ratio: f64, by_launch: Vec<f64>) -> Estimate {
    let launches = by_launch.len().max(1);
    let method = Method::WithinLaunches { widened };
    let Some(test) = test.filter(|test| test.freedom >= 1.0) else {
        return Estimate {
            log_ratio,
            interval: None,
            p: 1.0,
            detectable: None,
            method,
            launches,
            by_launch,
        };
    };
    let inner = test.interval(STRICTER);
    let over = |from: f64, fold: fn(f64, f64) -> f64| by_launch.iter().copied().fold(from, fold);
    let interval = Interval {
        low: over(inner.low, f64::min).min(log_ratio) - widened,
        high: over(inner.high, f64::max).max(log_ratio) + widened,
    };
    let beyond = (log_ratio.abs() - widened).max(0.0);
    let p = StudentT { mean: beyond, ..test }.p_value();
    let detectable = Some(test.detectable(STRICTER, POWER) + widened);
    Estimate { log_ratio, interval: Some(interval), p, detectable, method, launches, by_launch }
}

/// What each launch says.
fn levels(launches: &[Vec<f64>]) -> Vec<f64> {
    launches.iter().filter_map(|values| hodges_lehmann(values)).collect()
}

/// The mean over launches with the error of what varies within each, where neighbours in time say less than they
/// seem to.
fn pooled(launches: &[Vec<f64>]) -> Option<StudentT> {
    let tests: Option<Vec<StudentT>> = launches
        .iter()
        .map(|values| {
            let (count, worth) = (values.len() as f64, effective_count(values));
            let test = StudentT::of(values)?;
            let error = test.error * (count / worth).sqrt();
            // `worth` is itself a guess from few values; it is not allowed to take all freedom.
            let freedom = (worth - 1.0).max((count - 1.0) / 2.0);
            Some(StudentT { mean: hodges_lehmann(values)?, error, freedom })
        })
        .collect();
    let tests = tests?;
    let count = tests.len() as f64;
    let mean = tests.iter().map(|test| test.mean).sum::<f64>() / count;
    let error = tests.iter().map(|test| test.error.powi(2)).sum::<f64>().sqrt() / count;
    let freedom = tests.iter().map(|test| test.freedom).fold(f64::INFINITY, f64::min);
    (freedom > 0.0 && freedom.is_finite()).then_some(StudentT { mean, error, freedom })
}
