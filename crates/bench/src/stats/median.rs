//! Middles of samples.

/// The median; absent where there is no value. Of an even number it is the mean of the two in the middle.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The value below which a share of the values lies, interpolated linearly between neighbours (type 7 of Hyndman and
/// Fan 1996, the default of NumPy); absent where there is no value.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let place = share.clamp(0.0, 1.0) * last as f64;
    let (lower, part) = (place.floor() as usize, place.fract());
    let mut sorted = values.to_vec();
    let (_, low, above) = sorted.select_nth_unstable_by(lower, f64::total_cmp);
    let low = *low;
    match above.iter().copied().min_by(f64::total_cmp) {
        Some(high) if part > 0.0 => Some(low + (high - low) * part),
        _ => Some(low),
    }
}

/// The arithmetic mean; absent where there is no value.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::none(&[], 0.5, None)]
    #[case::one(&[3.0], 0.5, Some(3.0))]
    #[case::odd(&[9.0, 1.0, 5.0], 0.5, Some(5.0))]
    #[case::even(&[9.0, 1.0, 5.0, 6.0], 0.5, Some(5.5))]
    #[case::least(&[9.0, 1.0, 5.0], 0.0, Some(1.0))]
    #[case::most(&[9.0, 1.0, 5.0], 1.0, Some(9.0))]
    // numpy.quantile([4, 1, 3, 2], 0.9)
    #[case::between(&[4.0, 1.0, 3.0, 2.0], 0.9, Some(3.7))]
    fn quantiles_are_interpolated(
        #[case] values: &[f64],
        #[case] share: f64,
        #[case] expected: Option<f64>,
    ) {
        let got = quantile(values, share);
        assert_eq!(got.is_some(), expected.is_some());
        assert!((got.unwrap_or(0.0) - expected.unwrap_or(0.0)).abs() < 1e-12, "{got:?}");
    }
}
