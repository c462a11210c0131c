//! Lists of samples in JSON: `[1.5, ..]`, `[[..], ..]` by launch, or `{"unit": "us", "base": [..], "new": [..]}` by arm.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{ImportError, MEASURED, Measured, Origin, assemble};
use crate::file::{BenchFile, Verification};

/// Nanoseconds by unit.
const UNITS: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
/// What times are where nobody says.
const DEFAULT: &str = "us";

/// Whether JSON may be samples: a list that begins with a number or a list, or an object of such lists.
pub(super) fn is_samples(value: &Value) -> bool {
    let is_list = |value: &Value| {
        let first = value.as_array().and_then(|list| list.first());
        first.is_some_and(|first| first.is_number() || first.is_array())
    };
    is_list(value)
        || value.as_object().is_some_and(|object| {
            let mut arms = object.iter().filter(|(key, _)| *key != "unit").peekable();
            arms.peek().is_some() && arms.all(|(_, value)| is_list(value))
        })
}

/// Reads the samples.
pub(super) fn read(value: &Value, origin: Origin<'_>) -> Result<BenchFile, ImportError> {
    let wrong = ImportError::Samples;
    let mut notes = Vec::new();
    let mut measured = Vec::new();
    match value.as_object() {
        None => measured.push(one(MEASURED, launches(value, factor(DEFAULT)?)?)),
        Some(object) => {
            let unit = match object.get("unit") {
                None => None,
                Some(unit) => Some(unit.as_str().ok_or_else(|| wrong("`unit` is no text".into()))?),
            };
            for (key, value) in object.iter().filter(|(key, _)| *key != "unit") {
                // `times_ms` says its unit itself.
                let suffix = key.rsplit_once('_').filter(|(_, suffix)| factor(suffix).is_ok());
                let (name, own) = suffix.map_or((key.as_str(), None), |(n, unit)| (n, Some(unit)));
                let unit = own.or(unit).unwrap_or(DEFAULT);
                let name = if matches!(name, "samples" | "times") { MEASURED } else { name };
                measured.push(one(name, launches(value, factor(unit)?)?));
            }
        }
    }
    if value["unit"].is_null() {
        notes.push(format!(
            "times without a unit are taken as {DEFAULT}; ratios do not depend on it"
        ));
    }
    Ok(assemble(measured, vec![origin.provenance("samples", false)], notes))
}

fn factor(unit: &str) -> Result<f64, ImportError> {
    let known = UNITS.iter().find(|(name, _)| *name == unit);
    known.map(|(_, factor)| *factor).ok_or_else(|| {
        ImportError::Samples(format!("unit `{unit}`, expected one of ns, us, ms, s"))
    })
}

/// By launch, the times in nanoseconds.
fn launches(value: &Value, factor: f64) -> Result<Vec<Vec<f64>>, ImportError> {
    let list = value.as_array().map_or(&[][..], Vec::as_slice);
    if list.iter().any(Value::is_array) {
        return list.iter().map(|launch| times(launch, factor)).collect();
    }
    Ok(vec![times(value, factor)?])
}

fn times(value: &Value, factor: f64) -> Result<Vec<f64>, ImportError> {
    let list = value.as_array().map_or(&[][..], Vec::as_slice);
    let time = |value: &Value| match value.as_f64() {
        Some(time) if time >= 0.0 => Ok(time * factor),
        _ => Err(ImportError::Samples(format!("`{value}` is no time"))),
    };
    list.iter().map(time).collect()
}

fn one(arm: &str, launches: Vec<Vec<f64>>) -> Measured {
    Measured {
        id: "samples".to_owned(),
        collective: String::new(),
        semantics: String::new(),
        axes: BTreeMap::new(),
        ranks: 1,
        bytes: 0,
        bus_factor: 0.0,
        arm: arm.to_owned(),
        launches,
        verified: Verification::NotJudged,
        skipped: None,
    }
}
