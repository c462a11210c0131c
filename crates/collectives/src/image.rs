//! Heap images, before and after a call, as one stream of spans that covers every byte.
//!
//! The stream is ordered by place, with the ranks innermost, because the same row of input stands
//! in many heaps: whoever generates it does so once. Images are never held whole.

use std::ops::Range;

use crate::fill::{Poison, RowFill};
use crate::patterns;
use crate::plan::{HeapPlan, RegionName, View};
use crate::problem::{BetweenCalls, Call, Contents, Data, Init, Judge, Problem};
use crate::rank::Rank;
use crate::reference;

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
    /// Bytes `from..` of a row of a rank's input.
    Row {
        /// Whose input.
        rank: Rank,
        /// Which row of it.
        row: u64,
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
                let row = |rank: Rank, row: u64| Source::Row { rank, row };
                matrix(problem, &region.storage, number, view, &row, visit);
            }
            RegionName::Output => {
                let view = plan.output(problem, call);
                let rows = OutputRows::new(problem, call, moment);
                let row = |rank: Rank, row: u64| rows.source(rank, row);
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

/// A region that holds a matrix: slack, then rows with their padding, then slack.
fn matrix(
    problem: &Problem,
    storage: &Range<u64>,
    region: usize,
    view: View,
    row_source: &dyn Fn(Rank, u64) -> Source,
    visit: &mut dyn FnMut(Span),
) {
    let region = Some(region);
    poison(problem, storage.start..view.start, region, Area::Slack, visit);
    for row in 0..view.shape.m {
        let bytes = view.row_bytes(row, 0..view.shape.n);
        for rank in problem.ranks().filter(|_| !bytes.is_empty()) {
            let source = row_source(rank, row);
            visit(Span { rank, bytes: bytes.clone(), region, area: Area::Element, source });
        }
        let padding = view.row_bytes(row, view.shape.n..view.row_stride);
        poison(problem, padding, region, Area::Padding, visit);
    }
    poison(problem, view.end()..storage.end, region, Area::Slack, visit);
}

/// Which input row stands in which output row, on every rank.
struct OutputRows {
    /// By rank.
    blocks: Vec<Vec<reference::Block>>,
}

impl OutputRows {
    fn new(problem: &Problem, call: &Call, moment: Moment) -> OutputRows {
        let blocks = |rank: Rank| {
            let own = || {
                // In place, the rank's own rows of the output are its input.
                let first =
                    call.group.group_rank(rank).map_or(0, |g| u64::from(g.0)) * call.shape.m;
                vec![reference::Block {
                    rows: first..first + call.shape.m,
                    from: rank,
                    from_row: 0,
                }]
            };
            match moment {
                Moment::Before if problem.in_place => own(),
                Moment::Before => Vec::new(),
                Moment::After => match reference::output(problem.collective, call, rank) {
                    untouched if untouched.is_empty() && problem.in_place => own(),
                    blocks => blocks,
                },
            }
        };
        OutputRows { blocks: problem.ranks().map(blocks).collect() }
    }

    fn source(&self, rank: Rank, row: u64) -> Source {
        let blocks = &self.blocks[rank.index()];
        let after = blocks.partition_point(|block| block.rows.end <= row);
        match blocks.get(after) {
            Some(block) if block.rows.contains(&row) => {
                Source::Row { rank: block.from, row: block.from_row + row - block.rows.start }
            }
            _ => Source::Poison,
        }
    }
}

/// Generates the bytes of spans of one call, keeping the last row it made.
#[derive(Debug)]
pub struct Generator<'a> {
    problem: &'a Problem,
    call: u64,
    fill: RowFill,
    poison: Poison,
    /// The poison of the first call: what a kept workspace still holds.
    first_poison: Poison,
    specials: Vec<u64>,
    row: Vec<u8>,
    held: Option<(Rank, u64)>,
}

impl<'a> Generator<'a> {
    /// A generator for call number `index`.
    pub fn new(problem: &'a Problem, index: usize) -> Generator<'a> {
        Generator {
            problem,
            call: index as u64,
            fill: RowFill::of_call(problem, index, &problem.calls[index]),
            poison: Poison::new(problem.seed, index),
            first_poison: Poison::new(problem.seed, 0),
            specials: patterns::specials(problem.dtype),
            row: Vec::new(),
            held: None,
        }
    }

    /// The elements of a row of a rank's input, as bytes.
    pub fn row(&mut self, rank: Rank, row: u64) -> &[u8] {
        if self.held != Some((rank, row)) {
            self.fill.row(rank, row, &mut self.row);
            if self.problem.data == Data::BitPatterns {
                let dtype = self.problem.dtype;
                patterns::overlay(dtype, &self.specials, rank, row, self.call, &mut self.row);
            }
            self.held = Some((rank, row));
        }
        &self.row
    }

    fn poison_of(&self, area: Area) -> &Poison {
        if area == Area::Workspace { &self.first_poison } else { &self.poison }
    }

    /// Writes a span. `bytes` is the span's part of the heap; free spans are left alone.
    pub fn write(&mut self, span: &Span, bytes: &mut [u8]) {
        match span.source {
            Source::Poison => self.poison_of(span.area).write(span.rank, span.bytes.start, bytes),
            Source::Row { rank, row } => bytes.copy_from_slice(self.row(rank, row)),
            Source::Zero => bytes.fill(0),
            Source::Free => {}
        }
    }

    /// Whether a span holds what it must.
    pub fn holds(&mut self, span: &Span, bytes: &[u8]) -> bool {
        match span.source {
            Source::Poison => self.poison_of(span.area).holds(span.rank, span.bytes.start, bytes),
            Source::Row { rank, row } => self.row(rank, row) == bytes,
            Source::Zero => bytes.iter().all(|byte| *byte == 0),
            Source::Free => true,
        }
    }
}

/// Fills every heap for call number `index`. `heaps[r]` is rank r's heap, [`HeapPlan::bytes`] long.
pub fn fill(problem: &Problem, plan: &HeapPlan, index: usize, heaps: &mut [&mut [u8]]) {
    let mut generator = Generator::new(problem, index);
    spans(problem, plan, index, Moment::Before, &mut |span| {
        let range = span.bytes.start as usize..span.bytes.end as usize;
        generator.write(&span, &mut heaps[span.rank.index()][range]);
    });
}
