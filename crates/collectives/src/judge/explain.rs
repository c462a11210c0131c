//! Whose data is there instead, and a sentence about it.

use crate::data::fill::{Poison, RowFill};
use crate::heap::image::{Area, Generator, Moment, Source, Span, spans};
use crate::heap::plan::{HeapPlan, RegionName};
use crate::judge::finding::{Extent, FindingKind, Place};
use crate::meaning::arithmetic::{self, Operand};
use crate::meaning::problem::Problem;
use crate::meaning::rank::{GroupRank, Rank};

/// Images are searched byte by byte only up to this many bytes over all ranks.
const SEARCHED_BYTES: u64 = 32 << 20;
/// Fewer bytes than this are not searched for: they would be found by chance.
const SEARCHED_RUN: usize = 4;

/// Where a wrong byte's origin is looked for.
pub(crate) struct Lookup<'a> {
    pub problem: &'a Problem,
    pub plan: &'a HeapPlan,
    pub index: usize,
    pub rank: Rank,
    /// Rank, row and column of the input element that belongs there, if one does.
    pub expected: Option<(Rank, u64, u64)>,
}

impl Lookup<'_> {
    /// Whose bytes `run` are, found at `offset` of `self.rank`'s heap; `unit` is the first element.
    pub(crate) fn whose(&self, offset: u64, run: &[u8], unit: &[u8]) -> String {
        if Poison::new(self.problem.seed, self.index).holds(self.rank, offset, unit) {
            return "the poison: nobody wrote here".into();
        }
        if unit.iter().all(|byte| *byte == 0) && run.iter().all(|byte| *byte == 0) {
            return "zero".into();
        }
        if self.problem.collective.reduces() {
            return self
                .contribution(offset, unit)
                .or_else(|| self.search(run))
                .unwrap_or_else(|| "no sum of the group's inputs".into());
        }
        self.owner(run)
            .or_else(|| self.confused(run, unit))
            .or_else(|| self.same_place(offset, unit))
            .or_else(|| self.search(run))
            .unwrap_or_else(|| "nobody's data".into())
    }

    /// What went wrong in combining the members' elements, where one slip explains it.
    fn contribution(&self, offset: u64, unit: &[u8]) -> Option<String> {
        let mut place = None;
        spans(self.problem, self.plan, self.index, Moment::After, &mut |span| {
            if span.rank == self.rank && span.bytes.contains(&offset) {
                place = Some((span.source, offset - span.bytes.start));
            }
        });
        let (Source::Reduced { first, row, column }, within) = place? else { return None };
        let size = self.problem.dtype.bytes();
        let at = ((column * size + within) / size * size) as usize;
        let call = &self.problem.calls[self.index];
        let mut generator = Generator::new(self.problem, self.index);
        let mut element = |rank: Rank| generator.row(rank, row)[at..at + size as usize].to_vec();
        let members: Vec<Vec<u8>> = call.group.members().iter().map(|r| element(*r)).collect();
        let reduce = |rows: &[Operand<'_>]| {
            let Problem { dtype, numerics, .. } = self.problem;
            arithmetic::reduce(*dtype, numerics, call.details.op, first as usize, rows)
        };
        let operand = |(bytes, member)| Operand { bytes, scalar: call.scalar(GroupRank(member)) };
        let all: Vec<Operand<'_>> =
            members.iter().map(Vec::as_slice).zip(0..).map(operand).collect();
        let ranks = call.group.members().iter().enumerate();
        for (member, rank) in ranks.clone() {
            let own = if *rank == self.rank { "its own" } else { &format!("rank {rank}'s") };
            let (before, after) = all.split_at(member);
            if unit == all[member].bytes {
                return Some(format!("{own} input alone"));
            }
            if all.len() > 1 && unit == reduce(&[before, &after[1..]].concat()) {
                return Some(format!("the result without {own} input"));
            }
            if unit == reduce(&[before, &[after[0]], after].concat()) {
                return Some(format!("the result with {own} input twice"));
            }
        }
        for (member, rank) in ranks {
            for other in self.problem.ranks().filter(|other| other != rank) {
                let mut swapped = all.clone();
                let element = element(other);
                swapped[member].bytes = &element;
                if unit == reduce(&swapped) {
                    return Some(format!(
                        "the result with rank {other}'s input in place of rank {rank}'s"
                    ));
                }
            }
        }
        None
    }

    /// By the fill's inverse, at every byte alignment, over this call and all before it.
    fn owner(&self, run: &[u8]) -> Option<String> {
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        let words: Vec<(u64, u64)> = (0..).zip(run.windows(8).map(word)).collect();
        (0..=self.index).rev().find_map(|index| {
            let fill = RowFill::of_call(self.problem, index, &self.problem.calls[index]);
            words.iter().find_map(|(skipped, word)| {
                let owner = fill.owner(*word, self.problem.world)?;
                let byte = owner.byte.checked_sub(*skipped)?;
                let column = byte / self.problem.dtype.bytes();
                Some(self.input_place(owner.rank, index, owner.row, column))
            })
        })
    }

    /// By the confusions that kernels make: the same element of another rank or of a call before,
    /// another column of the same row, another row of the same column. The nearest wins.
    fn confused(&self, run: &[u8], unit: &[u8]) -> Option<String> {
        let (rank, row, column) = self.expected?;
        // One byte says too little by itself.
        let unit = if unit.len() == 1 { run.get(..2)? } else { unit };
        let size = self.problem.dtype.bytes() as usize;
        (0..=self.index).rev().find_map(|index| {
            let mut generator = Generator::new(self.problem, index);
            let mut at = |rank: Rank, row: u64, column: u64| {
                let start = column as usize * size;
                generator.row(rank, row).get(start..start + unit.len()) == Some(unit)
            };
            let call = &self.problem.calls[index];
            let group_size = u64::from(call.group.size());
            let shape = self.problem.collective.input_shape(call.shape, group_size);
            if row >= shape.m {
                return None;
            }
            if let Some(other) = self.problem.ranks().find(|other| at(*other, row, column)) {
                return Some(self.input_place(other, index, row, column));
            }
            let columns = near(column, shape.n).find(|near| at(rank, row, *near));
            if let Some(near) = columns {
                return Some(self.input_place(rank, index, row, near));
            }
            let near = near(row, shape.m).find(|near| at(rank, *near, column))?;
            Some(self.input_place(rank, index, near, column))
        })
    }

    fn input_place(&self, rank: Rank, index: usize, row: u64, column: u64) -> String {
        let own = if rank == self.rank { "its own" } else { &format!("rank {rank}'s") };
        let call = if index == self.index { String::new() } else { format!(" of call {index}") };
        format!("{own} input ({row},{column}){call}")
    }

    /// The same place on the other ranks, and the same place the calls before.
    fn same_place(&self, offset: u64, unit: &[u8]) -> Option<String> {
        if unit.len() < 2 {
            return None;
        }
        let (rank, index) = (0..=self.index).rev().find_map(|index| {
            let poison = Poison::new(self.problem.seed, index);
            self.problem.ranks().find(|rank| poison.holds(*rank, offset, unit)).map(|r| (r, index))
        })?;
        Some(format!("the poison of rank {rank} at the same place in call {index}"))
    }

    /// Byte by byte through what all heaps held before this call, if they are small.
    fn search(&self, run: &[u8]) -> Option<String> {
        let bytes = self.plan.bytes * u64::from(self.problem.world);
        if run.len() < SEARCHED_RUN || bytes > SEARCHED_BYTES {
            return None;
        }
        let mut images = vec![vec![0; self.plan.bytes as usize]; self.problem.world as usize];
        let mut generator = Generator::new(self.problem, self.index);
        let mut all: Vec<Span> = Vec::new();
        spans(self.problem, self.plan, self.index, Moment::Before, &mut |span| {
            let range = span.bytes.start as usize..span.bytes.end as usize;
            generator.write(&span, &mut images[span.rank.index()][range]);
            all.push(span);
        });
        let (rank, at) = self.problem.ranks().find_map(|rank| {
            let at = images[rank.index()].windows(run.len()).position(|window| window == run)?;
            Some((rank, at as u64))
        })?;
        let span = all.iter().find(|span| span.rank == rank && span.bytes.contains(&at))?;
        Some(self.describe(span, at))
    }

    fn describe(&self, span: &Span, at: u64) -> String {
        let rank = span.rank;
        let own = if rank == self.rank { "its own" } else { &format!("rank {rank}'s") };
        let call = &self.problem.calls[self.index];
        let name = span.region.map(|region| &self.plan.regions[region].name);
        let view = match name {
            Some(RegionName::Input) => Some(self.plan.input(self.problem, call, rank)),
            Some(RegionName::Output) => Some(self.plan.output(self.problem, call)),
            _ => None,
        };
        let label = name.map(|name| name.label(self.problem)).unwrap_or_default();
        match (span.area, view) {
            (Area::Element, Some(view)) => {
                let (row, column) = view.row_column(at);
                format!("{own} {label} ({row},{column})")
            }
            (Area::Padding, Some(view)) => {
                let (row, column) = view.row_column(at);
                format!("{own} {label} padding ({row},{column})")
            }
            (Area::Guard, _) => format!("{own} guard at {at:#x}"),
            (Area::Slack, _) => format!("{own} {label} slack at {at:#x}"),
            _ => format!("{own} {label} at {at:#x}"),
        }
    }
}

/// The numbers below `end` around `centre`, nearest first, at most 512 away.
fn near(centre: u64, end: u64) -> impl Iterator<Item = u64> {
    (1..=512)
        .flat_map(move |distance| [centre.checked_sub(distance), centre.checked_add(distance)])
        .flatten()
        .filter(move |number| *number < end)
}

/// What is wrong, in one sentence.
pub(crate) fn sentence(
    problem: &Problem,
    index: usize,
    rank: Rank,
    kind: FindingKind,
    place: &Place,
    extent: Option<&Extent>,
    count: u64,
) -> String {
    let call = &problem.calls[index];
    let wrong = match kind {
        FindingKind::Unwritten => "never written",
        FindingKind::PaddingOverwritten => "written between two rows, where nothing belongs",
        FindingKind::SlackOverwritten => "written in the region, but outside its matrix",
        FindingKind::GuardOverwritten => "written outside every region",
        FindingKind::InputModified => "of the input changed",
        FindingKind::IdleRankModified => "written on a rank that takes no part",
        FindingKind::WorkspaceMismatch => "of the workspace are not as declared",
        _ => "wrong",
    };
    let mut text = format!("{count} bytes {wrong}: rank {rank}, call {index}, {}", place.region);
    if let Some(Extent { columns: [left, right], rows: [top, bottom], row_count }) = extent {
        text += &format!(" rows {top}..{bottom} ({row_count} wrong), columns {left}..{right}");
    }
    text + &format!(" (shape {}, tile {})", call.shape, call.tile)
}
