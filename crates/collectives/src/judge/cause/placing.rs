//! Slips in where an element is put: at each place stands what a wrong address brings there.

use crate::heap::plan::View;

use super::Slip;
use super::samples::Sample;
use super::scene::Scene;

/// Every claim about where elements were put.
pub(super) fn slips<'a>(scene: &'a Scene<'a>) -> Vec<Slip<'a>> {
    let mut slips = strides(scene);
    slips.extend(parts(scene));
    slips.extend(offsets(scene));
    slips.extend(narrow(scene));
    slips.extend(shifts(scene));
    slips
}

/// What lands at a place if the element of output row and column `from(place)` is put there.
fn placed<'a>(
    scene: &'a Scene<'a>,
    name: impl Into<String>,
    from: impl Fn(&Sample) -> Option<(u64, u64)> + 'a,
) -> Slip<'a> {
    Slip::new(name, move |sample| {
        let (row, column) = from(sample)?;
        scene.belongs(sample.rank, row, column)
    })
}

/// Another row stride.
fn strides<'a>(scene: &'a Scene<'a>) -> Vec<Slip<'a>> {
    let (n, own) = (scene.output.shape.n, scene.output.row_stride);
    let input = scene.plan.input(scene.problem, scene.call, scene.members[0]).row_stride;
    let candidates = [
        (format!("the number of columns (n = {n}) used as the output's row stride"), n),
        ("the input's row stride used for the output".into(), input),
        (
            "the output's row stride rounded up to whole tiles".into(),
            n.next_multiple_of(scene.call.tile.n.max(1)),
        ),
        ("the output's row stride rounded up to a power of two".into(), n.next_power_of_two()),
    ];
    let differs = |(_, stride): &(String, u64)| *stride != own && *stride > 0;
    let slip = |(name, stride): (String, u64)| {
        placed(scene, format!("{name}, which is {own}"), move |sample| {
            let distance = u64::try_from(scene.distance(sample)).ok()?;
            Some((distance / stride, distance % stride)).filter(|(_, column)| *column < n)
        })
    };
    candidates.into_iter().filter(differs).map(slip).collect()
}

/// Another part of an output that has a part for each member.
fn parts<'a>(scene: &'a Scene<'a>) -> Vec<Slip<'a>> {
    let (m, n, size) = (scene.call.shape.m, scene.call.shape.n, scene.size());
    if !scene.is_stacked() || m == 0 || n == 0 {
        return Vec::new();
    }
    let rows = move |sample: &Sample| scene.row_column(sample).filter(|(_, column)| *column < n);
    let tile = scene.call.tile.m.max(1);
    let mut pitches: Vec<(u64, u64)> = Vec::new();
    for multiple in [tile, 2, 4, 8, 16, 32, 64, 128] {
        let pitch = m.next_multiple_of(multiple);
        if pitch != m && !pitches.iter().any(|(_, known)| *known == pitch) {
            pitches.push((multiple, pitch));
        }
    }
    let padded = pitches.into_iter().map(|(multiple, pitch)| {
        let whole =
            if multiple == tile { "tiles".into() } else { format!("multiples of {multiple}") };
        let name = format!("parts placed as if m = {m} were whole {whole} ({pitch} rows)");
        placed(scene, name, move |sample| {
            let (row, column) = rows(sample)?;
            let (part, row) = (row / pitch, row % pitch);
            Some((part * m + row, column)).filter(|_| row < m && part < size)
        })
    });
    let mut slips = vec![
        placed(
            scene,
            "a part of the output chosen by rank in place of group rank",
            move |sample| {
                let (row, column) = rows(sample)?;
                let g = scene.group_rank(scene.rank(row / m)?)?;
                Some((g * m + row % m, column))
            },
        ),
        placed(scene, "rows of the members interleaved in place of stacked", move |sample| {
            let (row, column) = rows(sample)?;
            Some((row % size * m + row / size, column)).filter(|_| row < m * size)
        }),
        placed(scene, "parts put side by side in place of one below another", move |sample| {
            let distance = u64::try_from(scene.distance(sample)).ok()?;
            let (row, across) = (distance / (size * n), distance % (size * n));
            Some((across / n * m + row, across % n)).filter(|_| row < m)
        }),
        // Which sender's comes last depends on the order of ranks.
        slot_of_receiver(scene, size - 1),
        slot_of_receiver(scene, 0),
    ];
    slips.extend(padded);
    slips
}

/// Every sender writes to the part with the receiver's index, and this one is last.
fn slot_of_receiver<'a>(scene: &'a Scene<'a>, last: u64) -> Slip<'a> {
    let (m, n) = (scene.call.shape.m, scene.call.shape.n);
    let name = "a part of the output chosen by the receiver in place of the sender";
    placed(scene, name, move |sample| {
        let (row, column) = scene.row_column(sample)?;
        let mine = row / m.max(1) == scene.group_rank(sample.rank)?;
        Some((last * m + row % m.max(1), column)).filter(|_| mine && column < n)
    })
}

/// Another first element.
fn offsets<'a>(scene: &'a Scene<'a>) -> Vec<Slip<'a>> {
    let layout = scene.problem.layout_of(scene.call);
    let (own, other) = (layout.output.offset_elements, layout.input.offset_elements);
    let by = |name: &str, offset: u64| {
        placed(scene, name, move |sample| shifted(scene, sample, offset as i64 - own as i64))
    };
    let mut slips = Vec::new();
    if own != 0 {
        slips.push(by("the output's offset in its region left out", 0));
    }
    if own != other && other != 0 {
        slips.push(by("the input's offset used for the output", other));
    }
    slips
}

/// The output's row and column of the element that lies at a place if all lie `by` elements on.
fn shifted(scene: &Scene<'_>, sample: &Sample, by: i64) -> Option<(u64, u64)> {
    let distance = u64::try_from(scene.distance(sample) - by).ok()?;
    let View { row_stride, shape, .. } = scene.output;
    let (row, column) = (distance / row_stride.max(1), distance % row_stride.max(1));
    Some((row, column)).filter(|_| column < shape.n)
}

/// Offsets that wrap around more often than this are not looked at.
const MOST_TURNS: i64 = 1 << 12;

/// Offsets kept in too few bits wrap around.
fn narrow<'a>(scene: &'a Scene<'a>) -> Vec<Slip<'a>> {
    let (n, stride) = (scene.output.shape.n, scene.output.row_stride.max(1));
    let end = (scene.output.shape.m * stride) as i64;
    let wraps = move |(name, turn, first): (String, i64, i64)| {
        placed(scene, name, move |sample| {
            let distance = scene.distance(sample);
            if !(first..first + turn).contains(&distance) {
                return None;
            }
            // Of all that wrap to this place, the last one stays.
            let turns = (end - 1 - distance).div_euclid(turn);
            let wrapped = (1..=turns).rev().map(|turns| (distance + turns * turn) as u64);
            wrapped.map(|at| (at / stride, at % stride)).find(|(_, column)| *column < n)
        })
    };
    let mut kept = Vec::new();
    for (what, unit) in [("", 1), (" in bytes", scene.element as i64)] {
        for bits in [32, 24, 16, 8] {
            let turn = (1i64 << bits) / unit;
            for (sign, first) in [("unsigned", 0), ("signed", -turn / 2)] {
                let name =
                    format!("an offset{what} kept in {bits} bits ({sign}), which wraps around");
                // Bytes of bytes are elements, and nothing wraps so often.
                let wraps = end > turn + first && end / turn < MOST_TURNS;
                if wraps && (unit == 1) == what.is_empty() {
                    kept.push((name, turn, first));
                }
            }
        }
    }
    kept.into_iter().map(wraps).collect()
}

/// The right element, some rows or columns on.
fn shifts<'a>(scene: &'a Scene<'a>) -> Vec<Slip<'a>> {
    let (tile, n) = (scene.call.tile, scene.output.shape.n);
    let by = |name: String, rows: i64, columns: i64| {
        placed(scene, name, move |sample| {
            let (row, column) = scene.row_column(sample)?;
            let row = row.checked_add_signed(-rows)?;
            let column = column.checked_add_signed(-columns)?;
            Some((row, column)).filter(|(_, column)| *column < n)
        })
    };
    let mut slips = Vec::new();
    let columns = [("one".to_owned(), 1), (format!("one tile of {}", tile.n), tile.n as i64)];
    for (step, columns) in columns.into_iter().filter(|(step, by)| step == "one" || *by > 1) {
        slips.push(by(format!("off by {step} in the column: put too far right"), 0, columns));
        slips.push(by(format!("off by {step} in the column: put too far left"), 0, -columns));
    }
    let rows = [("one".to_owned(), 1), (format!("one tile of {}", tile.m), tile.m as i64)];
    for (step, rows) in rows.into_iter().filter(|(step, by)| step == "one" || *by > 1) {
        slips.push(by(format!("off by {step} in the row: put too far down"), rows, 0));
        slips.push(by(format!("off by {step} in the row: put too far up"), -rows, 0));
    }
    slips
}
