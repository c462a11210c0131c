//! `rankcheck.run/1` as far as a page needs it: fields that it does not know are left alone.

use serde::Deserialize;
use verdict::{Environment, Summary};

use collectives::RegionMap;

/// A run.
#[derive(Debug, Clone, Deserialize)]
pub struct RunDocument {
    /// The name of the format.
    pub schema: String,
    pub(super) environment: Environment,
    pub(super) summary: Summary,
    pub(super) cases: Vec<Case>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Case {
    pub(super) id: String,
    pub(super) device: String,
    pub(super) mode: String,
    pub(super) ranks: u32,
    pub(super) launches: u64,
    pub(super) verdict: String,
    pub(super) reason: Option<serde_json::Value>,
    pub(super) replay: String,
    pub(super) not_proved: Vec<String>,
    pub(super) location: Location,
    pub(super) switches: Option<String>,
    pub(super) findings: Vec<Finding>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Location {
    pub(super) file: String,
    pub(super) line: u64,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Finding {
    pub(super) kind: String,
    pub(super) rank: Option<u32>,
    pub(super) call: Option<usize>,
    pub(super) region: Option<String>,
    pub(super) row: Option<u64>,
    pub(super) column: Option<u64>,
    pub(super) expected: Option<String>,
    pub(super) actual: Option<String>,
    pub(super) writer: Option<Writer>,
    pub(super) region_map: Option<RegionMap>,
    pub(super) details: Vec<(String, String)>,
    pub(super) explanation: String,
    pub(super) looks_like: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Writer {
    pub(super) file: String,
    pub(super) line: u32,
    pub(super) rank: u32,
    pub(super) block: u32,
    pub(super) thread: u32,
}

impl RunDocument {
    /// The run in numbers.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// The verdict on all cases: its class, and the word for it.
    pub(super) fn outcome(&self) -> (&'static str, &'static str) {
        match self.summary {
            Summary { failed: 1.., .. } => ("bad", "FAIL"),
            Summary { not_run: 1.., .. } => ("open", "INCOMPLETE"),
            Summary { passed: 0, .. } => ("open", "NOTHING RAN"),
            _ => ("good", "PASS"),
        }
    }
}

impl Case {
    /// As tests are called.
    pub(super) fn name(&self) -> String {
        format!("{}-{}::{}", self.device, self.mode, self.id)
    }

    /// The first finding, or the reason why it did not run; empty for a pass.
    pub(super) fn why(&self) -> String {
        if let Some(reason) = &self.reason {
            let text = |key: &str| reason[key].as_str().unwrap_or_default();
            return format!("needs {}, found {}", text("needed"), text("found"));
        }
        self.findings.first().map_or_else(String::new, |finding| finding.kind.clone())
    }
}
