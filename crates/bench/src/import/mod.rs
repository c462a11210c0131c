//! What other programs measured, as a file of measurements.
//!
//! [`read`] takes the JSON and CSV of iris.bench and lists of samples; logs of perf tools are read by the crate `tuner`, which
//! gives [`Measured`] values to [`assemble`], too. Nothing that is imported counts as verified by rankcheck, and what a
//! file does not say is not made up: a summary stays one number.

mod assemble;
mod iris;
mod iris_csv;
mod samples;

pub use assemble::{Measured, assemble};

use crate::file::{BenchFile, FileError, Provenance};

/// The arm's name where a file has no axis that tells arms apart.
pub const MEASURED: &str = "measured";

/// A file that cannot be taken over.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A file of measurements that contradicts itself.
    #[error(transparent)]
    File(#[from] FileError),
    /// JSON of iris.bench with other fields.
    #[error("JSON of iris.bench: {0}")]
    Iris(serde_json::Error),
    /// CSV of iris.bench that cannot be read.
    #[error("CSV of iris.bench, line {line}: {why}")]
    IrisCsv {
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        why: String,
    },
    /// A list of samples that is none.
    #[error("list of samples: {0}")]
    Samples(String),
}

/// Where a text comes from.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// The file's path as it was given.
    pub path: &'a str,
    /// The SHA-256 of the file, in hexadecimal.
    pub sha256: &'a str,
}

impl Origin<'_> {
    /// The provenance of samples that were taken over.
    pub fn provenance(&self, kind: &str, summary_only: bool) -> Provenance {
        Provenance {
            path: self.path.to_owned(),
            sha256: self.sha256.to_owned(),
            kind: kind.to_owned(),
            summary_only,
        }
    }
}

/// Reads a file of measurements in any format of this crate; absent where it is none of them.
///
/// # Errors
/// It is one, and cannot be read.
pub fn read(text: &str, origin: Origin<'_>) -> Option<Result<BenchFile, ImportError>> {
    if iris_csv::is_csv(text) {
        return Some(iris_csv::read(text, origin));
    }
    if !text.trim_start().starts_with(['[', '{']) {
        return None;
    }
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    if value["schema"].as_str().is_some_and(|schema| schema.starts_with("rankcheck.bench/")) {
        return Some(crate::file::read(text).map_err(ImportError::from));
    }
    if iris::is_iris(&value) {
        return Some(iris::read(value, origin));
    }
    samples::is_samples(&value).then(|| samples::read(&value, origin))
}
