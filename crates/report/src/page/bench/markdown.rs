//! A file of measurements as Markdown.

use bench::compare::Comparison;
use bench::file::BenchFile;

use super::measured::{HEAD, line};
use crate::comparison::comparison_markdown;

/// Markdown of a file: the comparison of its arms where there are several, then what was measured.
pub fn bench_markdown(file: &BenchFile, comparison: Option<&Comparison>) -> String {
    let mut text = match comparison {
        Some(comparison) => comparison_markdown(comparison) + "\n",
        None => format!("## rankcheck bench: {} rows\n\n", file.rows.len()),
    };
    let names = HEAD.map(|name| name.trim_start_matches('#'));
    let rules = HEAD.map(|name| if name.starts_with('#') { "--:" } else { "---" });
    text += &format!("| {} |\n|{}|\n", names.join(" | "), rules.join("|"));
    for row in &file.rows {
        for arm in 0..row.arms.len() {
            let cells = line(row, arm).1.into_iter().map(|cell| cell.replace('|', "\\|"));
            text += &format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
        }
    }
    text
}
