//! The structures of `verifier.cu`, field for field, as the words that they consist of.

use collectives::exact::{Averages, Constants, Elements, Extremes, Sums};
use collectives::record::{Bytes, ExactMatrix, Key, Record, Stored};
use collectives::{DType, Op, Rank};

/// `Key`.
pub(super) fn key(key: &Key) -> Vec<u64> {
    let fill = &key.fill;
    let mut words = vec![
        fill.permutation,
        fill.words_per_row,
        fill.element.trailing_zeros().into(),
        fill.column_multiplier,
        fill.row_multiplier,
        fill.call,
    ];
    words.extend(fill.places);
    words.extend(fill.poison_places);
    words.push(key.stored_stride);
    words.extend([key.nan.add, key.nan.mask, key.nan.above]);
    words.extend([key.heap_bytes, key.world.into()]);
    words
}

/// The first fields of `Record`; those of [`super::work::Work`] follow.
pub(super) fn record(record: &Record) -> [u64; 13] {
    let (source, whose, key, row, byte) = match record.bytes {
        Bytes::Poison { seed } => (0, None, seed, 0, 0),
        Bytes::Zero => (1, Some(Rank(0)), 0, 0, 0),
        Bytes::Filled { rank, row, byte } => (2, rank, 0, row, byte),
        Bytes::Stored { matrix, row, byte } => (3, Some(Rank(0)), matrix, row, byte),
    };
    [
        source,
        record.ranks,
        whose.is_none().into(),
        whose.map_or(0, |rank| rank.0.into()),
        record.start,
        record.rows,
        record.row_bytes,
        record.row_stride,
        record.unit,
        record.any_nan.into(),
        key,
        row,
        byte,
    ]
}

/// `Exact`.
pub(super) fn exact(exact: &Constants, stored: &Stored, matrices: &[ExactMatrix]) -> Vec<u64> {
    let dtype = exact.dtype;
    let (exponent_bits, mantissa_bits, bias) = format(dtype);
    let op = match exact.op {
        Op::Sum => 0,
        Op::Min => 1,
        Op::Max => 2,
        Op::Avg => 3,
        Op::PremulSum => 4,
        Op::Prod => 5,
    };
    // What the numbers are, and up to three of their own.
    let (numbers, own) = match exact.elements {
        Elements::Sums(Sums { magnitudes, integers, unit }) => (0, [magnitudes, integers, unit]),
        Elements::Wrapping => (1, [0; 3]),
        Elements::Averages(Averages { highest, signed }) => (2, [highest, signed.into(), 0]),
        Elements::Extremes(Extremes { values, mantissa_bits, first_exponent }) => {
            let first_exponent = i64::from(first_exponent) as u64;
            (3, [values, mantissa_bits.into(), first_exponent])
        }
        Elements::Factors => unreachable!("products of floats are the host's"),
    };
    vec![
        dtype.bytes(),
        dtype.is_float().into(),
        (dtype != DType::U8).into(),
        exponent_bits,
        mantissa_bits,
        bias,
        op,
        exact.members,
        exact.seed,
        numbers,
        own[0],
        own[1],
        own[2],
        exact.column_multiplier,
        exact.row_multiplier,
        exact.call,
        i64::from(exact.first_exponent) as u64,
        matrices.len() as u64,
        stored.rows,
        stored.columns,
        stored.stride,
    ]
}

/// Bits of the exponent and of the mantissa, and the exponent's bias; zeros for an integer.
fn format(dtype: DType) -> (u64, u64, u64) {
    match dtype {
        DType::F16 => (5, 10, 15),
        DType::BF16 => (8, 7, 127),
        DType::F32 => (8, 23, 127),
        DType::F64 => (11, 52, 1023),
        DType::F8E4M3Fn => (4, 3, 7),
        DType::F8E4M3Fnuz => (4, 3, 8),
        DType::F8E5M2 => (5, 2, 15),
        DType::F8E5M2Fnuz => (5, 2, 16),
        DType::U8 | DType::I8 | DType::I32 | DType::I64 => (0, 0, 0),
    }
}

/// What each matrix is.
pub(super) fn slots(matrices: &[ExactMatrix]) -> Vec<u64> {
    let slot = |matrix: &ExactMatrix| match matrix {
        ExactMatrix::Input(slot) => *slot,
        ExactMatrix::Reduced => u64::MAX,
    };
    matrices.iter().map(slot).collect()
}
