//! How much neighbours in time say about each other.

use super::median::mean;

/// How many independent values a series is worth, from its correlation at lag 1; at least 1, at most their number.
///
/// Source: n (1 - r) / (1 + r), the variance of the mean of an autoregressive series of order 1 (Bartlett 1946). The estimate
/// of r is too low in short series by about (1 + 4 r) / n (Kendall 1954), which is added back. Assumes that
/// correlation decays geometrically; slower drifts are removed by pairing, not here.
pub fn effective_count(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let Some(mean) = mean(values) else { return 0.0 };
    let square = |value: &f64| (value - mean).powi(2);
    let total: f64 = values.iter().map(square).sum();
    if values.len() < 3 || total == 0.0 {
        return count;
    }
    let products: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    let raw = products / total;
    let correlation = ((raw * count + 1.0) / (count - 4.0).max(1.0)).clamp(0.0, 0.99);
    (count * (1.0 - correlation) / (1.0 + correlation)).clamp(1.0, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_that_alternates_is_worth_its_length() {
        let values: Vec<f64> = (0..40).map(|i| f64::from(i % 2)).collect();
        assert_eq!(effective_count(&values), 40.0);
    }

    #[test]
    fn a_series_that_wanders_is_worth_less() {
        let values: Vec<f64> = (0..40).map(|i| (f64::from(i) / 6.0).sin()).collect();
        let worth = effective_count(&values);
        assert!((1.0..4.0).contains(&worth), "{worth}");
    }

    #[test]
    fn short_and_constant_series_are_taken_as_they_are() {
        assert_eq!(effective_count(&[]), 0.0);
        assert_eq!(effective_count(&[1.0, 2.0]), 2.0);
        assert_eq!(effective_count(&[3.0; 5]), 5.0);
    }
}
