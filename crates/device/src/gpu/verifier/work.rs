//! How a record is divided among the threads of a launch; `verifier.cu` says what the words mean.

use collectives::record::Record;

use super::THREADS;
use crate::DeviceError;

/// Bytes that a thread moves at once.
const UNIT: u64 = 16;
/// Bytes that a device reads together.
const LINE: u64 = 128;
/// Units that a thread takes one after another, as a power of two.
const STEPS_LOG2: u32 = 5;
/// Lanes of a team at most, as a power of two: those of a warp.
const LANES_LOG2: u32 = 5;

/// A record's share of a launch; the last fields of `Record`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) pieces: u64,
    pub(super) teams: u64,
    pub(super) strips: u64,
    pub(super) lanes_log2: u64,
    pub(super) rows_log2: u64,
    pub(super) align: u64,
}

impl Work {
    pub(super) fn of(record: &Record) -> Result<Work, DeviceError> {
        let Record { start, rows, row_bytes, row_stride, .. } = *record;
        // Long rows are counted from whole lines of the cache, if that is one place for all of them.
        let whole_lines = row_bytes >= 8 * LINE;
        let below = row_stride.is_multiple_of(LINE) || !row_stride.is_multiple_of(UNIT);
        let align = if whole_lines && below { LINE } else { UNIT };
        // Units that a row touches, wherever it begins.
        let same_place = rows == 1 || row_stride.is_multiple_of(align);
        let before = if same_place { start % align } else { align - 1 };
        let units = (before + row_bytes).div_ceil(UNIT);
        let lanes_log2 = log2(units).min(LANES_LOG2);
        let rows_log2 = log2(rows).min(STEPS_LOG2);
        let units_a_team = 1u64 << lanes_log2 << (STEPS_LOG2 - rows_log2);
        let strips = units.div_ceil(units_a_team);
        let teams = rows.div_ceil(1 << rows_log2) * strips;
        if teams > u32::MAX.into() {
            return Err(DeviceError::System {
                what: format!("judging {rows} rows of {row_bytes} bytes at {start:#x}"),
                reason: "more than fits on a device (smaller shapes are needed)".into(),
            });
        }
        Ok(Work {
            pieces: (teams << lanes_log2).div_ceil(THREADS.into()),
            teams,
            strips,
            lanes_log2: lanes_log2.into(),
            rows_log2: rows_log2.into(),
            align,
        })
    }
}

/// The exponent of the smallest power of two that is not smaller.
fn log2(number: u64) -> u32 {
    number.next_power_of_two().trailing_zeros()
}
