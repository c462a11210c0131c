//! For reviewers, in a CI summary or a comment.

use bench::compare::{Compared, Comparison, Verdict};

use super::words::{
    NONE, bandwidth, change, counts, declared, interval, p_value, share, sides, time,
};

/// A comparison as Markdown: the verdict, a table of rows, the slices, notes.
pub fn comparison_markdown(comparison: &Comparison) -> String {
    let mut lines = vec![
        format!("## rankcheck compare: {}", counts(comparison)),
        String::new(),
        format!("{}.", declared(comparison)),
    ];
    for source in &comparison.sources {
        let hardware = match source.hardware.is_empty() {
            true => String::new(),
            false => format!(", {}", source.hardware),
        };
        let seed = source.seed.map_or_else(String::new, |seed| format!(", seed {seed}"));
        lines.push(format!("- {}: `{}`{hardware}{seed}", source.name, source.paths.join("`, `")));
    }
    lines.extend([
        String::new(),
        "| verdict | row | arm | base us | us | GB/s | change | base against itself | p adjusted | would find | reason |".into(),
        "|---|---|---|--:|--:|--:|--:|--:|--:|--:|---|".into(),
    ]);
    lines.extend(comparison.rows.iter().map(row));
    let slices: Vec<_> = comparison.slices.iter().filter(|slice| slice.rows > 1).collect();
    if !slices.is_empty() {
        lines.extend([
            String::new(),
            "| slice | rows | median | mean | min | max | slower | faster | same | cannot tell | without |".into(),
            "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|".into(),
        ]);
    }
    for slice in slices {
        let of = |pick: fn(bench::compare::Spread) -> f64| {
            slice.ratios.map_or(NONE.to_owned(), |ratios| change(pick(ratios)))
        };
        let verdicts = Verdict::ALL
            .map(|verdict| slice.verdicts.get(&verdict).copied().unwrap_or(0).to_string());
        lines.push(format!(
            "| {} {} | {} | {} | {} | {} | {} | {} | {} |",
            cell(&slice.arm),
            cell(&slice.of),
            slice.rows,
            of(|ratios| ratios.median),
            of(|ratios| ratios.mean),
            of(|ratios| ratios.min),
            of(|ratios| ratios.max),
            verdicts.join(" | "),
            slice.without,
        ));
    }
    if !comparison.notes.is_empty() {
        lines.push(String::new());
    }
    lines.extend(comparison.notes.iter().map(|note| format!("- {}", cell(note))));
    lines.join("\n") + "\n"
}

fn row(row: &Compared) -> String {
    let ratio = row.ratio.as_ref();
    let or_none = |text: Option<String>| text.unwrap_or_else(|| NONE.to_owned());
    let verdict = row.verdict.map_or(NONE.to_owned(), |verdict| match verdict {
        Verdict::Slower | Verdict::Faster => format!("**{}**", verdict.name()),
        Verdict::Same | Verdict::CannotTell => verdict.name().to_owned(),
    });
    let why = match &row.layout {
        Some(layout) => format!("{} (layout: {layout})", row.why),
        None => row.why.clone(),
    };
    format!(
        "| {verdict} | `{}` | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        cell(&row.id),
        cell(&sides(row)),
        time(row.base.median_ns),
        time(row.arm.median_ns),
        bandwidth(row.arm.busbw_gbs),
        or_none(ratio.map(|ratio| interval(ratio.estimate, ratio.low, ratio.high))),
        or_none(
            row.control
                .as_ref()
                .map(|control| { interval(control.estimate, control.low, control.high) })
        ),
        or_none(ratio.map(|ratio| p_value(ratio.p_adjusted))),
        or_none(ratio.and_then(|ratio| ratio.detectable).map(share)),
        cell(&why),
    )
}

/// Text that does not end its cell.
fn cell(text: &str) -> String {
    text.lines().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
