//! The CSV that scripts for iris.bench read: its columns, with rankcheck's own behind them.

use std::collections::BTreeSet;

use crate::compare::evidence::times;
use crate::file::{ArmKind, BenchFile, Row};
use crate::stats::median;

/// One line for each arm of each row: `benchmark,world_size,mode,<axes>,backend,gpu_time_ms,min_time_ms,skew_pct,bandwidth_gbps,
/// tflops,bytes,algbw_gbps,skipped,skip_reason`.
///
/// As there, `gpu_time_ms` is the largest of the ranks' medians, `min_time_ms` the least, `skew_pct` their difference as a
/// share of the largest, `bandwidth_gbps` the bus bandwidth at `gpu_time_ms`. An arm that is invalid or was not measured is
/// `skipped` with its reason, and has no time. The control is left out.
pub fn csv(file: &BenchFile) -> String {
    let axes: BTreeSet<&String> = file.rows.iter().flat_map(|row| row.axes.keys()).collect();
    // Rows that differ in nothing but the mode must not look the same.
    let has_modes = file.rows.iter().any(|row| !row.mode.is_empty());
    let mut header = vec!["benchmark".to_owned(), "world_size".to_owned()];
    header.extend(has_modes.then(|| "mode".to_owned()));
    header.extend(axes.iter().map(|axis| spelled(axis)));
    let behind = "backend,gpu_time_ms,min_time_ms,skew_pct,bandwidth_gbps,tflops,bytes,algbw_gbps,skipped,skip_reason";
    header.extend(behind.split(',').map(str::to_owned));
    let mut table = csv::Writer::from_writer(Vec::new());
    let mut write = |line: &[String]| table.write_record(line).expect("memory can be written");
    write(&header);
    for row in &file.rows {
        for (index, arm) in row.arms.iter().enumerate() {
            if arm.kind == ArmKind::Control {
                continue;
            }
            let mut line = vec![row.collective.clone(), row.ranks.to_string()];
            line.extend(has_modes.then(|| row.mode.clone()));
            let axes = axes.iter().map(|axis| row.axes.get(*axis).cloned().unwrap_or_default());
            line.extend(axes);
            line.push(arm.name.clone());
            line.extend(numbers(row, index));
            write(&line);
        }
    }
    let bytes = table.into_inner().expect("memory can be written");
    String::from_utf8(bytes).expect("fields are text")
}

/// As iris.bench spells an axis.
fn spelled(axis: &str) -> String {
    match axis {
        "m" | "n" => axis.to_uppercase(),
        _ => axis.to_owned(),
    }
}

/// The columns from `gpu_time_ms` on.
fn numbers(row: &Row, arm: usize) -> Vec<String> {
    let empty = String::new;
    let of_arm = |which: Option<usize>| which.is_none_or(|which| which == arm);
    let invalid = row.invalid.iter().find(|invalid| of_arm(invalid.arm));
    let reason = row.skipped.clone().or(invalid.map(|invalid| invalid.reason.clone()));
    let medians = rank_medians(row, arm);
    let most = medians.iter().copied().fold(0.0, f64::max);
    let least = medians.iter().copied().fold(f64::INFINITY, f64::min);
    let reason = reason.or_else(|| medians.is_empty().then(|| "no samples".to_owned()));
    if let Some(reason) = reason {
        let times = [empty(), empty(), empty(), empty(), empty()];
        let behind = [row.bytes.to_string(), empty(), "True".to_owned(), reason];
        return times.into_iter().chain(behind).collect();
    }
    let skew = if most > 0.0 { (most - least) / most * 100.0 } else { 0.0 };
    let algbw = (most > 0.0).then(|| row.bytes as f64 / most);
    let rate = |gbs: Option<f64>| gbs.map_or_else(empty, |gbs| format!("{gbs:.4}"));
    vec![
        format!("{:.6}", most / 1e6),
        format!("{:.6}", least / 1e6),
        format!("{skew:.2}"),
        rate(algbw.map(|algbw| algbw * row.bus_factor)),
        empty(),
        row.bytes.to_string(),
        rate(algbw),
        "False".to_owned(),
        empty(),
    ]
}

/// The median of each rank's times; of all times where only one number an iteration is known.
fn rank_medians(row: &Row, arm: usize) -> Vec<f64> {
    let runs = row.launches.iter().flat_map(|launch| &launch.blocks).flat_map(|block| &block.runs);
    let samples: Vec<&Vec<f64>> =
        runs.filter(|run| run.arm == arm).flat_map(|run| &run.samples).collect();
    let ranks = samples.iter().map(|ranks| ranks.len()).max().unwrap_or(0);
    if ranks < 2 {
        return median(&times(row, arm)).into_iter().collect();
    }
    let of_rank = |rank: usize| {
        let times: Vec<f64> = samples.iter().filter_map(|ranks| ranks.get(rank).copied()).collect();
        median(&times)
    };
    (0..ranks).filter_map(of_rank).collect()
}
