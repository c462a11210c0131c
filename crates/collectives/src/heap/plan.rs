//! Where everything lies in a heap: one plan for all ranks and for the whole sequence of calls.
//!
//! ```text
//! | guard | input | guard | output | guard | workspace 0 | guard | ... |
//! ```
//! Regions start at multiples of 256 bytes and are sized for their largest call; guards are at
//! least `guard_bytes` long. In place there is no input region: the output region holds the larger
//! of the two matrices, and the other is a part of it.

use std::ops::Range;

use serde::Serialize;

use crate::meaning::op::Op;
use crate::meaning::problem::{Call, Collective, Problem, RegionLayout};
use crate::meaning::rank::{MAX_WORLD, Rank};
use crate::meaning::shape::{Shape, Tile};

/// Rows this many bytes apart, or more, have a gap between them that no memory backs.
const LEAST_GAP: u64 = 16 << 20;
/// So far from a row, on both sides, its padding is judged like any other.
const GAP_EDGE: u64 = 64 << 10;
/// Gaps are whole pages.
const PAGE: u64 = 4096;

/// Alignment of a region's start, as device allocators give.
pub const REGION_ALIGN: u64 = 256;
/// A heap's size is a multiple of this.
pub const HEAP_ALIGN: u64 = 4096;

/// Which region of a heap.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub enum RegionName {
    /// What a rank contributes.
    Input,
    /// What a rank receives.
    Output,
    /// Declared extra memory, by index into [`Problem::workspaces`].
    Workspace(usize),
}

/// Storage of one region in every rank's heap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Which.
    pub name: RegionName,
    /// Bytes from the heap's start.
    pub storage: Range<u64>,
}

/// The matrix that a call sees in a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// Bytes from the heap's start to element (0, 0).
    pub start: u64,
    /// Rows and columns.
    pub shape: Shape,
    /// Elements from one row to the next.
    pub row_stride: u64,
    /// Bytes an element.
    pub element: u64,
    /// Rows and columns a tile, to name the tile of an element.
    pub tile: Tile,
}

/// The layout of every heap of a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeapPlan {
    /// In order of address, with guards between.
    pub regions: Vec<Region>,
    /// Size of a heap in bytes.
    pub bytes: u64,
}

/// Why a problem cannot be laid out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A size does not fit in 64 bits.
    #[error("the heap's size overflows 64 bits (smaller shapes, strides or offsets are needed)")]
    Overflow,
    /// More ranks than the fill can tell apart.
    #[error("a world of {0} ranks (1 to {MAX_WORLD} are supported)")]
    World(u32),
    /// Input cannot be a part of output.
    #[error("in_place is not defined for {0}: {1}")]
    InPlace(Collective, &'static str),
    /// Rows that an uneven all_to_all cannot send.
    #[error("counts of {0}: {1}")]
    Counts(Collective, String),
    /// Factors that a premultiplied sum cannot have.
    #[error("scalars: {0}")]
    Scalars(String),
    /// No call.
    #[error("a problem needs at least one call")]
    NoCall,
}

impl View {
    /// Bytes from the heap's start of the elements `columns` of `row`.
    pub fn row_bytes(&self, row: u64, columns: Range<u64>) -> Range<u64> {
        let row_start = self.start + row * self.row_stride * self.element;
        row_start + columns.start * self.element..row_start + columns.end * self.element
    }

    /// First byte behind the last row, its padding included.
    pub fn end(&self) -> u64 {
        self.start + self.shape.m * self.row_stride * self.element
    }

    /// Row and column of a byte of this view; the column may lie in the padding.
    pub fn row_column(&self, offset: u64) -> (u64, u64) {
        let element = (offset - self.start) / self.element;
        (element / self.row_stride, element % self.row_stride)
    }
}

fn extent(shape: Shape, layout: RegionLayout, element: u64) -> Option<u64> {
    let stride = shape.n.checked_add(layout.pad_columns)?;
    shape.m.checked_mul(stride)?.checked_add(layout.offset_elements)?.checked_mul(element)
}

/// Counts are one row a source and one column a destination, each at most M.
fn counts_refusal(problem: &Problem, call: &Call) -> Option<String> {
    let (counts, members) = (&call.details.counts, call.group.size() as usize);
    if counts.is_empty() {
        return None;
    }
    if problem.collective != Collective::AllToAll {
        return Some("only the parts of all_to_all may be uneven".into());
    }
    if counts.len() != members || counts.iter().any(|sent| sent.len() != members) {
        return Some(format!("a group of {members} needs {members} lists of {members} numbers"));
    }
    let most = counts.iter().flatten().max().copied().unwrap_or(0);
    (most > call.shape.m)
        .then(|| format!("{most} rows to one rank, more than m = {}", call.shape.m))
}

fn input_shape(problem: &Problem, call: &Call) -> Shape {
    problem.collective.input_shape(call.shape, u64::from(call.group.size()))
}

/// Rows and columns of what the output region holds.
fn held_shape(problem: &Problem, call: &Call) -> Shape {
    let output = problem.collective.output_shape(call.shape, u64::from(call.group.size()));
    match problem.in_place {
        true => Shape { m: output.m.max(input_shape(problem, call).m), ..output },
        false => output,
    }
}

/// Factors are one a member, and none of them hides what it multiplies.
fn scalars_refusal(call: &Call) -> Option<String> {
    let (scalars, members) = (&call.details.scalars, call.group.size() as usize);
    if scalars.is_empty() {
        return None;
    }
    if call.details.op != Op::PremulSum {
        return Some("only `op: premul_sum` multiplies".into());
    }
    if scalars.len() != members {
        return Some(format!("a group of {members} needs {members} numbers"));
    }
    scalars.contains(&0).then(|| "0 would hide a member's elements".into())
}

fn align(value: u64, to: u64) -> Option<u64> {
    value.checked_next_multiple_of(to)
}

impl HeapPlan {
    /// Lays the heaps out.
    ///
    /// # Errors
    /// Sizes that overflow, a world that is empty or too large, an in-place call of a collective
    /// that has no such meaning, a problem without calls.
    pub fn new(problem: &Problem) -> Result<HeapPlan, PlanError> {
        if problem.world == 0 || problem.world > MAX_WORLD {
            return Err(PlanError::World(problem.world));
        }
        if let (true, Some(why)) = (problem.in_place, problem.collective.in_place_refusal()) {
            return Err(PlanError::InPlace(problem.collective, why));
        }
        if problem.calls.is_empty() {
            return Err(PlanError::NoCall);
        }
        if let Some(why) = problem.calls.iter().find_map(|call| counts_refusal(problem, call)) {
            return Err(PlanError::Counts(problem.collective, why));
        }
        if let Some(why) = problem.calls.iter().find_map(scalars_refusal) {
            return Err(PlanError::Scalars(why));
        }
        let largest = |extent_of: &dyn Fn(&Call) -> Option<u64>| {
            problem.calls.iter().try_fold(0, |most: u64, call| {
                let group_size = u64::from(call.group.size());
                call.shape.m.checked_mul(group_size)?;
                call.shape.n.checked_mul(group_size)?;
                Some(most.max(extent_of(call)?))
            })
        };
        let element = problem.dtype.bytes();
        let mut sizes = Vec::new();
        if !problem.in_place {
            let input = |call: &Call| {
                extent(input_shape(problem, call), problem.layout_of(call).input, element)
            };
            sizes.push((RegionName::Input, largest(&input)));
        }
        let output = |call: &Call| {
            extent(held_shape(problem, call), problem.layout_of(call).output, element)
        };
        sizes.push((RegionName::Output, largest(&output)));
        for (index, workspace) in problem.workspaces.iter().enumerate() {
            sizes.push((RegionName::Workspace(index), Some(workspace.bytes)));
        }
        Self::place(sizes, problem.guard_bytes).ok_or(PlanError::Overflow)
    }

    fn place(sizes: Vec<(RegionName, Option<u64>)>, guard_bytes: u64) -> Option<HeapPlan> {
        let mut regions = Vec::new();
        let mut end = 0u64;
        for (name, bytes) in sizes {
            let start = align(end.checked_add(guard_bytes)?, REGION_ALIGN)?;
            end = start.checked_add(bytes?)?;
            regions.push(Region { name, storage: start..end });
        }
        let bytes = align(end.checked_add(guard_bytes)?, HEAP_ALIGN)?;
        (bytes < 1 << 46).then_some(HeapPlan { regions, bytes })
    }

    /// The storage of a region. Panics on the input of an in-place problem.
    pub fn region(&self, name: &RegionName) -> &Region {
        self.regions.iter().find(|region| region.name == *name).expect("the plan has this region")
    }

    /// The matrix in the output region, the same for every rank: the output, or in place the larger
    /// of input and output.
    pub fn output(&self, problem: &Problem, call: &Call) -> View {
        let shape = held_shape(problem, call);
        self.view(problem, call, RegionName::Output, problem.layout_of(call).output, shape)
    }

    /// The output as `call` sees it on `rank`.
    pub fn output_of(&self, problem: &Problem, call: &Call, rank: Rank) -> View {
        let shape = problem.collective.output_shape(call.shape, u64::from(call.group.size()));
        let held = self.output(problem, call);
        let [_, first_row] = problem.in_place_rows(call, rank);
        let first_row = if problem.in_place { first_row } else { 0 };
        View { start: held.row_bytes(first_row, 0..0).start, shape, ..held }
    }

    /// The input as `call` sees it on `rank`.
    pub fn input(&self, problem: &Problem, call: &Call, rank: Rank) -> View {
        let shape = input_shape(problem, call);
        if !problem.in_place {
            let layout = problem.layout_of(call).input;
            return self.view(problem, call, RegionName::Input, layout, shape);
        }
        let held = self.output(problem, call);
        let [first_row, _] = problem.in_place_rows(call, rank);
        View { start: held.row_bytes(first_row, 0..0).start, shape, ..held }
    }

    /// The part of each row, in bytes from its start, that no memory backs: whole pages of padding
    /// that is huge, where every row of every call has them at one place. Empty for most.
    pub fn gap(&self, problem: &Problem, view: &View) -> Range<u64> {
        let stride = view.row_stride * view.element;
        let first = (view.start + view.shape.n * view.element + GAP_EDGE).next_multiple_of(PAGE);
        let end = (view.start + stride).saturating_sub(GAP_EDGE) / PAGE * PAGE;
        let alike = |call: &Call| {
            let first = &problem.calls[0];
            let of = |call: &Call| (call.shape, call.group.size(), problem.layout_of(call));
            of(call) == of(first)
        };
        let is_huge = first + LEAST_GAP <= end && stride.is_multiple_of(PAGE);
        match is_huge && problem.calls.iter().all(alike) {
            true => first - view.start..end - view.start,
            false => 0..0,
        }
    }

    /// All gaps, in bytes from the heap's start: whoever touches one is to fault.
    pub fn gaps(&self, problem: &Problem) -> Vec<Range<u64>> {
        let call = &problem.calls[0];
        let mut views = vec![self.output(problem, call)];
        if !problem.in_place {
            views.push(self.input(problem, call, Rank(0)));
        }
        let mut gaps = Vec::new();
        for view in views {
            let gap = self.gap(problem, &view);
            let rows = if gap.is_empty() { 0 } else { view.shape.m };
            let start = |row: u64| view.row_bytes(row, 0..0).start;
            gaps.extend((0..rows).map(|row| start(row) + gap.start..start(row) + gap.end));
        }
        gaps
    }

    /// Bytes of a heap that memory backs.
    pub fn backed_bytes(&self, problem: &Problem) -> u64 {
        let gaps = self.gaps(problem);
        self.bytes - gaps.iter().map(|gap| gap.end - gap.start).sum::<u64>()
    }

    fn view(
        &self,
        problem: &Problem,
        call: &Call,
        name: RegionName,
        layout: RegionLayout,
        shape: Shape,
    ) -> View {
        let element = problem.dtype.bytes();
        View {
            start: self.region(&name).storage.start + layout.offset_elements * element,
            shape,
            row_stride: shape.n + layout.pad_columns,
            element,
            tile: call.tile,
        }
    }
}

impl RegionName {
    /// The name as findings print it.
    pub fn label(&self, problem: &Problem) -> String {
        match self {
            RegionName::Input => "input".into(),
            RegionName::Output => "output".into(),
            RegionName::Workspace(index) => {
                format!("workspace.{}", problem.workspaces[*index].name)
            }
        }
    }
}
