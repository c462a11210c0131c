//! Where everything stands in the heaps, as rectangles: rows of bytes at one distance.
//!
//! All heaps have the same sections, one behind the other, without gaps; what stands in a section
//! is said for each rank. A matrix is one section however many rows it has.

use std::ops::Range;

use crate::heap::image::{Area, Moment, Source};
use crate::heap::plan::{HeapPlan, RegionName, View};
use crate::meaning::problem::{BetweenCalls, Call, Contents, Init, Judge, Problem};
use crate::meaning::rank::Rank;
use crate::meaning::reference::{self, Block, Content};

/// Rows at one distance, at the same place of every heap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Index into [`HeapPlan::regions`]: the region, or for a guard the one in front of it.
    pub region: Option<usize>,
    /// Bytes from the heap's start to the first row.
    pub start: u64,
    /// How many rows.
    pub rows: u64,
    /// Bytes from one row to the next; the parts of a row fill them.
    pub stride: u64,
    /// By rank: bands that cover the rows, in order.
    pub bands: Vec<Vec<Band>>,
}

/// Rows that are divided alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Band {
    /// Rows of the section.
    pub rows: Range<u64>,
    /// Parts that cover a row, in order.
    pub parts: Vec<Part>,
}

/// A rectangle of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Bytes from a row's start. Never empty.
    pub bytes: Range<u64>,
    /// What kind of place.
    pub area: Area,
    /// What stands in the band's first row; each row below holds the source's next one.
    pub source: Source,
}

impl Source {
    /// What stands so many rows below.
    pub fn below(self, rows: u64) -> Source {
        match self {
            Source::Row { rank, row, column } => Source::Row { rank, row: row + rows, column },
            Source::Reduced { first, row, column } => {
                Source::Reduced { first, row: row + rows, column }
            }
            Source::Poison | Source::Zero | Source::Free => self,
        }
    }
}

/// The sections of call number `index`, which cover every byte of every heap exactly once.
pub fn sections(problem: &Problem, plan: &HeapPlan, index: usize, moment: Moment) -> Vec<Section> {
    let call = &problem.calls[index];
    let mut sections = Vec::new();
    let mut end = 0;
    for (number, region) in plan.regions.iter().enumerate() {
        let before = number.checked_sub(1);
        sections.push(alike(problem, end..region.storage.start, before, Area::Guard));
        match &region.name {
            RegionName::Workspace(workspace) => {
                let source = |rank| workspace_source(problem, *workspace, index, rank, moment);
                let storage = region.storage.clone();
                sections.push(run(problem, storage, Some(number), Area::Workspace, &source));
            }
            RegionName::Input => {
                let view = plan.input(problem, call, Rank(0));
                let all = |rank| {
                    vec![Block {
                        rows: 0..view.shape.m,
                        columns: 0..view.shape.n,
                        content: Content::Input(rank),
                        from_row: 0,
                        from_column: 0,
                    }]
                };
                let rest = |_| Source::Poison;
                matrix(problem, plan, &region.storage, number, &view, &all, &rest, &mut sections);
            }
            RegionName::Output => {
                let view = plan.output(problem, call);
                let blocks = |rank| output_blocks(problem, call, moment, rank);
                let rest = |rank| match (problem.output_init, call.group.group_rank(rank)) {
                    (Init::Zero, Some(_)) => Source::Zero,
                    _ => Source::Poison,
                };
                matrix(
                    problem,
                    plan,
                    &region.storage,
                    number,
                    &view,
                    &blocks,
                    &rest,
                    &mut sections,
                );
            }
        }
        end = region.storage.end;
    }
    let last = plan.regions.len().checked_sub(1);
    sections.push(alike(problem, end..plan.bytes, last, Area::Guard));
    sections.retain(|section| section.rows > 0 && section.stride > 0);
    sections
}

/// A run of poison on all ranks.
fn alike(problem: &Problem, bytes: Range<u64>, region: Option<usize>, area: Area) -> Section {
    run(problem, bytes, region, area, &|_| Source::Poison)
}

/// A section of one row with one part a rank.
fn run(
    problem: &Problem,
    bytes: Range<u64>,
    region: Option<usize>,
    area: Area,
    source: &dyn Fn(Rank) -> Source,
) -> Section {
    let stride = bytes.end - bytes.start;
    let band = |rank| {
        vec![Band {
            rows: 0..1,
            parts: vec![Part { bytes: 0..stride, area, source: source(rank) }],
        }]
    };
    let bands = problem.ranks().map(band).collect();
    Section { region, start: bytes.start, rows: 1, stride, bands }
}

/// A region that holds a matrix: slack, then rows with their padding, then slack.
#[expect(clippy::too_many_arguments, reason = "a matrix is made of all of them")]
fn matrix(
    problem: &Problem,
    plan: &HeapPlan,
    storage: &Range<u64>,
    region: usize,
    view: &View,
    blocks: &dyn Fn(Rank) -> Vec<Block>,
    rest: &dyn Fn(Rank) -> Source,
    sections: &mut Vec<Section>,
) {
    let region = Some(region);
    let gap = plan.gap(problem, view);
    sections.push(alike(problem, storage.start..view.start, region, Area::Slack));
    sections.push(Section {
        region,
        start: view.start,
        rows: view.shape.m,
        stride: view.row_stride * view.element,
        bands: problem.ranks().map(|rank| bands(view, &gap, &blocks(rank), rest(rank))).collect(),
    });
    sections.push(alike(problem, view.end()..storage.end, region, Area::Slack));
}

/// The bands of a matrix that holds `blocks`, and `rest` where none of them is.
fn bands(view: &View, gap: &Range<u64>, blocks: &[Block], rest: Source) -> Vec<Band> {
    let mut bands = Vec::new();
    let mut covered = 0;
    let filled = |block: &&Block| !block.rows.is_empty() && !block.columns.is_empty();
    let blocks: Vec<&Block> = blocks.iter().filter(filled).collect();
    for beside in blocks.chunk_by(|left, right| left.rows == right.rows) {
        let rows = beside[0].rows.clone();
        if covered < rows.start {
            bands.push(Band { rows: covered..rows.start, parts: parts(view, gap, &[], rest) });
        }
        covered = rows.end;
        bands.push(Band { rows, parts: parts(view, gap, beside, rest) });
    }
    if covered < view.shape.m {
        bands.push(Band { rows: covered..view.shape.m, parts: parts(view, gap, &[], rest) });
    }
    bands
}

/// The parts of a row: blocks that lie beside each other, what is between them, and the padding.
fn parts(view: &View, gap: &Range<u64>, blocks: &[&Block], rest: Source) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut push = |columns: Range<u64>, area: Area, source: Source| {
        let bytes = columns.start * view.element..columns.end * view.element;
        if !bytes.is_empty() {
            parts.push(Part { bytes, area, source });
        }
    };
    let mut covered = 0;
    for block in blocks {
        push(covered..block.columns.start, Area::Element, rest);
        push(block.columns.clone(), Area::Element, block_source(block));
        covered = block.columns.end;
    }
    push(covered..view.shape.n, Area::Element, rest);
    let padding = view.shape.n * view.element..view.row_stride * view.element;
    let beside = match gap.is_empty() {
        true => vec![(padding, Source::Poison)],
        // What no memory backs is judged by whoever faults on it.
        false => vec![
            (padding.start..gap.start, Source::Poison),
            (gap.clone(), Source::Free),
            (gap.end..padding.end, Source::Poison),
        ],
    };
    for (bytes, source) in beside.into_iter().filter(|(bytes, _)| !bytes.is_empty()) {
        parts.push(Part { bytes, area: Area::Padding, source });
    }
    parts
}

fn block_source(block: &Block) -> Source {
    let (row, column) = (block.from_row, block.from_column);
    match block.content {
        Content::Input(rank) => Source::Row { rank, row, column },
        Content::Reduced(first) => Source::Reduced { first, row, column },
    }
}

/// What a rank's output region holds.
fn output_blocks(problem: &Problem, call: &Call, moment: Moment, rank: Rank) -> Vec<Block> {
    let written = match moment {
        Moment::Before => Vec::new(),
        Moment::After => reference::output(problem, call, rank),
    };
    if !problem.in_place {
        return written;
    }
    let size = u64::from(call.group.size());
    let [input_row, output_row] = problem.in_place_rows(call, rank);
    let input_rows = problem.collective.input_shape(call.shape, size).m;
    let output_rows = problem.collective.output_shape(call.shape, size).m;
    let kept = |rows: Range<u64>| Block {
        columns: 0..call.shape.n,
        content: Content::Input(rank),
        from_row: rows.start - input_row,
        from_column: 0,
        rows,
    };
    let (first, last) = (input_row, input_row + input_rows);
    if written.is_empty() {
        return vec![kept(first..last)];
    }
    // What is written covers all of the output: input is left above it and below it.
    let above = kept(first..output_row.max(first));
    let below = kept((output_row + output_rows).min(last)..last);
    let down = |block: Block| Block {
        rows: block.rows.start + output_row..block.rows.end + output_row,
        ..block
    };
    [above].into_iter().chain(written.into_iter().map(down)).chain([below]).collect()
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
