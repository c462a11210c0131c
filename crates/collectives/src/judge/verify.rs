//! Compares every byte of every rank's heap with what it must hold, and explains differences.
//!
//! Bytes are compared, never tolerances. The fast path is one comparison a span; only a span that
//! differs is looked at element by element.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::data::fill::Poison;
use crate::heap::image::{Area, Generator, Moment, Source, Span, same_element, spans};
use crate::heap::plan::{HeapPlan, RegionName, View};
use crate::judge::cause::{self, Evidence, Gap, Sample, Samples, Scene};
use crate::judge::explain;
use crate::judge::finding::{Extent, Finding, FindingKind, Place};
use crate::judge::region_map::region_map;
use crate::meaning::problem::Problem;
use crate::meaning::rank::Rank;
use crate::meaning::reference;

/// At most this many wrong rows are drawn in a region map.
const MAPPED_ROWS: usize = 4096;

/// What is wrong in the heaps after call number `index`; empty means every byte is right.
/// `heaps[r]` is rank r's heap, [`HeapPlan::bytes`] long.
pub fn verify(problem: &Problem, plan: &HeapPlan, index: usize, heaps: &[&[u8]]) -> Vec<Finding> {
    verify_spans(problem, plan, index, &mut |Span { rank, bytes, .. }| {
        Some(Cow::Borrowed(&heaps[rank.index()][bytes.start as usize..bytes.end as usize]))
    })
}

/// As [`verify`], for heaps that are not in this process's memory: `actual` gives the bytes of a
/// span, or nothing where the span is known to be right.
pub fn verify_spans<'a>(
    problem: &Problem,
    plan: &HeapPlan,
    index: usize,
    actual: &mut dyn FnMut(&Span) -> Option<Cow<'a, [u8]>>,
) -> Vec<Finding> {
    let mut generator = Generator::new(problem, index);
    let mut differences = Differences::new(problem, plan, index);
    spans(problem, plan, index, Moment::After, &mut |span| {
        let Some(actual) = actual(&span) else { return };
        if !generator.holds(&span, &actual) {
            let mut expected = vec![0; actual.len()];
            generator.write(&span, &mut expected);
            differences.add(&span, &expected, &actual);
        }
    });
    differences.into_findings()
}

/// The differences found so far, gathered by (rank, kind, region).
struct Differences<'a> {
    problem: &'a Problem,
    plan: &'a HeapPlan,
    index: usize,
    poison: Poison,
    by_kind: BTreeMap<(Rank, FindingKind, usize), Difference>,
}

struct Difference {
    span: Span,
    offset: u64,
    expected: Vec<u8>,
    actual: Vec<u8>,
    /// The bytes that follow the first wrong one and are wrong too, at most 16.
    run: Vec<u8>,
    count: u64,
    columns: [u64; 2],
    /// Wrong column ranges by row, at most [`MAPPED_ROWS`] rows.
    rows: BTreeMap<u64, Vec<(u64, u64)>>,
    row_count: u64,
    last_row: Option<u64>,
    samples: Samples,
}

impl<'a> Differences<'a> {
    fn new(problem: &'a Problem, plan: &'a HeapPlan, index: usize) -> Self {
        let poison = Poison::new(problem.seed, index);
        Differences { problem, plan, index, poison, by_kind: BTreeMap::new() }
    }

    /// The matrix that a span of elements or padding belongs to.
    fn view(&self, span: &Span) -> Option<View> {
        let region = &self.plan.regions[span.region?];
        let call = &self.problem.calls[self.index];
        match (span.area, &region.name) {
            (Area::Element | Area::Padding, RegionName::Input) => {
                Some(self.plan.input(self.problem, call, span.rank))
            }
            (Area::Element | Area::Padding, RegionName::Output) => {
                Some(self.plan.output(self.problem, call))
            }
            _ => None,
        }
    }

    fn add(&mut self, span: &Span, expected: &[u8], actual: &[u8]) {
        let unit = if span.area == Area::Element { self.problem.dtype.bytes() as usize } else { 1 };
        let mut offset = span.bytes.start;
        for (expected_unit, actual_unit) in expected.chunks(unit).zip(actual.chunks(unit)) {
            if !same_element(self.problem, span, expected_unit, actual_unit) {
                let kind = self.kind(span, offset, actual_unit);
                let skip = (offset - span.bytes.start) as usize;
                self.note(span, kind, offset, &expected[skip..], &actual[skip..], unit);
            }
            offset += unit as u64;
        }
    }

    fn kind(&self, span: &Span, offset: u64, actual: &[u8]) -> FindingKind {
        let call = &self.problem.calls[self.index];
        if call.group.group_rank(span.rank).is_none() {
            return FindingKind::IdleRankModified;
        }
        match span.area {
            Area::Guard => FindingKind::GuardOverwritten,
            Area::Slack => FindingKind::SlackOverwritten,
            Area::Padding => FindingKind::PaddingOverwritten,
            Area::Workspace => FindingKind::WorkspaceMismatch,
            Area::Element => match self.region_name(span) {
                Some(RegionName::Input) => FindingKind::InputModified,
                _ if span.source != Source::Poison
                    && self.poison.holds(span.rank, offset, actual) =>
                {
                    FindingKind::Unwritten
                }
                _ => FindingKind::OutputMismatch,
            },
        }
    }

    fn region_name(&self, span: &Span) -> Option<&RegionName> {
        span.region.map(|region| &self.plan.regions[region].name)
    }

    fn note(
        &mut self,
        span: &Span,
        kind: FindingKind,
        offset: u64,
        expected: &[u8],
        actual: &[u8],
        unit: usize,
    ) {
        let place = self.view(span).map(|view| view.row_column(offset));
        let key = (span.rank, kind, span.region.unwrap_or(usize::MAX));
        let difference = self.by_kind.entry(key).or_insert_with(|| {
            let run = actual.iter().zip(expected).take(16).take_while(|(a, e)| a != e).count();
            Difference {
                span: span.clone(),
                offset,
                expected: expected[..unit].to_vec(),
                actual: actual[..unit].to_vec(),
                run: actual[..run.max(unit)].to_vec(),
                count: 0,
                columns: [u64::MAX, 0],
                rows: BTreeMap::new(),
                row_count: 0,
                last_row: None,
                samples: Samples::default(),
            }
        });
        difference.count += unit as u64;
        let source = span.source_at(offset, self.problem.dtype.bytes());
        let is_element = span.area == Area::Element;
        difference.samples.add(Sample::new(span.rank, offset, source, is_element, &actual[..unit]));
        if let Some((row, column)) = place {
            difference.at(row, column);
        }
    }

    fn into_findings(self) -> Vec<Finding> {
        let causes = self.causes();
        let Differences { problem, plan, index, .. } = self;
        let views: Vec<Option<View>> =
            self.by_kind.values().map(|difference| self.view(&difference.span)).collect();
        let differences = self.by_kind.into_iter().zip(views).zip(causes);
        differences
            .map(|((((rank, kind, _), difference), view), looks_like)| {
                let lookup = explain::Lookup {
                    problem,
                    plan,
                    index,
                    rank,
                    expected: difference.source_place(problem),
                };
                let whose = lookup.whose(difference.offset, &difference.run, &difference.actual);
                let place = difference.place(problem, plan, index, view);
                let extent = difference.extent();
                let reach = extent.as_ref();
                let explanation =
                    explain::sentence(problem, index, rank, kind, &place, reach, difference.count);
                Finding {
                    kind,
                    rank: Some(rank),
                    call: Some(index),
                    place: Some(place),
                    expected: Some(difference.expected(problem, index)),
                    actual: Some(format!(
                        "{} = {whose}",
                        difference.show(problem, &difference.actual)
                    )),
                    count: difference.count,
                    writer: None,
                    extent,
                    region_map: view.and_then(|view| region_map(kind, &view, &difference.rows)),
                    details: Vec::new(),
                    explanation,
                    looks_like,
                }
            })
            .collect()
    }

    /// What each difference looks like, in their order.
    fn causes(&self) -> Vec<Option<String>> {
        let scene = Scene::new(self.problem, self.plan, self.index, self.written());
        let samples: Vec<Vec<Sample>> =
            self.by_kind.values().map(|difference| difference.samples.all()).collect();
        let evidence: Vec<Evidence<'_>> = self
            .by_kind
            .iter()
            .zip(&samples)
            .map(|(((rank, kind, _), difference), samples)| Evidence {
                kind: *kind,
                samples,
                columns: difference.extent().map(|extent| extent.columns),
                gap: (*kind == FindingKind::Unwritten).then_some(Gap {
                    rank: *rank,
                    rows: &difference.rows,
                    row_count: difference.row_count,
                }),
            })
            .collect();
        cause::causes(&scene, &evidence, &self.probes(&scene))
    }

    /// Places beside the elements of written outputs, where all of their kind are right: the first
    /// and the last byte behind some rows, and those just outside the matrix.
    fn probes(&self, scene: &Scene<'_>) -> Vec<Sample> {
        const ROWS: u64 = 16;
        let View { start, shape, row_stride, .. } = scene.output;
        let step = (shape.m / ROWS).max(1) as usize;
        let padding: Vec<u64> = (0..shape.m)
            .step_by(step)
            .map(|row| scene.output.row_bytes(row, shape.n..row_stride))
            .filter(|padding| !padding.is_empty())
            .flat_map(|padding| [padding.start, padding.end - 1])
            .collect();
        let outside: Vec<u64> = [start.checked_sub(1), Some(scene.output.end())]
            .into_iter()
            .flatten()
            .filter(|offset| *offset < self.plan.bytes)
            .collect();
        let all_right = |rank: Rank, kinds: &[FindingKind]| {
            !self.by_kind.keys().any(|(of, kind, _)| *of == rank && kinds.contains(kind))
        };
        let mut probes = Vec::new();
        for rank in &scene.written {
            if !scene.members.contains(rank) {
                continue;
            }
            let mut add = |offset: u64| {
                let mut byte = [0];
                self.poison.write(*rank, offset, &mut byte);
                probes.push(Sample::new(*rank, offset, Source::Poison, false, &byte));
            };
            if all_right(*rank, &[FindingKind::PaddingOverwritten]) {
                padding.iter().for_each(|offset| add(*offset));
            }
            if all_right(*rank, &[FindingKind::SlackOverwritten, FindingKind::GuardOverwritten]) {
                outside.iter().for_each(|offset| add(*offset));
            }
        }
        probes
    }

    /// The ranks whose output anybody wrote to.
    fn written(&self) -> Vec<Rank> {
        let call = &self.problem.calls[self.index];
        let output = self.plan.regions.iter().position(|r| r.name == RegionName::Output);
        let is_written = |rank: &Rank| {
            let blocks = reference::output(self.problem, call, *rank);
            let elements: u64 = blocks
                .iter()
                .map(|block| {
                    (block.rows.end - block.rows.start) * (block.columns.end - block.columns.start)
                })
                .sum();
            let of = |wanted: FindingKind| {
                let found = self.by_kind.iter().find(|((of, kind, region), _)| {
                    (of, *kind, Some(*region)) == (rank, wanted, output)
                });
                found.map(|(_, difference)| difference.count)
            };
            let missing = of(FindingKind::Unwritten).unwrap_or(0);
            elements * self.problem.dtype.bytes() > missing
                || of(FindingKind::OutputMismatch).is_some()
                || of(FindingKind::IdleRankModified).is_some()
        };
        self.problem.ranks().filter(is_written).collect()
    }
}

impl Difference {
    /// Rank, row and column of the input element that belongs where the first wrong one is.
    fn source_place(&self, problem: &Problem) -> Option<(Rank, u64, u64)> {
        match self.span.source {
            Source::Row { rank, row, .. } => Some((rank, row, self.source_column(problem))),
            Source::Reduced { .. } | Source::Poison | Source::Zero | Source::Free => None,
        }
    }

    fn show(&self, problem: &Problem, bytes: &[u8]) -> String {
        match self.span.area {
            Area::Element => problem.dtype.show(bytes),
            _ => format!("0x{:02x}", bytes[0]),
        }
    }

    /// What belongs where the first wrong element is, and what that is.
    fn expected(&self, problem: &Problem, index: usize) -> String {
        let value = self.show(problem, &self.expected);
        let column = self.source_column(problem);
        match self.span.source {
            Source::Poison => format!("poison {value}"),
            Source::Reduced { row, .. } => {
                let op = problem.calls[index].details.op;
                format!("{value} = {op} of inputs ({row},{column})")
            }
            Source::Row { rank, row, .. } => {
                format!("{value} = rank {rank}'s input ({row},{column})")
            }
            Source::Zero => "0x00".into(),
            Source::Free => unreachable!("free spans are never compared"),
        }
    }

    /// The column, in its source, of the first wrong element.
    fn source_column(&self, problem: &Problem) -> u64 {
        let within = (self.offset - self.span.bytes.start) / problem.dtype.bytes();
        match self.span.source {
            Source::Row { column, .. } | Source::Reduced { column, .. } => column + within,
            Source::Poison | Source::Zero | Source::Free => within,
        }
    }

    fn at(&mut self, row: u64, column: u64) {
        self.columns = [self.columns[0].min(column), self.columns[1].max(column)];
        if self.last_row != Some(row) {
            self.row_count += 1;
            self.last_row = Some(row);
        }
        if self.rows.len() < MAPPED_ROWS || self.rows.contains_key(&row) {
            let ranges = self.rows.entry(row).or_default();
            match ranges.last_mut() {
                Some((_, last)) if column <= *last + 1 => *last = column,
                _ => ranges.push((column, column)),
            }
        }
    }

    fn extent(&self) -> Option<Extent> {
        let first = *self.rows.keys().next()?;
        let last = self.last_row?;
        Some(Extent { columns: self.columns, rows: [first, last], row_count: self.row_count })
    }

    fn place(&self, problem: &Problem, plan: &HeapPlan, index: usize, view: Option<View>) -> Place {
        let call = &problem.calls[index];
        let region = self.span.region.map(|region| plan.regions[region].name.label(problem));
        let region = match (self.span.area, region) {
            (Area::Guard, Some(before)) => format!("guard behind {before}"),
            (Area::Guard, None) => "guard in front of the first region".into(),
            (_, region) => region.unwrap_or_default(),
        };
        let position = view.map(|view| view.row_column(self.offset));
        let tile = |row: u64, column: u64| {
            [row % call.shape.m.max(1) / call.tile.m.max(1), column / call.tile.n.max(1)]
        };
        Place {
            region,
            offset: self.offset,
            row: position.map(|(row, _)| row),
            column: position.map(|(_, column)| column),
            tile: position.map(|(row, column)| tile(row, column)),
        }
    }
}
