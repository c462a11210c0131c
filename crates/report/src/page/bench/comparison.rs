//! The page of a comparison.

use std::collections::BTreeMap;

use bench::compare::{Compared, Comparison, Verdict};

use super::figures::{Group, line_name, panel, telling};
use crate::comparison::words::{
    NONE, bandwidth, change, counts, declared, interval, p_value, share, sides, time,
};
use crate::page::html::{escaped, filter, list, page, section, table, verdict};
use crate::page::plot::{Axis, Point, Unit};

/// A page of a comparison.
pub fn comparison_page(comparison: &Comparison) -> String {
    let mut body = outcome(comparison);
    let sources = comparison
        .sources
        .iter()
        .map(|source| format!("{}: {} {}", source.name, source.paths.join(", "), source.hardware));
    let notes: Vec<String> = sources.chain(comparison.notes.iter().cloned()).collect();
    body += &list(&notes);
    body += &rows_of(comparison);
    body += &ratio_figures(comparison);
    body += &slices_of(comparison);
    page("rankcheck: comparison", &body)
}

/// The verdict of all rows.
pub(super) fn outcome(comparison: &Comparison) -> String {
    let has = |verdict: Verdict| comparison.rows.iter().any(|row| row.verdict == Some(verdict));
    let invalid = comparison.rows.iter().any(|row| row.invalid);
    let (class, word) = match () {
        () if invalid => ("bad", "INVALID"),
        () if has(Verdict::Slower) => ("bad", "SLOWER"),
        () if has(Verdict::CannotTell) || comparison.tested == 0 => ("open", "CANNOT TELL"),
        () if has(Verdict::Faster) => ("good", "FASTER"),
        () => ("good", "SAME"),
    };
    let word =
        if invalid || comparison.rows.len() < 2 { word.to_owned() } else { format!("SOME {word}") };
    let uniform = comparison.rows.windows(2).all(|rows| rows[0].verdict == rows[1].verdict);
    let word = if uniform { word.trim_start_matches("SOME ") } else { &word };
    verdict(class, word, &counts(comparison))
        + &format!("<p class=\"faint\">{}.</p>\n", escaped(&declared(comparison)))
}

/// The table of rows.
pub(super) fn rows_of(comparison: &Comparison) -> String {
    let head = [
        "verdict",
        "#change",
        "row",
        "arm",
        "#base us",
        "#us",
        "#GB/s",
        "#base against itself",
        "#p adjusted",
        "#would find",
        "reason",
    ];
    let rows: Vec<(String, Vec<String>)> = comparison.rows.iter().map(line).collect();
    section("verdicts", "Verdicts")
        + &filter("compared", "rows")
        + &table(
            "compared",
            "A change above 0 is slower; its interval is in brackets",
            &head,
            &rows,
        )
}

fn line(row: &Compared) -> (String, Vec<String>) {
    let ratio = row.ratio.as_ref();
    let or_none = |text: Option<String>| text.unwrap_or_else(|| NONE.to_owned());
    let class = match row.verdict {
        Some(Verdict::Slower) => "bad",
        Some(Verdict::Faster) => "good",
        Some(Verdict::CannotTell) => "open",
        None if row.invalid => "bad",
        Some(Verdict::Same) | None => "",
    };
    let why = match &row.layout {
        Some(layout) => format!("{} (layout: {layout})", row.why),
        None => row.why.clone(),
    };
    let control = row.control.as_ref();
    let cells = vec![
        format!("<span class=\"word\">{}</span>", row.verdict.map_or(NONE, Verdict::name)),
        or_none(ratio.map(|ratio| stacked(ratio.estimate, ratio.low, ratio.high))),
        format!("<span class=\"id\">{}</span>", escaped(&row.id)),
        escaped(&sides(row)),
        time(row.base.median_ns),
        time(row.arm.median_ns),
        bandwidth(row.arm.busbw_gbs),
        or_none(control.map(|control| stacked(control.estimate, control.low, control.high))),
        or_none(ratio.map(|ratio| escaped(&p_value(ratio.p_adjusted)))),
        or_none(ratio.and_then(|ratio| ratio.detectable).map(share)),
        escaped(&why),
    ];
    (class.to_owned(), cells)
}

/// A change with its interval below it, so that the column is narrow.
fn stacked(estimate: f64, low: Option<f64>, high: Option<f64>) -> String {
    interval(estimate, low, high).replacen(" [", "<br>[", 1)
}

/// Ratios with their intervals against size.
pub(super) fn ratio_figures(comparison: &Comparison) -> String {
    let mut groups: BTreeMap<Group, Vec<&Compared>> = BTreeMap::new();
    for row in comparison.rows.iter().filter(|row| row.bytes > 0 && row.ratio.is_some()) {
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
        let mut lines: BTreeMap<String, Vec<Point>> = BTreeMap::new();
        for row in rows {
            let Some(ratio) = &row.ratio else { continue };
            let interval = ratio.low.zip(ratio.high).map(|(low, high)| [low, high]);
            let point = Point { x: row.bytes as f64, y: ratio.estimate, interval };
            let name = line_name(&sides(row), &row.axes, &telling);
            lines.entry(name).or_default().push(point);
        }
        let axis = Axis { name: "time over the base's", unit: Unit::Ratio, logarithmic: false };
        let caption = format!(
            "{}: ratio with its interval; above the line at 1.0 is slower",
            group.heading()
        );
        html += &panel(lines, axis, &caption, Some(1.0));
    }
    match html.is_empty() {
        true => html,
        false => format!("{}<div class=\"figures\">{html}</div>\n", section("ratios", "Ratios")),
    }
}

/// The table of slices.
pub(super) fn slices_of(comparison: &Comparison) -> String {
    let slices: Vec<_> = comparison.slices.iter().filter(|slice| slice.rows > 1).collect();
    if slices.is_empty() {
        return String::new();
    }
    let head = [
        "arm",
        "slice",
        "#rows",
        "#median",
        "#mean",
        "#min",
        "#max",
        "#slower",
        "#faster",
        "#same",
        "#cannot tell",
        "#without",
    ];
    let rows = slices.into_iter().map(|slice| {
        let of = |pick: fn(bench::compare::Spread) -> f64| {
            slice.ratios.map_or(NONE.to_owned(), |ratios| change(pick(ratios)))
        };
        let mut cells = vec![
            escaped(&slice.arm),
            escaped(&slice.of),
            slice.rows.to_string(),
            of(|ratios| ratios.median),
            of(|ratios| ratios.mean),
            of(|ratios| ratios.min),
            of(|ratios| ratios.max),
        ];
        cells.extend(
            Verdict::ALL
                .map(|verdict| slice.verdicts.get(&verdict).copied().unwrap_or(0).to_string()),
        );
        cells.push(slice.without.to_string());
        (String::new(), cells)
    });
    let rows: Vec<(String, Vec<String>)> = rows.collect();
    section("slices", "Slices")
        + &table("slices", "Rows taken together; the mean is geometric", &head, &rows)
}
