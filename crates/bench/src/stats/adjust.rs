//! Many tests at once.

/// p-values so that the chance of any false discovery among them stays below the level, in the given order.
///
/// Source: Holm 1979. Assumes nothing about how the tests depend on each other.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (place, index) in ascending(p_values).into_iter().enumerate() {
        let factor = (p_values.len() - place) as f64;
        largest = largest.max((p_values[index] * factor).min(1.0));
        adjusted[index] = largest;
    }
    adjusted
}

/// p-values so that the expected share of false ones among the discoveries stays below the level, in the given order.
///
/// Source: Benjamini and Hochberg 1995. Assumes that tests are independent or depend positively on each other.
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![0.0; p_values.len()];
    let mut least = 1.0_f64;
    for (place, index) in ascending(p_values).into_iter().enumerate().rev() {
        let factor = p_values.len() as f64 / (place + 1) as f64;
        least = least.min(p_values[index] * factor);
        adjusted[index] = least;
    }
    adjusted
}

/// The indices of values, the smallest value first.
fn ascending(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: [f64; 5] = [0.01, 0.04, 0.03, 0.005, 0.5];

    fn near(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        let close = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close, "{found:?}, not {expected:?}");
    }

    /// By hand: 0.005 * 5, 0.01 * 4, 0.03 * 3, then not below what came before.
    #[test]
    fn holm_steps_down() {
        near(&holm(&P), &[0.04, 0.09, 0.09, 0.025, 0.5]);
        near(&holm(&[]), &[]);
        near(&holm(&[0.7, 0.9]), &[1.0, 1.0]);
    }

    /// scipy.stats.false_discovery_control(p)
    #[test]
    fn benjamini_hochberg_is_scipys() {
        near(&benjamini_hochberg(&P), &[0.025, 0.05, 0.05, 0.025, 0.5]);
    }
}
