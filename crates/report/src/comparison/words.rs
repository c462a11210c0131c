//! How numbers of a comparison are spelled, the same in every report.

use bench::compare::{Compared, Comparison, Family, Verdict};

/// What stands where there is no number.
pub(crate) const NONE: &str = "—";

/// A ratio of times as a change in percent.
pub(crate) fn change(ratio: f64) -> String {
    format!("{:+.2}%", (ratio - 1.0) * 100.0)
}

/// A share in percent.
pub(crate) fn share(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

/// A change with its interval.
pub(crate) fn interval(estimate: f64, low: Option<f64>, high: Option<f64>) -> String {
    match low.zip(high) {
        Some((low, high)) => format!("{} [{}, {}]", change(estimate), change(low), change(high)),
        None => change(estimate),
    }
}

/// A time in microseconds.
pub(crate) fn time(ns: Option<f64>) -> String {
    ns.map_or_else(|| NONE.to_owned(), |ns| format!("{:.2}", ns / 1e3))
}

/// A bandwidth in GB/s.
pub(crate) fn bandwidth(gbs: Option<f64>) -> String {
    gbs.map_or_else(|| NONE.to_owned(), |gbs| format!("{gbs:.2}"))
}

/// A p-value, to be read and not to be counted with.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.0001 { "<0.0001".to_owned() } else { format!("{p:.4}") }
}

/// How many rows have which verdict, and how many have none.
pub(crate) fn counts(comparison: &Comparison) -> String {
    let rows = &comparison.rows;
    let mut parts: Vec<String> = Verdict::ALL
        .into_iter()
        .map(|verdict| {
            let count = rows.iter().filter(|row| row.verdict == Some(verdict)).count();
            format!("{count} {}", verdict.name())
        })
        .collect();
    let without = rows.iter().filter(|row| row.ratio.is_none()).count();
    if without > 0 {
        parts.push(format!("{without} without a ratio"));
    }
    parts.join(", ")
}

/// What was declared before anybody looked.
pub(crate) fn declared(comparison: &Comparison) -> String {
    let family = match comparison.family {
        Family::AnyFalse => "Holm",
        Family::FewFalse => "Benjamini-Hochberg",
    };
    format!(
        "margin {}, 95 % intervals, p adjusted for {} rows ({family}); a change above 0 is slower",
        share(comparison.margin),
        comparison.tested,
    )
}

/// What is compared with what, in one row.
pub(crate) fn sides(row: &Compared) -> String {
    match row.base.arm == row.arm.arm {
        true => row.arm.arm.clone(),
        false => format!("{} against {}", row.arm.arm, row.base.arm),
    }
}
