//! The CSV of iris.bench: `benchmark,world_size,<params>,gpu_time_ms,..,skipped,skip_reason`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::iris::{Record, file};
use super::{ImportError, Origin};
use crate::file::BenchFile;

/// The column behind the parameters.
const TIME: &str = "gpu_time_ms";

/// Whether a text begins with such a header.
pub(super) fn is_csv(text: &str) -> bool {
    let header = text.trim_start_matches('\u{feff}').lines().next().unwrap_or_default();
    let mut columns = header.split(',').map(|column| column.trim().trim_matches('"'));
    columns.clone().any(|column| column == "benchmark") && columns.any(|column| column == TIME)
}

/// Reads the table.
pub(super) fn read(text: &str, origin: Origin<'_>) -> Result<BenchFile, ImportError> {
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let wrong = |line: u64, why: String| ImportError::IrisCsv { line, why };
    let header = reader.headers().map_err(|error| wrong(1, error.to_string()))?.clone();
    let behind = header.iter().position(|column| column == TIME).unwrap_or(header.len());
    let mut records = Vec::new();
    for line in reader.records() {
        let line = line.map_err(|error| {
            wrong(error.position().map_or(0, csv::Position::line), error.to_string())
        })?;
        let number = line.position().map_or(0, csv::Position::line);
        let cell = |name: &str| {
            let column = header.iter().position(|column| column == name)?;
            line.get(column).filter(|cell| !cell.is_empty())
        };
        let float = |name: &str| match cell(name) {
            None => Ok(None),
            Some(cell) => match cell.parse::<f64>() {
                Ok(value) if value.is_finite() && value >= 0.0 => Ok(Some(value)),
                _ => Err(wrong(number, format!("`{name}` is `{cell}`, no time or rate"))),
            },
        };
        let params = header.iter().zip(line.iter()).take(behind);
        let params = params.filter(|(name, cell)| {
            !matches!(*name, "benchmark" | "world_size") && !cell.is_empty()
        });
        let params: BTreeMap<String, Value> =
            params.map(|(name, cell)| (name.to_owned(), Value::from(cell))).collect();
        let skipped = cell("skipped")
            .is_some_and(|cell| matches!(cell.to_lowercase().as_str(), "true" | "1" | "yes"));
        let world_size = cell("world_size").map(str::parse).transpose();
        let record = Record {
            benchmark: cell("benchmark").unwrap_or_default().to_owned(),
            world_size: world_size
                .map_err(|_| wrong(number, "`world_size` is no number".into()))?,
            params,
            gpu_time_ms: float(TIME)?,
            local_times_ms: times(&cell).map_err(|why| wrong(number, why))?,
            bandwidth_gbps: float("bandwidth_gbps")?,
            skipped,
            skip_reason: cell("skip_reason").map(str::to_owned),
        };
        if record.gpu_time_ms.is_none() && !record.skipped {
            return Err(wrong(number, format!("no `{TIME}`, and not skipped")));
        }
        records.push(record);
    }
    Ok(file(records, "iris.bench csv", origin))
}

/// The samples of a column that has them, as a JSON list or with blanks or semicolons in between.
fn times<'a>(cell: &impl Fn(&str) -> Option<&'a str>) -> Result<Vec<f64>, String> {
    let Some(cell) = cell("local_times_ms").or_else(|| cell("all_times_ms")) else {
        return Ok(Vec::new());
    };
    let inside = cell.trim_start_matches('[').trim_end_matches(']');
    let numbers = inside.split([',', ';', ' ']).filter(|part| !part.is_empty());
    numbers.map(|part| part.parse::<f64>().map_err(|_| format!("`{part}` is no time"))).collect()
}
