//! The exact distribution of a rank statistic, and the interval that inverting its test gives.

use super::Interval;

/// The probability of a statistic of at most `statistic`, from those of each value.
pub(super) fn at_most(probabilities: &[f64], statistic: usize) -> f64 {
    probabilities.iter().take(statistic + 1).sum()
}

/// The interval of all values that a two-sided test at `alpha` does not refuse, from the estimates by pair (Walsh
/// averages or differences): as many are cut off at each end as there are statistics that refuse. Absent where none
/// does (Hollander, Wolfe and Chicken 2013, sections 3.3 and 4.3).
pub(super) fn interval(
    probabilities: &[f64],
    mut estimates: Vec<f64>,
    alpha: f64,
) -> Option<Interval> {
    let refused = (0..probabilities.len())
        .take_while(|statistic| 2.0 * at_most(probabilities, *statistic) <= alpha)
        .count();
    estimates.sort_by(f64::total_cmp);
    let low = refused.checked_sub(1)?;
    Some(Interval { low: estimates[low], high: estimates[estimates.len() - refused] })
}
