//! From an estimate, that of the base against itself and a margin to a verdict.

use super::estimate::{ALPHA, Estimate, Method};
use super::result::{Family, Verdict};
use crate::stats::Interval;

/// What is declared before anybody looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Policy {
    /// The smallest difference that matters, as a share of the base's time.
    pub margin: f64,
    /// Against what many rows at once are guarded.
    pub family: Family,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy { margin: 0.01, family: Family::FewFalse }
    }
}

/// How far the base lies from itself by chance, as a logarithm: the reach of the control's interval, or of its launches
/// where that is less.
pub(super) fn spread(control: &Estimate) -> f64 {
    let reach = control.interval.map_or(f64::INFINITY, Interval::reach);
    match control.method {
        // What is allowed for unseen launches is in the arm's own interval already.
        Method::WithinLaunches { widened } => reach - widened,
        _ if control.by_launch.is_empty() => reach,
        _ => {
            let of_launches = control.by_launch.iter().map(|one| one.abs());
            reach.min(of_launches.fold(control.log_ratio.abs(), f64::max))
        }
    }
}

/// A verdict with its reason. Where the base was not measured against itself, chance is allowed half as much.
pub(super) fn decide(
    estimate: &Estimate,
    adjusted: f64,
    tested: usize,
    control: Option<&Estimate>,
    policy: Policy,
) -> (Verdict, String) {
    let margin = policy.margin.ln_1p();
    let cannot_tell = |why: String| (Verdict::CannotTell, why);
    let Some(interval) = estimate.interval else {
        let why = "too few blocks or samples in one or two launches to know how much they vary";
        return cannot_tell(why.to_owned());
    };
    let differs = !interval.contains(0.0);
    if let Some(control) = control.filter(|control| biased(control, margin)) {
        let by = percent(control.log_ratio);
        return cannot_tell(format!(
            "the base differs from itself by {by}: the setting is not even"
        ));
    }
    if differs && estimate.log_ratio.abs() >= margin {
        let by = percent(estimate.log_ratio);
        let level = if control.is_some() { ALPHA } else { ALPHA / 2.0 };
        if adjusted > level {
            return cannot_tell(unsure(&by, estimate.p, adjusted, level, tested));
        }
        if let Some(around) =
            control.map(spread).filter(|spread| estimate.log_ratio.abs() <= *spread)
        {
            let around = percent(around);
            return cannot_tell(format!(
                "{by} is within the {around} that the base shows against itself"
            ));
        }
        let against = control.map_or_else(
            || ", without a control".to_owned(),
            |control| format!(", the base against itself {}", percent(control.log_ratio)),
        );
        let verdict = if estimate.log_ratio < 0.0 { Verdict::Faster } else { Verdict::Slower };
        return (verdict, format!("{by}{against}{}", caution(estimate)));
    }
    if interval.reach() <= margin {
        let margin = policy.margin * 100.0;
        return (Verdict::Same, format!("within {margin}%{}", caution(estimate)));
    }
    let [low, high] = [interval.low, interval.high].map(percent);
    cannot_tell(match differs {
        true => format!("{low} to {high}: on one side, but it may be less than the margin"),
        false => format!("{low} to {high}: both sides are possible"),
    })
}

/// A difference that may be chance.
fn unsure(by: &str, p: f64, adjusted: f64, level: f64, tested: usize) -> String {
    match p > level {
        true => format!("{by} has p = {p:.4}, and without a control {level} is needed"),
        false => format!(
            "{by} has p = {p:.4} alone and {adjusted:.4} among {tested} rows; {level} is needed: more launches"
        ),
    }
}

/// Whether the base is not the same as itself, by an amount that matters.
fn biased(control: &Estimate, margin: f64) -> bool {
    let differs = control.interval.is_some_and(|interval| !interval.contains(0.0));
    differs && control.log_ratio.abs() >= margin
}

/// What a verdict of few launches does not know.
fn caution(estimate: &Estimate) -> String {
    match estimate.method {
        Method::WithinLaunches { widened } => format!(
            " ({} only, which cannot show how launches differ: the interval is at 99 % and {} wider)",
            match estimate.launches {
                1 => "one launch".to_owned(),
                launches => format!("{launches} launches"),
            },
            percent(widened),
        ),
        Method::SignedRank | Method::RankSum | Method::StudentT | Method::Welch => String::new(),
    }
}

/// A logarithm of a ratio of times as a change in percent.
fn percent(log_ratio: f64) -> String {
    format!("{:+.2}%", log_ratio.exp_m1() * 100.0)
}
