//! Records of iris.bench: what its JSON and its CSV have in common, and its JSON.
//!
//! Source: `iris/bench/_runner.py`. `gpu_time_ms` is the slowest rank's median (the mean of rank 0 in older versions),
//! `local_times_ms` (`all_times_ms` in older versions) are the samples of rank 0 alone, bandwidths are bus bandwidths.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{ImportError, MEASURED, Measured, Origin, assemble};
use crate::file::{BenchFile, Verification};

/// Parameters that tell arms apart.
const ARMS: [&str; 4] = ["backend", "variant", "arm", "impl"];
/// Collectives whose name may stand in that of a benchmark, longer ones first.
const COLLECTIVES: [&str; 9] = [
    "reduce_scatter",
    "all_gather",
    "all_reduce",
    "all_to_all",
    "broadcast",
    "barrier",
    "scatter",
    "gather",
    "reduce",
];

/// One record.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Record {
    pub(super) benchmark: String,
    #[serde(default)]
    pub(super) world_size: Option<u32>,
    #[serde(default)]
    pub(super) params: BTreeMap<String, Value>,
    #[serde(default)]
    pub(super) gpu_time_ms: Option<f64>,
    #[serde(default, alias = "all_times_ms")]
    pub(super) local_times_ms: Vec<f64>,
    #[serde(default)]
    pub(super) bandwidth_gbps: Option<f64>,
    #[serde(default)]
    pub(super) skipped: bool,
    #[serde(default)]
    pub(super) skip_reason: Option<String>,
}

/// Whether JSON is a list of such records.
pub(super) fn is_iris(value: &Value) -> bool {
    let first = value.as_array().and_then(|list| list.first());
    first.is_some_and(|first| first["benchmark"].is_string())
}

/// Reads the JSON.
pub(super) fn read(value: Value, origin: Origin<'_>) -> Result<BenchFile, ImportError> {
    let records: Vec<Record> = serde_json::from_value(value).map_err(ImportError::Iris)?;
    Ok(file(records, "iris.bench json", origin))
}

/// A file of records.
pub(super) fn file(records: Vec<Record>, kind: &str, origin: Origin<'_>) -> BenchFile {
    let timed = || records.iter().filter(|record| !record.skipped);
    let summary_only = timed().any(|record| record.local_times_ms.is_empty());
    let mut notes = Vec::new();
    if timed().any(|record| !record.local_times_ms.is_empty()) {
        notes.push("samples of iris.bench are rank 0's, not the slowest rank's".to_owned());
    }
    let measured = records.iter().map(measured).collect();
    assemble(measured, vec![origin.provenance(kind, summary_only)], notes)
}

fn measured(record: &Record) -> Measured {
    let shown = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let arm = ARMS.iter().find_map(|name| record.params.get(*name)).map(shown);
    let axes: BTreeMap<String, String> = record
        .params
        .iter()
        .filter(|(name, _)| *name != "num_ranks" && !ARMS.contains(&name.as_str()))
        .map(|(name, value)| {
            let name = if name.len() == 1 { name.to_lowercase() } else { name.clone() };
            (name, shown(value))
        })
        .collect();
    let ranks = record.world_size.unwrap_or(1).max(1);
    let parts: Vec<String> = axes.iter().map(|(name, value)| format!("/{name}={value}")).collect();
    let squeezed = record.benchmark.to_lowercase().replace(['_', '-'], "");
    let collective = COLLECTIVES.iter().find(|name| squeezed.contains(&name.replace('_', "")));
    let collective = collective.map_or(record.benchmark.clone(), |name| (*name).to_owned());
    let time_ms = record.gpu_time_ms.filter(|_| !record.skipped);
    let bytes = record.bandwidth_gbps.zip(time_ms).map(|(gbps, ms)| (gbps * ms * 1e6).round());
    let times: Vec<f64> = match (record.skipped, record.local_times_ms.is_empty()) {
        (true, _) => Vec::new(),
        (false, true) => time_ms.into_iter().collect(),
        (false, false) => record.local_times_ms.clone(),
    };
    let skipped = record.skipped.then(|| {
        let reason = record.skip_reason.clone().filter(|reason| !reason.is_empty());
        reason.unwrap_or_else(|| "skipped".to_owned())
    });
    let launches = match times.is_empty() {
        true => Vec::new(),
        false => vec![times.iter().map(|ms| ms * 1e6).collect()],
    };
    Measured {
        id: format!("{}/w{ranks}{}", record.benchmark, parts.concat()),
        semantics: collective.clone(),
        collective,
        axes,
        ranks,
        // The benchmark's own count of bytes is one of bus bandwidth.
        bytes: bytes.map_or(0, |bytes| bytes as u64),
        bus_factor: 1.0,
        arm: arm.unwrap_or_else(|| MEASURED.to_owned()),
        launches,
        verified: Verification::NotJudged,
        skipped,
    }
}
