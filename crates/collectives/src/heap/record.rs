//! An image as a short list of numbers, for a device that fills and compares by itself.
//!
//! A record is a rectangle at the same place of some ranks' heaps, and says from what its bytes are
//! made: poison, zeros, the keyed fill, or rows of a matrix that is stored beside the records because
//! it costs more to make (reductions, special bit patterns). Heaps that hold the same share a record, so that it is made once, and so
//! do those that differ by their rank alone. A matrix is one record for each block that it holds,
//! however many rows that has.

use std::collections::HashMap;

use crate::data::exact::{self, ExactFill};
use crate::data::fill::{self, Poison, RowFill};
use crate::heap::image::{Area, Generator, Moment, Source};
use crate::heap::plan::HeapPlan;
use crate::heap::sections::{Band, Part, Section, sections};
use crate::meaning::dtype::DType;
use crate::meaning::problem::{Data, Problem};
use crate::meaning::rank::Rank;

/// Stored rows begin at multiples of this, and so many bytes lie in front of and behind them all.
pub const STORED_ALIGN: u64 = 16;

/// A rectangle of some heaps.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Record {
    /// Bit r: it stands in rank r's heap.
    pub ranks: u64,
    /// Bytes from the heap's start to the first row.
    pub start: u64,
    /// How many rows.
    pub rows: u64,
    /// Bytes of a row.
    pub row_bytes: u64,
    /// Bytes from one row to the next.
    pub row_stride: u64,
    /// So many bytes are right or wrong together: those of an element, or one.
    pub unit: u64,
    /// Whether any NaN will do where a NaN belongs.
    pub any_nan: bool,
    /// What its bytes are.
    pub bytes: Bytes,
}

/// From what the bytes of a record are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bytes {
    /// The poison with this seed, by the heap's rank and offset.
    Poison {
        /// As the fill mixes it.
        seed: u64,
    },
    /// All zero.
    Zero,
    /// Rows of the keyed fill.
    Filled {
        /// Whose input; that of the heap's own rank where it is nobody's.
        rank: Option<Rank>,
        /// The row that stands first.
        row: u64,
        /// The byte of it that stands first.
        byte: u64,
    },
    /// Rows of a matrix in [`Images::stored`].
    Stored {
        /// Bytes from the buffer's start to the matrix.
        matrix: u64,
        /// The row that stands first.
        row: u64,
        /// The byte of it that stands first.
        byte: u64,
    },
}

/// What all records of an image share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The keyed fill of the call.
    pub fill: fill::Constants,
    /// Bytes from a stored row to the next.
    pub stored_stride: u64,
    /// Which elements are NaNs.
    pub nan: NanTest,
    /// Bytes of a heap.
    pub heap_bytes: u64,
    /// How many ranks exist.
    pub world: u32,
}

/// An element, as an unsigned number, is a NaN if `(element + add) & mask > above`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the formula says it")]
pub struct NanTest {
    pub add: u64,
    pub mask: u64,
    pub above: u64,
}

/// What the heaps hold before and after a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Images {
    /// What its records share.
    pub key: Key,
    /// Before: no byte twice, and none that stays as an earlier call left it.
    pub before: Vec<Record>,
    /// After: no byte twice, and none that is not compared.
    pub after: Vec<Record>,
    /// Matrices to which records refer.
    pub stored: Stored,
}

/// Matrices of one size, one behind the other: [`STORED_ALIGN`] bytes, then rows at one distance,
/// then as many bytes again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Rows of each.
    pub rows: u64,
    /// Bytes from one row to the next.
    pub stride: u64,
    /// Elements of a row.
    pub columns: u64,
    /// What each holds.
    matrices: Vec<Matrix>,
}

/// What a stored matrix holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Matrix {
    /// A rank's input.
    Input(Rank),
    /// The members' inputs, combined from this group rank on.
    Reduced(u32),
}

/// A stored matrix that a device can make by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExactMatrix {
    /// The input of the rank with this slot (see [`crate::data::exact`]).
    Input(u64),
    /// The members' inputs combined, in any order.
    Reduced,
}

impl NanTest {
    /// The test for a type.
    pub fn of(dtype: DType) -> NanTest {
        let ieee = |exponent: u32, mantissa: u32| NanTest {
            add: 0,
            mask: (1 << (exponent + mantissa)) - 1,
            above: ((1 << exponent) - 1) << mantissa,
        };
        match dtype {
            DType::F16 => ieee(5, 10),
            DType::BF16 => ieee(8, 7),
            DType::F32 => ieee(8, 23),
            DType::F64 => ieee(11, 52),
            DType::F8E5M2 => ieee(5, 2),
            DType::F8E4M3Fn => NanTest { add: 0, mask: 0x7f, above: 0x7e },
            // The one NaN is where the negative zero would be.
            DType::F8E4M3Fnuz | DType::F8E5M2Fnuz => NanTest { add: 0x7f, mask: 0xff, above: 0xfe },
            DType::U8 | DType::I8 | DType::I32 | DType::I64 => {
                NanTest { add: 0, mask: 0, above: 0 }
            }
        }
    }
}

impl Images {
    /// The images of call number `index`.
    pub fn new(problem: &Problem, plan: &HeapPlan, index: usize) -> Images {
        let fill = RowFill::of_call(problem, index, &problem.calls[index]);
        let shape = fill.shape();
        let mut stored = Stored {
            rows: shape.m,
            stride: (shape.n * problem.dtype.bytes()).next_multiple_of(STORED_ALIGN),
            columns: shape.n,
            matrices: Vec::new(),
        };
        let mut records = |moment| -> Vec<Record> {
            let sections = sections(problem, plan, index, moment);
            sections
                .iter()
                .flat_map(|section| shared(problem, index, section, &mut stored))
                .collect()
        };
        let (before, after) = (records(Moment::Before), records(Moment::After));
        let key = Key {
            fill: fill.constants(),
            stored_stride: stored.stride,
            nan: NanTest::of(problem.dtype),
            heap_bytes: plan.bytes,
            world: problem.world,
        };
        Images { key, before, after, stored }
    }
}

/// The records of a section, one for all heaps that hold the same at a place.
fn shared<'a>(
    problem: &Problem,
    index: usize,
    section: &'a Section,
    stored: &mut Stored,
) -> Vec<Record> {
    let Section { start, stride, bands, .. } = section;
    let of_rank = |(rank, bands): (Rank, &'a Vec<Band>)| {
        bands.iter().flat_map(move |band| band.parts.iter().map(move |part| (rank, band, part)))
    };
    let parts: Vec<(Rank, &Band, &Part)> = problem.ranks().zip(bands).flat_map(of_rank).collect();
    let own = parts.iter().all(|(rank, _, part)| match part.source {
        Source::Row { rank: whose, .. } => whose == *rank,
        _ => true,
    });
    let mut records = Vec::new();
    let mut known = HashMap::new();
    for (rank, Band { rows, .. }, Part { bytes, area, source }) in parts {
        let Some(bytes_made) = made(problem, index, *area, *source, own, stored) else { continue };
        let element = *area == Area::Element;
        let alike = Record {
            ranks: 0,
            start: start + rows.start * stride + bytes.start,
            rows: rows.end - rows.start,
            row_bytes: bytes.end - bytes.start,
            row_stride: *stride,
            unit: if element { problem.dtype.bytes() } else { 1 },
            any_nan: matches!(source, Source::Reduced { .. }) && problem.dtype.is_float(),
            bytes: bytes_made,
        };
        let number = *known.entry(alike.clone()).or_insert_with(|| {
            records.push(alike);
            records.len() - 1
        });
        records[number].ranks |= 1 << rank.0;
    }
    records
}

/// How a device makes a part's bytes; nothing where they are neither written nor compared.
fn made(
    problem: &Problem,
    index: usize,
    area: Area,
    source: Source,
    own: bool,
    stored: &mut Stored,
) -> Option<Bytes> {
    let keyed = !problem.collective.reduces() && problem.data != Data::BitPatterns;
    let size = problem.dtype.bytes();
    Some(match source {
        Source::Poison => {
            let call = if area == Area::Workspace { 0 } else { index };
            Bytes::Poison { seed: Poison::new(problem.seed, call).seed() }
        }
        Source::Zero => Bytes::Zero,
        Source::Free => return None,
        Source::Row { rank, row, column } if keyed => {
            Bytes::Filled { rank: (!own).then_some(rank), row, byte: column * size }
        }
        Source::Row { row, column, .. } | Source::Reduced { row, column, .. } => {
            Bytes::Stored { matrix: stored.matrix(source), row, byte: column * size }
        }
    })
}

impl Stored {
    /// Where the whole matrix lies of which `source` is a part.
    fn matrix(&mut self, source: Source) -> u64 {
        let matrix = match source {
            Source::Row { rank, .. } => Matrix::Input(rank),
            Source::Reduced { first, .. } => Matrix::Reduced(first),
            Source::Poison | Source::Zero | Source::Free => unreachable!("no rows"),
        };
        let known = self.matrices.iter().position(|known| *known == matrix);
        let number = known.unwrap_or_else(|| {
            self.matrices.push(matrix);
            self.matrices.len() - 1
        });
        STORED_ALIGN + number as u64 * self.rows * self.stride
    }

    /// Bytes of them all; zero where there are none.
    pub fn bytes(&self) -> u64 {
        match self.matrices.len() as u64 {
            0 => 0,
            matrices => matrices * self.rows * self.stride + 2 * STORED_ALIGN,
        }
    }

    /// How a device makes all of them by itself; nothing where it needs the host's [`Stored::make`].
    pub fn exact(
        &self,
        problem: &Problem,
        index: usize,
    ) -> Option<(exact::Constants, Vec<ExactMatrix>)> {
        let stated_scalars = !problem.calls[index].details.scalars.is_empty();
        if !problem.collective.reduces() || problem.data == Data::BitPatterns || stated_scalars {
            return None;
        }
        let fill = ExactFill::new(problem, index);
        let matrices = self.matrices.iter().map(|matrix| match matrix {
            Matrix::Input(rank) => ExactMatrix::Input(fill.slot(*rank)),
            Matrix::Reduced(_) => ExactMatrix::Reduced,
        });
        Some((fill.constants()?, matrices.collect()))
    }

    /// All of them, made here, row by row, because results need the rows of inputs.
    pub fn make(&self, problem: &Problem, index: usize) -> Vec<u8> {
        let mut stored = vec![0; self.bytes() as usize];
        let mut generator = Generator::new(problem, index);
        for row in 0..self.rows {
            for (number, matrix) in (0..).zip(&self.matrices) {
                let bytes = match *matrix {
                    Matrix::Input(rank) => generator.row(rank, row),
                    Matrix::Reduced(first) => generator.reduced(first, row),
                };
                let at = STORED_ALIGN + (number * self.rows + row) * self.stride;
                stored[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
            }
        }
        stored
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meaning::arithmetic;

    #[test]
    fn a_nan_is_one_for_the_reference_too() {
        for dtype in DType::ALL {
            let NanTest { add, mask, above } = NanTest::of(dtype);
            let size = dtype.bytes() as usize;
            let narrow = (0..=0xffffu64).map(|bits| if size == 1 { bits & 0xff } else { bits });
            // The upper bits decide, but the lowest one may make a NaN of an infinity.
            let wide = narrow.clone().flat_map(|bits| {
                let upper = bits << (8 * size.max(2) - 16);
                [upper, upper | 1]
            });
            for bits in narrow.chain(wide.filter(|_| size > 1)) {
                let is_nan = (bits.wrapping_add(add) & mask) > above;
                let bytes = bits.to_le_bytes();
                assert_eq!(is_nan, arithmetic::is_nan(dtype, &bytes[..size]), "{dtype} {bits:x}");
            }
        }
    }
}
