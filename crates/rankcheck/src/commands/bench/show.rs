//! What people see of a row.

use bench::compare::evidence::times;
use bench::file::{BenchFile, Row};
use bench::stats::median;

/// A row: every arm's median of the slowest rank, its bandwidth, and why an arm counts for nothing.
pub(super) fn row(row: &Row) -> String {
    let mut text = format!("{}\n", row.id);
    if let Some(why) = &row.skipped {
        text += &format!("  not measured: {why}\n");
    }
    for (index, arm) in row.arms.iter().enumerate() {
        let slowest = times(row, index);
        let invalid = row.invalid.iter().find(|invalid| invalid.arm == Some(index));
        let line = match (median(&slowest), invalid) {
            (_, Some(invalid)) => format!("INVALID {}", invalid.reason),
            (None, None) => "—".to_owned(),
            (Some(median), None) => {
                let bandwidth = row.bytes as f64 * row.bus_factor / median;
                let count = slowest.len();
                format!("{:>12.2} us  {bandwidth:>9.3} GB/s  {count} samples", median / 1e3)
            }
        };
        text += &format!("  {:<24} {line}\n", arm.name);
    }
    for invalid in row.invalid.iter().filter(|invalid| invalid.arm.is_none()) {
        text += &format!("  broken off: {}\n", invalid.reason);
    }
    text
}

/// How many rows were measured.
pub(super) fn end(file: &BenchFile, planned: usize) -> String {
    let notes: String = file.notes.iter().map(|note| format!("{note}\n")).collect();
    let interrupted = if file.interrupted { " (interrupted)" } else { "" };
    let (rows, seed) = (file.rows.len(), file.seed.unwrap_or(0));
    format!("{notes}{rows} of {planned} rows{interrupted}, seed {seed}\n")
}
