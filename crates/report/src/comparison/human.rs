//! For people, at a terminal.

use bench::compare::{Compared, Comparison, Slice, Verdict};

use super::words::{
    NONE, bandwidth, change, counts, declared, interval, p_value, share, sides, time,
};

/// A comparison as text: the counts of verdicts, every row, slices and notes.
pub fn comparison_text(comparison: &Comparison) -> String {
    let mut text = format!("{}\n{}\n", counts(comparison), declared(comparison));
    for row in &comparison.rows {
        text += &one(row);
    }
    let slices: Vec<&Slice> = comparison.slices.iter().filter(|slice| slice.rows > 1).collect();
    if !slices.is_empty() {
        text += &format!(
            "\n{:<34} {:>5} {:>9} {:>9} {:>9} {:>9}   slower/faster/same/cannot tell\n",
            "slice", "rows", "median", "mean", "min", "max"
        );
        text.extend(slices.into_iter().map(of_slice));
    }
    for note in &comparison.notes {
        text += &format!("note: {note}\n");
    }
    text
}

fn one(row: &Compared) -> String {
    let verdict = row.verdict.map_or(NONE, Verdict::name);
    let mut text = format!("\n{verdict:<12} {}  {}\n", row.id, sides(row));
    if let Some(ratio) = &row.ratio {
        let launches = ratio.launches;
        text += &format!(
            "  {}  p {} (adjusted {})  {launches} launches\n",
            interval(ratio.estimate, ratio.low, ratio.high),
            p_value(ratio.p),
            p_value(ratio.p_adjusted),
        );
    }
    text += &format!(
        "  {} -> {} us, {} -> {} GB/s",
        time(row.base.median_ns),
        time(row.arm.median_ns),
        bandwidth(row.base.busbw_gbs),
        bandwidth(row.arm.busbw_gbs),
    );
    if let Some(of) = row.base.share_of_ceiling {
        text += &format!(", the base at {:.0} % of the ceiling", of * 100.0);
    }
    if let Some(skew) = row.arm.skew {
        text += &format!(", skew {}", share(skew));
    }
    text.push('\n');
    if let Some(control) = &row.control {
        let around = interval(control.estimate, control.low, control.high);
        text += &format!("  base against itself {around}\n");
    }
    if let Some(detectable) = row.ratio.as_ref().and_then(|ratio| ratio.detectable) {
        text += &format!("  would find {}\n", share(detectable));
    }
    text += &format!("  {}\n", row.why);
    if let Some(layout) = &row.layout {
        text += &format!("  layout: {layout}\n");
    }
    text
}

fn of_slice(slice: &Slice) -> String {
    let Some(ratios) = slice.ratios else { return String::new() };
    let verdicts = Verdict::ALL.map(|verdict| slice.verdicts.get(&verdict).copied().unwrap_or(0));
    let name = format!("{} {}", slice.arm, slice.of);
    format!(
        "{name:<34} {:>5} {:>9} {:>9} {:>9} {:>9}   {}\n",
        slice.rows,
        change(ratios.median),
        change(ratios.mean),
        change(ratios.min),
        change(ratios.max),
        verdicts.map(|count| count.to_string()).join("/"),
    )
}
