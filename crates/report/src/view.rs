//! A case's result as `rankcheck.run/1` spells it: one flat object, whose names are the machine interface.

use collectives::finding::Extent;
use collectives::{Collective, Finding, FindingKind, Place, Rank, RegionMap, Writer};
use kernels::DeviceName;
use scenario::{Mode, Reason};
use serde::Serialize;
use verdict::{CallResult, CaseResult, Location, SchedulesRun, Source, Verdict, show_switches};

use crate::region_map;

/// A case of the document. Names of one way of running are zero or null in the others.
#[derive(Debug, Serialize)]
pub(crate) struct CaseView<'a> {
    id: &'a str,
    scenario: &'a str,
    location: &'a Location,
    collective: Collective,
    kernel: &'a str,
    variant: &'a str,
    source: &'a Source,
    mode: Mode,
    device: DeviceName,
    gpus: &'a [u32],
    ranks: u32,
    seed: u64,
    orders: usize,
    schedules: usize,
    schedules_failed: usize,
    failing_schedule: Option<u64>,
    switches: Option<String>,
    complete: Option<u64>,
    delays: usize,
    delays_failed: usize,
    schedule_hash: Option<String>,
    race: bool,
    verdict: Verdict,
    reason: Option<&'a Reason>,
    calls: &'a [CallResult],
    launches: u64,
    overlapped: Option<bool>,
    duration_s: f64,
    kernel_s: f64,
    replay: String,
    not_proved: Vec<String>,
    findings: Vec<FindingView<'a>>,
}

/// A finding of the document: the names of its place stand beside its own, its map is there as lines of
/// text too, and a detail is a pair.
#[derive(Debug, Serialize)]
struct FindingView<'a> {
    kind: FindingKind,
    rank: Option<Rank>,
    call: Option<usize>,
    #[serde(flatten)]
    place: Option<&'a Place>,
    expected: Option<&'a str>,
    actual: Option<&'a str>,
    count: u64,
    writer: Option<&'a Writer>,
    extent: Option<&'a Extent>,
    map: Vec<String>,
    region_map: Option<&'a RegionMap>,
    details: Vec<(&'a str, &'a str)>,
    explanation: &'a str,
    looks_like: Option<&'a str>,
}

impl<'a> FindingView<'a> {
    fn of(finding: &'a Finding) -> FindingView<'a> {
        let map = finding.region_map.as_ref();
        let details = finding.details.iter();
        FindingView {
            kind: finding.kind,
            rank: finding.rank,
            call: finding.call,
            place: finding.place.as_ref(),
            expected: finding.expected.as_deref(),
            actual: finding.actual.as_deref(),
            count: finding.count,
            writer: finding.writer.as_ref(),
            extent: finding.extent.as_ref(),
            map: map.map_or_else(Vec::new, region_map::lines),
            region_map: map,
            details: details.map(|detail| (detail.label.name(), detail.text.as_str())).collect(),
            explanation: &finding.explanation,
            looks_like: finding.looks_like.as_deref(),
        }
    }
}

impl<'a> CaseView<'a> {
    /// The view of a result.
    pub(crate) fn of(case: &'a CaseResult) -> CaseView<'a> {
        let none = SchedulesRun::default();
        let schedules = case.how.schedules().unwrap_or(&none);
        let processes = case.how.processes().cloned().unwrap_or_default();
        CaseView {
            id: &case.id,
            scenario: &case.scenario,
            location: &case.location,
            collective: case.collective,
            kernel: &case.kernel,
            variant: &case.variant,
            source: &case.source,
            mode: case.mode,
            device: case.device,
            gpus: &case.gpus,
            ranks: case.ranks,
            seed: case.seed,
            orders: case.how.orders(),
            schedules: schedules.ran,
            schedules_failed: schedules.failed,
            failing_schedule: schedules.first_failing,
            switches: schedules.switches.as_deref().map(show_switches),
            complete: schedules.complete,
            delays: processes.delays,
            delays_failed: processes.delays_failed,
            schedule_hash: schedules.hash.map(|hash| format!("{hash:016x}")),
            race: schedules.race,
            verdict: case.verdict,
            reason: case.reason.as_ref(),
            calls: &case.calls,
            launches: case.launches,
            overlapped: processes.overlapped,
            duration_s: case.duration_s,
            kernel_s: case.kernel_s,
            replay: case.replay.to_string(),
            not_proved: case.not_proved.iter().map(ToString::to_string).collect(),
            findings: case.findings.iter().map(FindingView::of).collect(),
        }
    }
}
