//! The page of a file of measurements.

use bench::compare::Comparison;
use bench::compare::evidence::{skews, times};
use bench::file::{Arm, BenchFile, Row, Verification};
use bench::stats::{median, quantile};

use super::comparison::{outcome, ratio_figures, rows_of, slices_of};
use super::{drift, figures};
use crate::page::html::{escaped, filter, list, page, section, table, verdict};

/// The columns of what was measured; those with a `#` are numbers.
pub(super) const HEAD: [&str; 13] = [
    "row",
    "arm",
    "#size",
    "#time us",
    "#p95 us",
    "#max us",
    "#algbw GB/s",
    "#busbw GB/s",
    "#of ceiling",
    "#skew",
    "#samples",
    "launch",
    "verified",
];

/// A page of a file; with the comparison of its arms where there are several.
pub fn bench_page(file: &BenchFile, comparison: Option<&Comparison>) -> String {
    let mut body = match comparison {
        Some(comparison) => outcome(comparison),
        None => {
            let invalid = file.rows.iter().filter(|row| !row.invalid.is_empty()).count();
            let (class, word) = if invalid > 0 { ("bad", "INVALID") } else { ("good", "MEASURED") };
            let sentence =
                format!("{} rows, {invalid} of them with something invalid", file.rows.len());
            verdict(class, word, &sentence)
        }
    };
    body += &conditions(file);
    if let Some(comparison) = comparison {
        body += &rows_of(comparison);
        body += &slices_of(comparison);
        body += &ratio_figures(comparison);
    }
    body += &figures::of_file(file);
    body += &section("measured", "Measured times");
    body += &filter("rows", "rows");
    let rows: Vec<(String, Vec<String>)> =
        file.rows.iter().flat_map(|row| (0..row.arms.len()).map(|arm| line(row, arm))).collect();
    let caption = "Medians over iterations of the slowest rank's time; GB/s are 1e9 bytes a second";
    body += &table("rows", caption, &HEAD, &rows);
    body += &drift::of_file(file);
    page("rankcheck: benchmark", &body)
}

/// Where and how was measured.
fn conditions(file: &BenchFile) -> String {
    let machine = &file.machine;
    let mut lines = Vec::new();
    if !machine.cpu.is_empty() {
        lines.push(format!("{}, {} cores, {}", machine.cpu, machine.cores, machine.system));
    }
    lines.extend(
        machine
            .gpus
            .iter()
            .map(|gpu| format!("GPU {}: {}, driver {}", gpu.number, gpu.name, gpu.driver)),
    );
    let protocol = &file.protocol;
    if protocol.launches > 0 {
        lines.push(format!(
            "{} launches of {} blocks, {} samples a run after {} iterations of warm-up{}",
            protocol.launches,
            protocol.blocks,
            protocol.iterations,
            protocol.warmup,
            file.seed.map_or_else(String::new, |seed| format!(", seed {seed}")),
        ));
        lines.push(protocol.clock.clone());
    }
    let readings = &machine.readings;
    if !readings.is_empty() {
        let held = readings.iter().filter(|reading| !reading.throttled.is_empty()).count();
        lines.push(format!("clocks were held down in {held} of {} readings", readings.len()));
    }
    lines.extend(file.provenance.iter().map(|from| {
        let what = if from.summary_only { "summary only" } else { "samples" };
        format!("{}: {} ({what})", from.path, from.kind)
    }));
    lines.extend(file.notes.iter().cloned());
    section("conditions", "Conditions") + &list(&lines)
}

/// An arm of a row: its class, and a cell a column.
pub(super) fn line(row: &Row, index: usize) -> (String, Vec<String>) {
    let arm = &row.arms[index];
    let times = times(row, index);
    let middle = median(&times);
    let us = |ns: Option<f64>| ns.map_or("—".to_owned(), |ns| format!("{:.2}", ns / 1e3));
    let of = |which: Option<usize>| which.is_none_or(|which| which == index);
    let invalid = row.invalid.iter().find(|invalid| of(invalid.arm));
    let algbw = middle.filter(|ns| *ns > 0.0 && row.bytes > 0).map(|ns| row.bytes as f64 / ns);
    let rate = |gbs: Option<f64>| gbs.map_or("—".to_owned(), |gbs| format!("{gbs:.2}"));
    let busbw = algbw.map(|algbw| algbw * row.bus_factor);
    let share = busbw.zip(row.ceiling.as_ref()).map(|(busbw, most)| busbw / most.busbw_gbs);
    let skew = median(&skews(row, index));
    let percent =
        |share: Option<f64>| share.map_or("—".to_owned(), |s| format!("{:.1}%", s * 100.0));
    let said = match (&row.skipped, invalid) {
        (Some(why), _) => format!("not measured: {why}"),
        (None, Some(invalid)) => format!("INVALID: {}", invalid.reason),
        (None, None) => judged(arm).to_owned(),
    };
    let class = if invalid.is_some() { "bad" } else { "" };
    let cells = vec![
        escaped(&row.id),
        escaped(&arm.name),
        row.bytes.to_string(),
        us(middle),
        us(quantile(&times, 0.95)),
        us(quantile(&times, 1.0)),
        rate(algbw),
        rate(busbw),
        percent(share),
        percent(skew),
        times.len().to_string(),
        escaped(&launch(arm)),
        escaped(&said),
    ];
    (class.to_owned(), cells)
}

fn judged(arm: &Arm) -> &'static str {
    match &arm.verified.after {
        Verification::Right => "right",
        Verification::ClaimedRight => "right, it says itself",
        Verification::Wrong(_) => "wrong",
        Verification::NotJudged => "not judged",
    }
}

/// What ran; what was asked for stands beside it where it is another.
fn launch(arm: &Arm) -> String {
    let shown = |launch: &bench::file::Launch| {
        let parts = [
            launch.blocks.map(|blocks| format!("{blocks} blocks")),
            launch.threads.map(|threads| format!("{threads} threads")),
            launch.tile.as_ref().map(|tile| format!("tile {tile}")),
            launch.registers.map(|registers| format!("{registers} registers")),
            launch.spilled_bytes.map(|bytes| format!("{bytes} bytes spilled")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    };
    let (asked, ran) = (shown(&arm.requested), shown(&arm.effective));
    match (asked.is_empty(), ran.is_empty()) {
        (_, true) => asked,
        (true, false) => ran,
        (false, false) if ran.contains(&asked) => ran,
        (false, false) => format!("{ran} (asked for: {asked})"),
    }
}
