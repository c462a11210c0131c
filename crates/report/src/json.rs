//! `rankcheck.run/1`: the machine interface.

use collectives::{Finding, Place};
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};
use verdict::{CaseResult, Environment, Event, Summary};

use crate::file::ReportFile;
use crate::region_map;
use crate::{ReportError, Reporter};

/// The name of the format.
pub(crate) const SCHEMA: &str = "rankcheck.run/1";

/// Writes one JSON document at the end of a run.
#[derive(Debug)]
pub struct Json {
    file: ReportFile,
    environment: Environment,
    cases: Vec<CaseResult>,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    environment: &'a Environment,
    summary: &'a Summary,
    cases: Vec<CaseView<'a>>,
}

/// A case as `rankcheck.run/1` spells it: as in [`CaseResult`], with findings of their own.
struct CaseView<'a>(&'a CaseResult);

/// A finding as `rankcheck.run/1` spells it: the fields of its place stand beside its own, its map is
/// there as lines of text too, and a detail is a pair.
struct FindingView<'a>(&'a Finding);

/// Serialises all fields of a structure, in this order; one that is missing here does not compile.
macro_rules! fields {
    ($to:ident, $from:expr, $kind:ident { $($name:ident),* $(,)? } and $($own:ident),*) => {
        let $kind { $($name,)* $($own),* } = $from;
        $($to.serialize_field(stringify!($name), $name)?;)*
    };
}

impl Serialize for CaseView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut to = serializer.serialize_struct("CaseResult", 32)?;
        fields!(to, self.0, CaseResult {
            id, scenario, location, collective, kernel, variant, source, mode, device, gpus, ranks, seed, orders, schedules, schedules_failed, failing_schedule, switches, complete, delays, delays_failed, schedule_hash, race, verdict, reason, calls, launches, overlapped, duration_s, kernel_s, replay, not_proved,
        } and findings);
        let findings: Vec<FindingView<'_>> = findings.iter().map(FindingView).collect();
        to.serialize_field("findings", &findings)?;
        to.end()
    }
}

impl Serialize for FindingView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut to = serializer.serialize_struct("Finding", 18)?;
        let Finding {
            kind,
            rank,
            call,
            place,
            expected,
            actual,
            count,
            writer,
            extent,
            region_map,
            details,
            explanation,
            looks_like,
        } = self.0;
        to.serialize_field("kind", kind)?;
        to.serialize_field("rank", rank)?;
        to.serialize_field("call", call)?;
        if let Some(place) = place {
            fields!(to, place, Place { region, offset, row, column, tile } and);
        }
        to.serialize_field("expected", expected)?;
        to.serialize_field("actual", actual)?;
        to.serialize_field("count", count)?;
        to.serialize_field("writer", writer)?;
        to.serialize_field("extent", extent)?;
        to.serialize_field("map", &region_map.as_ref().map_or_else(Vec::new, region_map::lines))?;
        to.serialize_field("region_map", region_map)?;
        let details: Vec<(&str, &str)> =
            details.iter().map(|detail| (detail.label.name(), detail.text.as_str())).collect();
        to.serialize_field("details", &details)?;
        to.serialize_field("explanation", explanation)?;
        to.serialize_field("looks_like", looks_like)?;
        to.end()
    }
}

/// A run as one JSON document.
///
/// # Errors
/// It cannot be written as JSON.
pub fn document(
    environment: &Environment,
    summary: &Summary,
    cases: &[CaseResult],
) -> Result<String, ReportError> {
    let cases = cases.iter().map(CaseView).collect();
    let document = Document { schema: SCHEMA, environment, summary, cases };
    let text = serde_json::to_string_pretty(&document);
    let wrong =
        |reason: serde_json::Error| ReportError { path: "json".into(), reason: reason.to_string() };
    Ok(text.map_err(wrong)? + "\n")
}

impl Json {
    /// A report to `file`.
    pub fn new(file: ReportFile) -> Json {
        Json { file, environment: Environment::default(), cases: Vec::new() }
    }
}

impl Reporter for Json {
    fn event(&mut self, event: &Event) -> Result<(), ReportError> {
        match event {
            Event::RunStarted { environment, .. } => self.environment = environment.clone(),
            Event::CaseFinished(case) => self.cases.push((**case).clone()),
            Event::RunFinished(summary) => {
                self.file.finish(&document(&self.environment, summary, &self.cases)?)?;
            }
        }
        Ok(())
    }
}
