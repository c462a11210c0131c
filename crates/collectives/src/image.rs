//! Heap images, before and after a call, as one stream of spans that covers every byte.
//!
//! The stream is ordered by place, with the ranks innermost, because the same row of input stands
//! in many heaps: whoever generates it does so once. Images are never held whole.

use std::ops::Range;

use crate::arithmetic;
use crate::exact::ExactFill;
use crate::fill::{Poison, RowFill};
use crate::patterns;
use crate::plan::{HeapPlan, RegionName, View};
use crate::problem::{BetweenCalls, Call, Contents, Data, Init, Judge, Problem};
use crate::rank::Rank;
use crate::reference::{self, Content};

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

/// Walks the image of call number `index`, every byte of every heap exactly once.
pub fn spans(
    problem: &Problem,
    plan: &HeapPlan,
    index: usize,
    moment: Moment,
    visit: &mut dyn FnMut(Span),
) {
    let call = &problem.calls[index];
    let mut end = 0;
    for (number, region) in plan.regions.iter().enumerate() {
        let before = number.checked_sub(1);
        poison(problem, end..region.storage.start, before, Area::Guard, visit);
        match &region.name {
            RegionName::Workspace(workspace) => {
                for rank in problem.ranks().filter(|_| !region.storage.is_empty()) {
                    let source = workspace_source(problem, *workspace, index, rank, moment);
                    let (bytes, region) = (region.storage.clone(), Some(number));
                    visit(Span { rank, bytes, region, area: Area::Workspace, source });
                }
            }
            RegionName::Input => {
                let view = plan.input(problem, call, Rank(0));
                let row = |rank: Rank, row: u64, part: &mut dyn FnMut(Range<u64>, Source)| {
                    part(0..view.shape.n, Source::Row { rank, row, column: 0 });
                };
                matrix(problem, &region.storage, number, view, &row, visit);
            }
            RegionName::Output => {
                let view = plan.output(problem, call);
                let rows = OutputRows::new(problem, call, moment);
                let row = |rank: Rank, row: u64, part: &mut dyn FnMut(Range<u64>, Source)| {
                    rows.parts(rank, row, view.shape.n, part);
                };
                matrix(problem, &region.storage, number, view, &row, visit);
            }
        }
        end = region.storage.end;
    }
    poison(problem, end..plan.bytes, plan.regions.len().checked_sub(1), Area::Guard, visit);
}

fn workspace_source(
    problem: &Problem,
    workspace: usize,
    call: usize,
    rank: Rank,
    moment: Moment,
) -> Source {
    let workspace = &problem.workspaces[workspace];
    let takes_part = |call: &Call| call.group.group_rank(rank).is_some();
    let kept = workspace.between_calls == BetweenCalls::Keep;
    // Whether an earlier call may have left anything in it.
    let used = kept && problem.calls[..call].iter().any(takes_part);
    let idle = !takes_part(&problem.calls[call]);
    let contents = match (moment, workspace.judge) {
        (Moment::Before, _) if used => Contents::Free,
        (Moment::Before, _) => initial(workspace.init),
        // What an earlier call left there, as its own business, is not known here.
        (Moment::After, Judge::Ignore) if !idle || used => Contents::Free,
        (Moment::After, Judge::Ignore) => initial(workspace.init),
        (Moment::After, Judge::Zero) if !idle => Contents::Zero,
        (Moment::After, Judge::Zero) if used => Contents::Zero,
        (Moment::After, Judge::Zero | Judge::Unchanged) => initial(workspace.init),
    };
    match contents {
        Contents::Zero => Source::Zero,
        Contents::Poison => Source::Poison,
        Contents::Free => Source::Free,
    }
}

fn initial(init: Init) -> Contents {
    match init {
        Init::Zero => Contents::Zero,
        Init::Poison => Contents::Poison,
    }
}

fn poison(
    problem: &Problem,
    bytes: Range<u64>,
    region: Option<usize>,
    area: Area,
    visit: &mut dyn FnMut(Span),
) {
    for rank in problem.ranks().filter(|_| !bytes.is_empty()) {
        visit(Span { rank, bytes: bytes.clone(), region, area, source: Source::Poison });
    }
}

/// Calls its last argument for every part of a rank's row: columns, in order, and their source.
type RowParts<'a> = &'a dyn Fn(Rank, u64, &mut dyn FnMut(Range<u64>, Source));

/// A region that holds a matrix: slack, then rows with their padding, then slack.
fn matrix(
    problem: &Problem,
    storage: &Range<u64>,
    region: usize,
    view: View,
    row_parts: RowParts<'_>,
    visit: &mut dyn FnMut(Span),
) {
    let region = Some(region);
    poison(problem, storage.start..view.start, region, Area::Slack, visit);
    for row in 0..view.shape.m {
        for rank in problem.ranks() {
            row_parts(rank, row, &mut |columns, source| {
                let bytes = view.row_bytes(row, columns);
                if !bytes.is_empty() {
                    visit(Span { rank, bytes, region, area: Area::Element, source });
                }
            });
        }
        let padding = view.row_bytes(row, view.shape.n..view.row_stride);
        poison(problem, padding, region, Area::Padding, visit);
    }
    poison(problem, view.end()..storage.end, region, Area::Slack, visit);
}

/// What stands in which part of the output, on every rank.
struct OutputRows {
    /// By rank.
    blocks: Vec<Vec<reference::Block>>,
    /// What stands in the parts that no block covers, by rank.
    rest: Vec<Source>,
}

impl OutputRows {
    fn new(problem: &Problem, call: &Call, moment: Moment) -> OutputRows {
        let own = |rank: Rank| {
            let first = problem.in_place_row(call, rank);
            vec![reference::Block {
                rows: first..first + call.shape.m,
                columns: 0..call.shape.n,
                content: Content::Input(rank),
                from_row: 0,
                from_column: 0,
            }]
        };
        let blocks = |rank: Rank| match moment {
            Moment::Before if problem.in_place => own(rank),
            Moment::Before => Vec::new(),
            Moment::After => match reference::output(problem, call, rank) {
                untouched if untouched.is_empty() && problem.in_place => own(rank),
                blocks => blocks,
            },
        };
        let rest = |rank: Rank| match (problem.output_init, call.group.group_rank(rank)) {
            (Init::Zero, Some(_)) => Source::Zero,
            _ => Source::Poison,
        };
        OutputRows {
            blocks: problem.ranks().map(blocks).collect(),
            rest: problem.ranks().map(rest).collect(),
        }
    }

    fn parts(&self, rank: Rank, row: u64, columns: u64, part: &mut dyn FnMut(Range<u64>, Source)) {
        let blocks = &self.blocks[rank.index()];
        let rest = self.rest[rank.index()];
        let after = blocks.partition_point(|block| block.rows.end <= row);
        let mut covered = 0;
        for block in blocks[after..].iter().take_while(|block| block.rows.contains(&row)) {
            let (row, column) = (block.from_row + row - block.rows.start, block.from_column);
            if covered < block.columns.start {
                part(covered..block.columns.start, rest);
            }
            part(
                block.columns.clone(),
                match block.content {
                    Content::Input(rank) => Source::Row { rank, row, column },
                    Content::Reduced(first) => Source::Reduced { first, row, column },
                },
            );
            covered = block.columns.end;
        }
        if covered < columns {
            part(covered..columns, rest);
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
            specials: patterns::specials(problem.dtype),
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
            let rows: Vec<&[u8]> =
                members.iter().map(|member| &self.rows[member.index()].bytes[..]).collect();
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
    let mut generator = Generator::new(problem, index);
    spans(problem, plan, index, Moment::Before, &mut |span| {
        let range = span.bytes.start as usize..span.bytes.end as usize;
        generator.write(&span, &mut heaps[span.rank.index()][range]);
    });
}
