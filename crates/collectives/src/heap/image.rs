//! Heap images, before and after a call, as one stream of spans that covers every byte.
//!
//! The stream is ordered by place, with the ranks innermost, because the same row of input stands
//! in many heaps: whoever generates it does so once. Images are never held whole.

use std::ops::Range;

use crate::data::exact::ExactFill;
use crate::data::fill::{Poison, RowFill};
use crate::data::patterns;
use crate::heap::plan::HeapPlan;
use crate::heap::sections::{Part, Section, sections};
use crate::meaning::arithmetic::{self, Operand};
use crate::meaning::problem::{Data, Problem};
use crate::meaning::rank::{GroupRank, Rank};

/// Before the kernel runs, or after it returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// What the heaps are filled with.
    Before,
    /// What they must hold.
    After,
}

/// What kind of place a byte is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Area {
    /// Between regions.
    Guard,
    /// In a region, but in front of its first element or behind its last row.
    Slack,
    /// Between the end of a row and the start of the next.
    Padding,
    /// An element of a matrix.
    Element,
    /// Declared extra memory.
    Workspace,
}

/// What the bytes of a span are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The call's poison.
    Poison,
    /// A part of a row of a rank's input.
    Row {
        /// Whose input.
        rank: Rank,
        /// Which row of it.
        row: u64,
        /// The column that stands first.
        column: u64,
    },
    /// A part of a row of the members' inputs combined.
    Reduced {
        /// The group rank whose element comes first.
        first: u32,
        /// Which row of their inputs.
        row: u64,
        /// The column that stands first.
        column: u64,
    },
    /// All zero.
    Zero,
    /// Neither written nor compared.
    Free,
}

/// A run of bytes of one rank's heap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Whose heap.
    pub rank: Rank,
    /// Bytes from the heap's start.
    pub bytes: Range<u64>,
    /// Index into [`HeapPlan::regions`]: the region, or for a guard the one in front of it.
    pub region: Option<usize>,
    /// What kind of place.
    pub area: Area,
    /// What stands there.
    pub source: Source,
}

impl Span {
    /// What the element at a byte of the span is; `element` is its size.
    pub(crate) fn source_at(&self, offset: u64, element: u64) -> Source {
        let within = (offset - self.bytes.start) / element;
        match self.source {
            Source::Row { rank, row, column } => Source::Row { rank, row, column: column + within },
            Source::Reduced { first, row, column } => {
                Source::Reduced { first, row, column: column + within }
            }
            Source::Poison | Source::Zero | Source::Free => self.source,
        }
    }
}

/// Walks the image of call number `index`, every byte of every heap exactly once.
pub fn spans(
    problem: &Problem,
    plan: &HeapPlan,
    index: usize,
    moment: Moment,
    visit: &mut dyn FnMut(Span),
) {
    for Section { region, start, rows, stride, bands } in sections(problem, plan, index, moment) {
        // By rank: the band that holds the row.
        let mut at = vec![0; bands.len()];
        for row in 0..rows {
            for rank in problem.ranks() {
                let (bands, at) = (&bands[rank.index()], &mut at[rank.index()]);
                *at += usize::from(bands[*at].rows.end == row);
                let first = start + row * stride;
                for Part { bytes, area, source } in &bands[*at].parts {
                    let bytes = first + bytes.start..first + bytes.end;
                    let source = source.below(row - bands[*at].rows.start);
                    visit(Span { rank, bytes, region, area: *area, source });
                }
            }
        }
    }
}

/// The elements of one row, once made.
#[derive(Debug, Default)]
struct HeldRow {
    row: Option<u64>,
    bytes: Vec<u8>,
}

/// How the rows of inputs are made.
#[derive(Debug)]
enum Fill {
    /// Of collectives that move elements.
    Keyed(RowFill),
    /// Of reductions.
    Exact(ExactFill),
}

/// Generates the bytes of spans of one call, keeping the last row it made of each source.
#[derive(Debug)]
pub struct Generator<'a> {
    problem: &'a Problem,
    call: u64,
    fill: Fill,
    poison: Poison,
    /// The poison of the first call: what a kept workspace still holds.
    first_poison: Poison,
    specials: Vec<u64>,
    /// By rank.
    rows: Vec<HeldRow>,
    /// By the group rank that comes first.
    reduced: Vec<HeldRow>,
}

impl<'a> Generator<'a> {
    /// A generator for call number `index`.
    pub fn new(problem: &'a Problem, index: usize) -> Generator<'a> {
        let fill = match problem.collective.reduces() {
            true => Fill::Exact(ExactFill::new(problem, index)),
            false => Fill::Keyed(RowFill::of_call(problem, index, &problem.calls[index])),
        };
        let held = || problem.ranks().map(|_| HeldRow::default()).collect();
        Generator {
            problem,
            call: index as u64,
            fill,
            poison: Poison::new(problem.seed, index),
            first_poison: Poison::new(problem.seed, 0),
            specials: patterns::specials(problem.dtype, problem.world),
            rows: held(),
            reduced: held(),
        }
    }

    /// The elements of a row of a rank's input, as bytes.
    pub fn row(&mut self, rank: Rank, row: u64) -> &[u8] {
        let HeldRow { row: held, bytes } = &mut self.rows[rank.index()];
        if *held != Some(row) {
            match &self.fill {
                Fill::Exact(fill) => fill.row(rank, row, bytes),
                Fill::Keyed(fill) => fill.row(rank, row, bytes),
            }
            if self.problem.data == Data::BitPatterns {
                let dtype = self.problem.dtype;
                patterns::overlay(dtype, &self.specials, rank, row, self.call, bytes);
            }
            *held = Some(row);
        }
        bytes
    }

    /// The elements of a row of all members' inputs combined, as bytes.
    pub fn reduced(&mut self, first: u32, row: u64) -> &[u8] {
        if self.reduced[first as usize].row != Some(row) {
            let Problem { dtype, numerics, calls, .. } = self.problem;
            let call = &calls[self.call as usize];
            let members = call.group.members();
            for member in members {
                self.row(*member, row);
            }
            let operand = |(member, group_rank): (&Rank, u32)| Operand {
                bytes: &self.rows[member.index()].bytes,
                scalar: call.scalar(GroupRank(group_rank)),
            };
            let rows: Vec<Operand<'_>> = members.iter().zip(0..).map(operand).collect();
            let op = call.details.op;
            let bytes = arithmetic::reduce(*dtype, numerics, op, first as usize, &rows);
            self.reduced[first as usize] = HeldRow { row: Some(row), bytes };
        }
        &self.reduced[first as usize].bytes
    }

    /// The bytes of a span of elements.
    fn elements(&mut self, source: Source, length: usize) -> &[u8] {
        let size = self.problem.dtype.bytes();
        let (bytes, column) = match source {
            Source::Row { rank, row, column } => (self.row(rank, row), column),
            Source::Reduced { first, row, column } => (self.reduced(first, row), column),
            Source::Poison | Source::Zero | Source::Free => return &[],
        };
        let start = (column * size) as usize;
        &bytes[start..start + length]
    }

    fn poison_of(&self, area: Area) -> &Poison {
        if area == Area::Workspace { &self.first_poison } else { &self.poison }
    }

    /// Writes a span. `bytes` is the span's part of the heap; free spans are left alone.
    pub fn write(&mut self, span: &Span, bytes: &mut [u8]) {
        match span.source {
            Source::Poison => self.poison_of(span.area).write(span.rank, span.bytes.start, bytes),
            Source::Row { .. } | Source::Reduced { .. } => {
                bytes.copy_from_slice(self.elements(span.source, bytes.len()));
            }
            Source::Zero => bytes.fill(0),
            Source::Free => {}
        }
    }

    /// Whether a span holds what it must.
    pub fn holds(&mut self, span: &Span, bytes: &[u8]) -> bool {
        match span.source {
            Source::Poison => self.poison_of(span.area).holds(span.rank, span.bytes.start, bytes),
            Source::Row { .. } => self.elements(span.source, bytes.len()) == bytes,
            Source::Reduced { .. } => {
                let (problem, size) = (self.problem, self.problem.dtype.bytes() as usize);
                let expected = self.elements(span.source, bytes.len());
                let pairs = || expected.chunks(size).zip(bytes.chunks(size));
                expected == bytes || pairs().all(|(e, a)| same_element(problem, span, e, a))
            }
            Source::Zero => bytes.iter().all(|byte| *byte == 0),
            Source::Free => true,
        }
    }
}

/// Whether `actual` is what belongs in a place that should hold `expected`: a NaN that arithmetic
/// made is any NaN.
pub(crate) fn same_element(problem: &Problem, span: &Span, expected: &[u8], actual: &[u8]) -> bool {
    let nan = |bytes: &[u8]| arithmetic::is_nan(problem.dtype, bytes);
    let made = matches!(span.source, Source::Reduced { .. });
    expected == actual || (made && nan(expected) && nan(actual))
}

/// Fills every heap for call number `index`. `heaps[r]` is rank r's heap, [`HeapPlan::bytes`] long.
pub fn fill(problem: &Problem, plan: &HeapPlan, index: usize, heaps: &mut [&mut [u8]]) {
    let mut heaps: Vec<Option<&mut [u8]>> =
        heaps.iter_mut().map(|heap| Some(&mut **heap)).collect();
    fill_some(problem, plan, index, &mut heaps);
}

/// Fills those heaps that are here, the others being another process's.
pub fn fill_some(
    problem: &Problem,
    plan: &HeapPlan,
    index: usize,
    heaps: &mut [Option<&mut [u8]>],
) {
    let mut generator = Generator::new(problem, index);
    spans(problem, plan, index, Moment::Before, &mut |span| {
        if let Some(heap) = &mut heaps[span.rank.index()] {
            let range = span.bytes.start as usize..span.bytes.end as usize;
            generator.write(&span, &mut heap[range]);
        }
    });
}
