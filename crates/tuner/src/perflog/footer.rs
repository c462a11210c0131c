//! The two lines below the rows, and whether they agree with the rows.

use super::half::{half_unit, number};
use super::model::{Average, Footer, OutOfBounds, Row};

/// Reads `... Out of bounds values : K OK|FAILED`; `Some(Err)` where the line is garbled.
pub(super) fn out_of_bounds(line: &str) -> Option<Result<OutOfBounds, ()>> {
    let (_, rest) = line.split_once("Out of bounds values")?;
    let mut tokens = rest.trim_start_matches([' ', ':']).split_whitespace();
    let count = tokens.next().and_then(|token| token.parse().ok());
    let ok = match tokens.next() {
        Some("OK") => Some(true),
        Some("FAILED") => Some(false),
        _ => None,
    };
    Some(count.zip(ok).map(|(count, ok)| OutOfBounds { count, ok }).ok_or(()))
}

/// Reads `... Avg bus bandwidth : X [OK|FAILED]`; `Some(Err)` where the line is garbled.
pub(super) fn average(line: &str) -> Option<Result<Average, ()>> {
    let (_, rest) = line.split_once("Avg bus bandwidth")?;
    let mut tokens = rest.trim_start_matches([' ', ':']).split_whitespace();
    let value = tokens.next().and_then(|token| Some((number(token)?, half_unit(token))));
    let ok = match tokens.next() {
        Some("OK") => Some(true),
        Some("FAILED") => Some(false),
        _ => None,
    };
    Some(value.map(|(busbw_gbs, slack)| Average { busbw_gbs, ok, slack }).ok_or(()))
}

/// Where a run's footer and rows contradict each other. Silent about the mean where several worlds
/// share the rows.
pub(super) fn contradictions(footer: &Footer, rows: &[&Row]) -> Vec<String> {
    let halves: Vec<_> = rows.iter().flat_map(|row| &row.halves).collect();
    let wrong = halves.iter().filter(|half| half.check.is_wrong()).count() as u64;
    let mut found = Vec::new();
    let said: u64 = footer.out_of_bounds.iter().map(|line| line.count).sum();
    if !footer.out_of_bounds.is_empty() && said < wrong {
        found.push(format!(
            "the footer counts {said} out-of-bounds checks, but {wrong} halves of rows are wrong"
        ));
    }
    if let ([average], [_, ..]) = (footer.averages.as_slice(), halves.as_slice())
        && footer.worlds <= 1
    {
        let count = halves.len() as f64;
        let mean = halves.iter().map(|half| half.busbw_gbs).sum::<f64>() / count;
        let slack = halves.iter().map(|half| half.slack.busbw_gbs).sum::<f64>() / count;
        // The printed mean has six digits; the sum of many rows adds its own rounding.
        let allowed = slack + average.slack + 1e-5 * mean;
        if (mean - average.busbw_gbs).abs() > allowed {
            found.push(format!(
                "the footer's mean bus bandwidth is {}, the rows give {mean:.5}: rows are missing \
                 or changed",
                average.busbw_gbs
            ));
        }
    }
    found
}
