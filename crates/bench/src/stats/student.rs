//! Student's t distribution, for means of few values.

use super::Interval;
use super::median::mean;

/// A mean whose error has Student's t distribution.
///
/// Source: Student 1908; for two samples Welch 1947, whose degrees of freedom need not be whole. Assumes that values (here:
/// effects of launches, each a middle of many samples) are independent and about normal; heavier tails make it stricter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StudentT {
    /// The estimate.
    pub mean: f64,
    /// Its standard error; 0 where all values are the same.
    pub error: f64,
    /// The degrees of freedom, above 0.
    pub freedom: f64,
}

impl StudentT {
    /// The mean of one sample; absent of fewer than two values.
    pub fn of(values: &[f64]) -> Option<StudentT> {
        let count = values.len() as f64;
        let mean = mean(values)?;
        let error = (variance(values)? / count).sqrt();
        Some(StudentT { mean, error, freedom: count - 1.0 })
    }

    /// The mean of the second less that of the first, whose variances may differ; absent where one has fewer than
    /// two values.
    pub fn between(first: &[f64], second: &[f64]) -> Option<StudentT> {
        StudentT::of(second)?.less(StudentT::of(first)?)
    }

    /// This mean less another one that is independent of it.
    pub fn less(self, other: StudentT) -> Option<StudentT> {
        let [a, b] = [other.error.powi(2), self.error.powi(2)];
        let freedom = match a + b > 0.0 {
            true => (a + b).powi(2) / (a.powi(2) / other.freedom + b.powi(2) / self.freedom),
            false => self.freedom.min(other.freedom),
        };
        let mean = self.mean - other.mean;
        (freedom > 0.0).then_some(StudentT { mean, error: (a + b).sqrt(), freedom })
    }

    /// The two-sided p-value of the true mean being 0.
    pub fn p_value(&self) -> f64 {
        match self.error > 0.0 {
            true => two_sided(self.mean / self.error, self.freedom),
            false if self.mean == 0.0 => 1.0,
            false => 0.0,
        }
    }

    /// The interval of confidence 1 - alpha.
    pub fn interval(&self, alpha: f64) -> Interval {
        let half = t_quantile(1.0 - alpha / 2.0, self.freedom) * self.error;
        Interval { low: self.mean - half, high: self.mean + half }
    }

    /// The smallest true mean that a two-sided test at `alpha` finds with such a probability: the sum of both quantiles
    /// times the error (the usual approximation; it is a little low for very few values).
    pub fn detectable(&self, alpha: f64, power: f64) -> f64 {
        let quantiles =
            t_quantile(1.0 - alpha / 2.0, self.freedom) + t_quantile(power, self.freedom);
        quantiles * self.error
    }
}

/// The unbiased variance; absent of fewer than two values.
pub(super) fn variance(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| squares / (values.len() - 1) as f64)
}

/// The probability that |t| is larger: a regularised incomplete beta function (Abramowitz and Stegun 26.7.1).
fn two_sided(t: f64, freedom: f64) -> f64 {
    incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t))
}

/// The t below which a share of at least one half lies, by bisection: slow and sure.
fn t_quantile(share: f64, freedom: f64) -> f64 {
    let above = 2.0 * (1.0 - share);
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    while two_sided(high, freedom) > above && high < 1e9 {
        high *= 2.0;
    }
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        match two_sided(middle, freedom) > above {
            true => low = middle,
            false => high = middle,
        }
    }
    f64::midpoint(low, high)
}

/// The regularised incomplete beta function, by its continued fraction (Lentz's way; *Numerical Recipes* 6.4).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let in_front =
        ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln() - a.ln();
    let away_from_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..500 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = fraction;
        for term in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            fraction *= c * d;
        }
        if (fraction - before).abs() <= 1e-15 * fraction.abs() {
            break;
        }
    }
    in_front.exp() * fraction
}

/// The logarithm of the gamma function of a positive number: Lanczos' approximation with g = 7 and nine terms, as
/// Godfrey computed them; 15 digits.
fn ln_gamma(x: f64) -> f64 {
    const TERMS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let x = x - 1.0;
    let terms = TERMS[1..].iter().enumerate();
    let sum = TERMS[0] + terms.map(|(i, term)| term / (x + i as f64 + 1.0)).sum::<f64>();
    let shifted = x + 7.5;
    0.5 * std::f64::consts::TAU.ln() + (x + 0.5) * shifted.ln() - shifted + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::fixed::{A, B, D};
    use rstest::rstest;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found}, not {expected}");
    }

    /// scipy.stats.ttest_1samp(d, 0) and its confidence_interval(0.95)
    #[test]
    fn one_sample_is_scipys() {
        let t = StudentT::of(&D).unwrap();
        near(t.p_value(), 0.005_977_542_892_855_022);
        let Interval { low, high } = t.interval(0.05);
        near(low, 0.008_409_435_871_985_21);
        near(high, 0.037_390_564_128_014_794);
    }

    /// scipy.stats.ttest_ind(b, a, equal_var=False) and its confidence_interval(0.95)
    #[test]
    fn two_samples_are_scipys() {
        let t = StudentT::between(&A, &B).unwrap();
        near(t.freedom, 12.571_623_343_242_212);
        near(t.p_value(), 0.002_226_705_622_157_941_7);
        let Interval { low, high } = t.interval(0.05);
        near(low, 0.402_391_044_555_338_7);
        near(high, 1.454_751_812_587_515_4);
    }

    /// scipy.stats.t.ppf(share, freedom)
    #[rstest]
    #[case(0.975, 2.0, 4.302_652_729_749_462)]
    #[case(0.975, 9.0, 2.262_157_162_798_205)]
    #[case(0.995, 3.7, 4.869_252_253_227_827_5)]
    #[case(0.8, 4.0, 0.940_964_577_235_181_6)]
    fn quantiles_are_scipys(#[case] share: f64, #[case] freedom: f64, #[case] expected: f64) {
        near(t_quantile(share, freedom), expected);
    }

    /// scipy.stats.t.sf(2.5, 4) * 2
    #[test]
    fn tails_are_scipys() {
        near(two_sided(2.5, 4.0), 0.066_766_544_811_988_14);
    }

    #[test]
    fn values_without_spread_are_certain() {
        assert_eq!(StudentT::of(&[0.0; 3]).unwrap().p_value(), 1.0);
        assert_eq!(StudentT::of(&[0.02; 3]).unwrap().error, 0.0);
        assert_eq!(StudentT::of(&[1.0]), None);
    }
}
