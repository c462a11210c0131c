//! Rows taken together: all of them, and those that share a value of an axis.

use std::collections::BTreeMap;

use super::result::{Compared, Slice, Spread};
use crate::stats::{mean, median};

/// The axes whose values are spelled out, in this order; what else a row has comes behind.
const FIRST: [&str; 6] = ["collective", "mode", "ranks", "dtype", "shape", "blocks"];

/// The slices of every arm: all rows, then each axis that has more than one value.
pub(super) fn slices(rows: &[Compared]) -> Vec<Slice> {
    let mut arms: Vec<&str> = Vec::new();
    for row in rows {
        if !arms.contains(&row.arm.arm.as_str()) {
            arms.push(&row.arm.arm);
        }
    }
    let mut slices = Vec::new();
    for arm in arms {
        let of_arm: Vec<&Compared> = rows.iter().filter(|row| row.arm.arm == arm).collect();
        slices.push(slice(arm, "all".to_owned(), &of_arm));
        for axis in axes(&of_arm) {
            let mut values: Vec<(Option<f64>, String, Vec<&Compared>)> = Vec::new();
            for row in &of_arm {
                let Some(value) = value(row, &axis) else { continue };
                match values.iter_mut().find(|(_, known, _)| *known == value) {
                    Some((_, _, rows)) => rows.push(row),
                    None => values.push((leading_number(&value), value, vec![row])),
                }
            }
            if values.len() < 2 {
                continue;
            }
            values.sort_by(|(a, a_text, _), (b, b_text, _)| {
                let numbers = a.unwrap_or(f64::INFINITY).total_cmp(&b.unwrap_or(f64::INFINITY));
                numbers.then_with(|| a_text.cmp(b_text))
            });
            let of_axis = values.into_iter();
            slices.extend(
                of_axis.map(|(_, value, rows)| slice(arm, format!("{axis} {value}"), &rows)),
            );
        }
    }
    slices
}

/// The axes of rows, the best known first.
fn axes(rows: &[&Compared]) -> Vec<String> {
    let mut axes: Vec<String> = FIRST.map(str::to_owned).into();
    for name in rows.iter().flat_map(|row| row.axes.keys()) {
        // Rows and columns are one axis: the shape.
        if name != "m" && name != "n" && !axes.contains(name) {
            axes.push(name.clone());
        }
    }
    axes.push("base at".to_owned());
    axes
}

fn value(row: &Compared, axis: &str) -> Option<String> {
    let given = || row.axes.get(axis).cloned();
    match axis {
        "collective" => Some(row.collective.clone()),
        "mode" => Some(row.mode.clone()).filter(|mode| !mode.is_empty()),
        "ranks" => Some(row.ranks.to_string()),
        "shape" => given().or_else(|| {
            let [m, n] = ["m", "n"].map(|axis| row.axes.get(axis));
            Some(format!("{}x{}", m?, n?))
        }),
        "base at" => row.base.share_of_ceiling.map(band),
        _ => given(),
    }
}

/// In which part of what is possible a bandwidth lies.
fn band(share: f64) -> String {
    let bands = [0.0, 0.25, 0.5, 0.75, 0.9, 1.0];
    let place = bands.iter().rposition(|from| share >= *from).unwrap_or(0);
    let percent = |share: f64| format!("{:.0}", share * 100.0);
    match bands.get(place + 1) {
        Some(to) => format!("{}..{} % of the ceiling", percent(bands[place]), percent(*to)),
        None => "100 % of the ceiling or more".to_owned(),
    }
}

/// So that 8 comes before 16.
fn leading_number(text: &str) -> Option<f64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

fn slice(arm: &str, of: String, rows: &[&Compared]) -> Slice {
    let ratios: Vec<f64> =
        rows.iter().filter_map(|row| row.ratio.as_ref()).map(|ratio| ratio.estimate).collect();
    let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let spread = median(&ratios).zip(mean(&logs)).map(|(median, mean)| Spread {
        median,
        mean: mean.exp(),
        min: ratios.iter().copied().fold(f64::INFINITY, f64::min),
        max: ratios.iter().copied().fold(0.0, f64::max),
    });
    let mut verdicts = BTreeMap::new();
    for verdict in rows.iter().filter_map(|row| row.verdict) {
        *verdicts.entry(verdict).or_default() += 1;
    }
    Slice {
        arm: arm.to_owned(),
        of,
        rows: ratios.len(),
        ratios: spread,
        verdicts,
        without: rows.len() - ratios.len(),
    }
}
