//! What the memory of one GPU cannot exceed, and which measurements claim that it did.

use std::time::Duration;

use bench::compare::evidence::times;
use bench::file::{Ceiling, Invalid, InvalidKind, Row};
use bench::stats::median;
use collectives::Problem;
use launch::attempt::Ranks;
use ranks::command::{Command, Reply};

use crate::units::{Units, least_traffic};

/// The size of the copy: far larger than any cache.
const COPIED: u64 = 1 << 30;
/// A copy takes milliseconds, its memory a moment.
const PATIENCE: Duration = Duration::from_secs(60);
/// Of operations that move less, caches may keep a part.
const LEAST: u64 = 256 << 20;
/// Copies differ by less than this from one time to the next.
const TOLERANCE: f64 = 1.05;

/// How many bytes a second the device reads and writes while it copies; absent where it cannot say.
pub fn copy_speed(ranks: &mut dyn Ranks) -> Option<f64> {
    ranks.reserve(1, 1, 1).ok()?;
    ranks.tell(0, &Command::Copy { bytes: COPIED });
    let answer = ranks.gather(&[0], PATIENCE).ok()?.pop()?;
    match answer {
        Ok(Reply::Copied(speed)) => speed,
        _ => None,
    }
}

/// The highest bus bandwidth of a problem on a device that copies so fast; absent where no memory need be
/// touched, or so little that caches may hold it.
pub fn ceiling(problem: &Problem, units: Units, copy_speed: f64) -> Option<Ceiling> {
    let traffic = least_traffic(problem);
    (traffic >= LEAST).then(|| {
        let fastest_s = traffic as f64 / copy_speed;
        Ceiling {
            busbw_gbs: units.bytes as f64 * units.bus_factor / fastest_s / 1e9,
            what: format!(
                "a copy reads and writes {:.0} GB/s, and the operation must move {traffic} bytes",
                copy_speed / 1e9
            ),
        }
    })
}

/// Marks every arm whose median is beyond what is possible.
pub fn check(row: &mut Row) {
    let Some(ceiling) = &row.ceiling else { return };
    let mut found = Vec::new();
    for arm in 0..row.arms.len() {
        let Some(median_ns) = median(&times(row, arm)) else { continue };
        let busbw_gbs = row.bytes as f64 * row.bus_factor / median_ns;
        if busbw_gbs > ceiling.busbw_gbs * TOLERANCE {
            let reason = format!(
                "{busbw_gbs:.1} GB/s, and {:.1} GB/s are possible: {}",
                ceiling.busbw_gbs, ceiling.what
            );
            found.push(Invalid { arm: Some(arm), kind: InvalidKind::AboveCeiling, reason });
        }
    }
    row.invalid.extend(found);
}
