//! A call, as claims about it see it.

use crate::heap::image::Source;
use crate::heap::plan::{HeapPlan, RegionName, View};
use crate::meaning::problem::{Call, Collective, Problem};
use crate::meaning::rank::{GroupRank, Rank};
use crate::meaning::reference::{self, Block, Content};

use super::samples::Sample;

/// Where bytes come from, by element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// An element of a rank's input of a call.
    Input { rank: Rank, call: usize, row: u64, column: u64 },
    /// An element of all members' inputs of a call combined.
    Reduced { first: u32, call: usize, row: u64, column: u64 },
    /// Some inputs' elements combined.
    Sum { of: Vec<Rank>, row: u64, column: u64 },
    /// What a heap held before this call.
    Heap { rank: Rank, offset: u64 },
    /// Nothing but zeros.
    Zero,
}

/// A call and its surroundings.
pub(crate) struct Scene<'a> {
    pub problem: &'a Problem,
    pub plan: &'a HeapPlan,
    pub index: usize,
    pub call: &'a Call,
    pub members: &'a [Rank],
    pub output: View,
    /// Bytes an element.
    pub element: u64,
    /// Elements of a store of sixteen bytes.
    pub vector: u64,
    /// Ranks whose output holds anything but the poison.
    pub written: Vec<Rank>,
    /// What belongs in each rank's output.
    blocks: Vec<Vec<Block>>,
}

impl<'a> Scene<'a> {
    pub(crate) fn new(
        problem: &'a Problem,
        plan: &'a HeapPlan,
        index: usize,
        written: Vec<Rank>,
    ) -> Scene<'a> {
        let call = &problem.calls[index];
        let element = problem.dtype.bytes();
        Scene {
            problem,
            plan,
            index,
            call,
            members: call.group.members(),
            output: plan.output(problem, call),
            element,
            vector: 16 / element,
            written,
            blocks: problem.ranks().map(|rank| reference::output(problem, call, rank)).collect(),
        }
    }

    /// Members of the group.
    pub(crate) fn size(&self) -> u64 {
        self.members.len() as u64
    }

    /// Rows of each part of the output, one a member where it holds a part of each.
    pub(crate) fn part_rows(&self) -> u64 {
        if self.is_stacked() { self.call.shape.m } else { self.output.shape.m }
    }

    /// Whether the output holds as many rows of each member, one member below another.
    pub(crate) fn is_stacked(&self) -> bool {
        let stacks = matches!(
            self.problem.collective,
            Collective::AllGather | Collective::Gather | Collective::AllToAll
        );
        stacks && self.call.details.counts.is_empty()
    }

    pub(crate) fn group_rank(&self, rank: Rank) -> Option<u64> {
        self.call.group.group_rank(rank).map(|GroupRank(rank)| rank.into())
    }

    /// The member with a group rank, if there is one.
    pub(crate) fn member(&self, group_rank: u64) -> Option<Rank> {
        self.members.get(usize::try_from(group_rank).ok()?).copied()
    }

    /// A rank of the world by number.
    pub(crate) fn rank(&self, number: u64) -> Option<Rank> {
        (number < u64::from(self.problem.world)).then_some(Rank(number as u32))
    }

    /// What belongs at a place of `rank`'s output.
    pub(crate) fn belongs(&self, rank: Rank, row: u64, column: u64) -> Option<Origin> {
        let holds = |block: &&Block| block.rows.contains(&row) && block.columns.contains(&column);
        let block = self.blocks[rank.index()].iter().find(holds)?;
        let (row, column) = (
            block.from_row + row - block.rows.start,
            block.from_column + column - block.columns.start,
        );
        let call = self.index;
        Some(match block.content {
            Content::Input(rank) => Origin::Input { rank, call, row, column },
            Content::Reduced(first) => Origin::Reduced { first, call, row, column },
        })
    }

    /// Elements from the output's first one to a place; negative in front of it.
    pub(crate) fn distance(&self, sample: &Sample) -> i64 {
        (sample.offset as i64 - self.output.start as i64).div_euclid(self.element as i64)
    }

    /// Bytes from the start of the element that a sample lies in.
    pub(crate) fn within(&self, sample: &Sample) -> u64 {
        if sample.is_element {
            return 0;
        }
        (sample.offset as i64 - self.output.start as i64).rem_euclid(self.element as i64) as u64
    }

    /// Row and column of the output at a place, also behind its last row.
    pub(crate) fn row_column(&self, sample: &Sample) -> Option<(u64, u64)> {
        let distance = u64::try_from(self.distance(sample)).ok()?;
        let stride = self.output.row_stride.max(1);
        Some((distance / stride, distance % stride))
    }

    /// The region of the input, and its first byte, which lies in front of its first element.
    pub(crate) fn input_storage(&self) -> u64 {
        let name = if self.problem.in_place { RegionName::Output } else { RegionName::Input };
        self.plan.region(&name).storage.start
    }

    /// The element of `rank`'s heap that is `distance` behind the first one of its input.
    pub(crate) fn input_at(&self, rank: Rank, distance: u64) -> Origin {
        let view = self.plan.input(self.problem, self.call, rank);
        Origin::Heap { rank, offset: view.start + distance * self.element }
    }
}

/// Rank, row and column of the input element that belongs at a sample.
pub(crate) fn expected_input(sample: &Sample) -> Option<(Rank, u64, u64)> {
    match sample.source {
        Source::Row { rank, row, column } => Some((rank, row, column)),
        Source::Reduced { .. } | Source::Poison | Source::Zero | Source::Free => None,
    }
}
