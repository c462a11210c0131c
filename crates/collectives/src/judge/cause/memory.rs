//! What stood anywhere before a call, one element at a time.

use crate::data::fill::Poison;
use crate::heap::image::Generator;
use crate::heap::plan::RegionName;
use crate::meaning::arithmetic::{self, Operand};
use crate::meaning::problem::Init;
use crate::meaning::rank::Rank;

use super::samples::Sample;
use super::scene::{Origin, Scene};

/// Makes bytes of origins.
pub(crate) struct Memory<'a> {
    scene: &'a Scene<'a>,
    /// By call.
    generators: Vec<Generator<'a>>,
    poison: Poison,
}

impl<'a> Memory<'a> {
    pub(crate) fn new(scene: &'a Scene<'a>) -> Memory<'a> {
        Memory {
            scene,
            generators: (0..=scene.index).map(|call| Generator::new(scene.problem, call)).collect(),
            poison: Poison::new(scene.problem.seed, scene.index),
        }
    }

    /// Whether a sample's bytes are those of an origin; `None` where there is no such origin or
    /// nobody knows its bytes.
    pub(crate) fn holds(&mut self, origin: &Origin, sample: &Sample) -> Option<bool> {
        let within = self.scene.within(sample);
        let bytes = self.bytes(origin, within, sample.actual().len() as u64)?;
        Some(bytes == sample.actual())
    }

    /// The element that an origin is.
    pub(crate) fn element(&mut self, origin: &Origin) -> Option<Vec<u8>> {
        self.bytes(origin, 0, self.scene.element)
    }

    /// `length` bytes from byte `within` of an origin's element on.
    fn bytes(&mut self, origin: &Origin, within: u64, length: u64) -> Option<Vec<u8>> {
        let Scene { problem, element, .. } = self.scene;
        let part = |row: &[u8], column: u64| {
            let start = (column * element + within) as usize;
            row.get(start..start + length as usize).map(<[u8]>::to_vec)
        };
        match *origin {
            Origin::Input { rank, call, row, column } => {
                let group_size = u64::from(problem.calls[call].group.size());
                let shape = problem.collective.input_shape(problem.calls[call].shape, group_size);
                let exists = rank.0 < problem.world && row < shape.m && column < shape.n;
                exists.then(|| part(self.generators[call].row(rank, row), column))?
            }
            Origin::Reduced { first, call, row, column } => {
                let of = &problem.calls[call];
                let shape = problem.collective.input_shape(of.shape, u64::from(of.group.size()));
                let exists = row < shape.m && column < shape.n && first < of.group.size();
                exists.then(|| part(self.generators[call].reduced(first, row), column))?
            }
            Origin::Sum { ref of, row, column } => {
                let rows: Vec<Vec<u8>> = of
                    .iter()
                    .map(|rank| {
                        let row = self.generators[self.scene.index].row(*rank, row);
                        let start = (column * element) as usize;
                        row.get(start..start + *element as usize).map(<[u8]>::to_vec)
                    })
                    .collect::<Option<_>>()?;
                let call = self.scene.call;
                let scalar =
                    |rank: &Rank| call.group.group_rank(*rank).map_or(1, |g| call.scalar(g));
                let rows: Vec<Operand<'_>> = rows
                    .iter()
                    .zip(of)
                    .map(|(bytes, rank)| Operand { bytes, scalar: scalar(rank) })
                    .collect();
                if rows.is_empty() {
                    return None;
                }
                let op = call.details.op;
                let sum = arithmetic::reduce(problem.dtype, &problem.numerics, op, 0, &rows);
                part(&sum, 0)
            }
            Origin::Heap { rank, offset } => {
                (0..length).map(|byte| self.byte(rank, offset + within + byte)).collect()
            }
            Origin::Zero => Some(vec![0; length as usize]),
        }
    }

    /// A byte of a heap before the call.
    fn byte(&mut self, rank: Rank, offset: u64) -> Option<u8> {
        let Scene { problem, plan, call, .. } = self.scene;
        if rank.0 >= problem.world || offset >= plan.bytes {
            return None;
        }
        let region = plan.regions.iter().find(|region| region.storage.contains(&offset));
        let input = plan.input(problem, call, rank);
        let in_input = (input.start..input.end()).contains(&offset)
            && region.is_some_and(|region| match region.name {
                RegionName::Input => true,
                RegionName::Output => problem.in_place,
                RegionName::Workspace(_) => false,
            });
        match region.map(|region| &region.name) {
            Some(RegionName::Workspace(_)) => return None,
            Some(RegionName::Output) if problem.output_init == Init::Zero && !in_input => {
                return None;
            }
            _ => {}
        }
        if in_input {
            let (row, column) = input.row_column(offset);
            if column < input.shape.n {
                let within = (offset - input.start) % input.element;
                let bytes = self.generators[self.scene.index].row(rank, row);
                return bytes.get((column * input.element + within) as usize).copied();
            }
        }
        let mut byte = [0];
        self.poison.write(rank, offset, &mut byte);
        Some(byte[0])
    }

    /// What an origin is, for people; `viewer` is who has it now.
    pub(crate) fn describe(&self, origin: &Origin, viewer: Rank) -> String {
        let Scene { problem, plan, call, index, .. } = self.scene;
        let whose = |rank: Rank| match rank == viewer {
            true => "its own".to_owned(),
            false => format!("rank {rank}'s"),
        };
        let of = |of: usize| match of == *index {
            true => String::new(),
            false => format!(" of call {of}"),
        };
        match origin {
            Origin::Input { rank, call, row, column } => {
                format!("{} input ({row},{column}){}", whose(*rank), of(*call))
            }
            Origin::Reduced { call, row, column, .. } => {
                format!("the result ({row},{column}){}", of(*call))
            }
            Origin::Sum { of, row, column } => {
                let ranks: Vec<String> = of.iter().map(ToString::to_string).collect();
                format!("inputs ({row},{column}) of ranks {}", ranks.join(", "))
            }
            Origin::Heap { rank, offset } => {
                let region = plan.regions.iter().find(|r| r.storage.contains(offset));
                let Some(region) = region else {
                    return format!("{} guard at {offset:#x}", whose(*rank));
                };
                let label = region.name.label(problem);
                let view = match region.name {
                    RegionName::Input => plan.input(problem, call, *rank),
                    RegionName::Output => plan.output(problem, call),
                    RegionName::Workspace(_) => return format!("{} {label}", whose(*rank)),
                };
                if !(view.start..view.end()).contains(offset) {
                    return format!("{} {label} slack at {offset:#x}", whose(*rank));
                }
                let (row, column) = view.row_column(*offset);
                let padding = if column < view.shape.n { "" } else { " padding" };
                format!("{} {label}{padding} ({row},{column})", whose(*rank))
            }
            Origin::Zero => "zero".into(),
        }
    }
}
