//! Bandwidth and latency against size: a figure for each collective and dtype, a panel for each number of ranks.

use std::collections::{BTreeMap, BTreeSet};

use bench::compare::evidence::times;
use bench::file::{ArmKind, BenchFile, Row};
use bench::stats::median;

use crate::page::html::{escaped, figure, section};
use crate::page::plot::{Axis, Point, SERIES, Series, Unit, legend, plot};

/// Axes that are the size itself.
const SIZES: [&str; 5] = ["m", "n", "shape", "bytes", "count"];

/// The horizontal axis of all these figures.
pub(super) const SIZE: Axis<'static> =
    Axis { name: "bytes of the operation", unit: Unit::Bytes, logarithmic: true };

/// One figure: what its rows have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Group {
    pub(super) collective: String,
    pub(super) dtype: String,
    pub(super) mode: String,
    pub(super) ranks: u32,
}

impl Group {
    pub(super) fn heading(&self) -> String {
        let parts = [self.collective.as_str(), self.dtype.as_str(), self.mode.as_str()];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        format!("{}, {} ranks", parts.join(", "), self.ranks)
    }
}

/// The axes that tell apart what is drawn in one figure, besides its size.
pub(super) fn telling<'a>(rows: impl Iterator<Item = &'a BTreeMap<String, String>>) -> Vec<String> {
    let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (axis, value) in rows.flatten() {
        values.entry(axis).or_default().insert(value);
    }
    let telling = values
        .into_iter()
        .filter(|(axis, values)| values.len() > 1 && *axis != "dtype" && !SIZES.contains(axis));
    telling.map(|(axis, _)| axis.to_owned()).collect()
}

/// What a line is called.
pub(super) fn line_name(arm: &str, axes: &BTreeMap<String, String>, telling: &[String]) -> String {
    let parts = telling.iter().filter_map(|axis| Some(format!("{axis} {}", axes.get(axis)?)));
    [arm.to_owned()].into_iter().chain(parts).collect::<Vec<_>>().join(", ")
}

/// The figures of a file, with valid points only.
pub(super) fn of_file(file: &BenchFile) -> String {
    let mut groups: BTreeMap<Group, Vec<&Row>> = BTreeMap::new();
    for row in file.rows.iter().filter(|row| row.bytes > 0) {
        let group = Group {
            collective: row.collective.clone(),
            dtype: row.axes.get("dtype").cloned().unwrap_or_default(),
            mode: row.mode.clone(),
            ranks: row.ranks,
        };
        groups.entry(group).or_default().push(row);
    }
    let mut html = String::new();
    for (group, rows) in groups {
        let telling = telling(rows.iter().map(|row| &row.axes));
        let mut busbw: BTreeMap<String, Vec<Point>> = BTreeMap::new();
        let mut latency: BTreeMap<String, Vec<Point>> = BTreeMap::new();
        for (row, arm, ns) in rows.iter().flat_map(|row| points(row)) {
            let name = line_name(&row.arms[arm].name, &row.axes, &telling);
            let point = |y: f64| Point { x: row.bytes as f64, y, interval: None };
            let rate = row.bytes as f64 * row.bus_factor / ns;
            busbw.entry(name.clone()).or_default().push(point(rate));
            latency.entry(name).or_default().push(point(ns / 1e3));
        }
        let rate = Axis { name: "bus bandwidth, GB/s", unit: Unit::Bandwidth, logarithmic: false };
        let time = Axis { name: "time, us", unit: Unit::Microseconds, logarithmic: true };
        let heading = group.heading();
        let drawn =
            [(busbw, rate, "bus bandwidth against size"), (latency, time, "time against size")]
                .map(|(lines, axis, what)| panel(lines, axis, &format!("{heading}: {what}"), None));
        if drawn.iter().any(|html| !html.is_empty()) {
            html += &format!(
                "<h3>{}</h3><div class=\"figures\">{}</div>\n",
                escaped(&heading),
                drawn.concat()
            );
        }
    }
    match html.is_empty() {
        true => html,
        false => section("figures", "Bandwidth and time") + &html,
    }
}

/// A plot of lines with its legend; of too many lines several plots.
pub(super) fn panel(
    lines: BTreeMap<String, Vec<Point>>,
    axis: Axis<'_>,
    caption: &str,
    at: Option<f64>,
) -> String {
    let sizes: BTreeSet<u64> = lines.values().flatten().map(|point| point.x as u64).collect();
    let series: Vec<Series> = lines
        .into_iter()
        .map(|(name, mut points)| {
            let has = |size: u64| points.iter().any(|point| point.x as u64 == size);
            // A size that others have and this line has not is a gap, not a way between its neighbours.
            let missing: Vec<u64> = sizes.iter().copied().filter(|size| !has(*size)).collect();
            let gap = |size: u64| Point { x: size as f64, y: f64::NAN, interval: None };
            points.extend(missing.into_iter().map(gap));
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            Series { name, points }
        })
        .collect();
    let plots = series.chunks(SERIES).filter_map(|series| {
        let svg = plot(series, [SIZE, axis], at)?;
        let names: Vec<&str> = series.iter().map(|series| series.name.as_str()).collect();
        let alternative =
            format!("{caption}; lines: {}; the numbers are in the table", names.join("; "));
        Some(format!("<div>{}{}</div>", figure(&svg, &alternative, caption), legend(series)))
    });
    plots.collect()
}

/// The arms of a row whose median may be drawn.
fn points(row: &Row) -> Vec<(&Row, usize, f64)> {
    let valid = |arm: usize| {
        let of = |which: Option<usize>| which.is_none_or(|which| which == arm);
        row.skipped.is_none() && !row.invalid.iter().any(|invalid| of(invalid.arm))
    };
    let arms = row.arms.iter().enumerate().filter(|(_, arm)| arm.kind != ArmKind::Control);
    let medians = arms.filter(|(arm, _)| valid(*arm)).filter_map(|(arm, _)| {
        let ns = median(&times(row, arm)).filter(|ns| *ns > 0.0)?;
        Some((row, arm, ns))
    });
    medians.collect()
}
