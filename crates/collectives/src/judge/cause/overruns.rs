//! Copies that run on behind the end of a row or of the last row.

use crate::judge::finding::FindingKind;

use super::samples::Sample;
use super::scene::{Origin, Scene};
use super::{Evidence, Slip};

/// Claims about what lies behind rows, as far as `all` says how far a copy ran on.
pub(super) fn slips<'a>(scene: &'a Scene<'a>, all: &[Evidence<'_>]) -> Vec<Slip<'a>> {
    if scene.output.shape.m == 0 || scene.output.shape.n == 0 {
        return Vec::new();
    }
    let mut slips = behind_rows(scene, all);
    slips.extend(behind_parts(scene, all));
    slips.extend(flat(scene, all));
    slips
}

/// What stands there: what follows in the sender's input, or the zeros of a load that was masked.
const CONTENTS: [(&str, bool); 2] =
    [("", false), (", with zeros: the load is masked, the store is not", true)];

/// Where something was written that belongs to no element.
fn is_overrun(kind: FindingKind) -> bool {
    matches!(
        kind,
        FindingKind::PaddingOverwritten
            | FindingKind::GuardOverwritten
            | FindingKind::SlackOverwritten
    )
}

/// Columns from n on.
fn behind_rows<'a>(scene: &'a Scene<'a>, all: &[Evidence<'_>]) -> Vec<Slip<'a>> {
    let (n, stride) = (scene.output.shape.n, scene.output.row_stride);
    let overruns = || all.iter().filter(|evidence| is_overrun(evidence.kind));
    let Some(reach) = overruns().filter_map(|evidence| column_reach(scene, evidence)).max() else {
        return Vec::new();
    };
    let tile = scene.call.tile.n.max(1);
    let candidates = [
        (
            n.next_multiple_of(scene.vector.max(1)),
            format!("an over-wide store: 16 bytes at the end of a row, not masked at n = {n}"),
        ),
        (n + 1, format!("off by one: the column mask lets column n = {n} through")),
        (
            n.next_multiple_of(tile),
            format!("a missing column mask: the last tile ends behind n = {n}"),
        ),
        (
            n.next_power_of_two(),
            format!("columns rounded up to a power of two and not masked at n = {n}"),
        ),
    ];
    // Where it runs into the next row, what it did there may have been written over.
    let fits = |limit: u64| limit > n && (reach == limit || (limit > stride && reach == stride));
    let mut slips = Vec::new();
    for (limit, name) in candidates.into_iter().filter(|(limit, _)| fits(*limit)) {
        for (contents, zero) in CONTENTS {
            slips.push(Slip::new(format!("{name}{contents}"), move |sample| {
                let (row, column) = scene.row_column(sample)?;
                // In its own row, or from the row before on.
                let (row, column) = match column >= n {
                    true => (row, column),
                    false => (row.checked_sub(1)?, column + stride),
                };
                let last = scene.belongs(sample.rank, row, n - 1).filter(|_| column < limit)?;
                follows(scene, &last, column - (n - 1), zero)
            }));
        }
    }
    slips
}

/// The column behind the last one that was overwritten, seen from the row in which it began.
fn column_reach(scene: &Scene<'_>, evidence: &Evidence<'_>) -> Option<u64> {
    if let Some([first, last]) = evidence.columns {
        return (first == scene.output.shape.n).then_some(last + 1);
    }
    let (row, column) = scene.row_column(evidence.samples.last()?)?;
    (row == scene.output.shape.m).then_some(column + scene.output.row_stride + 1)
}

/// What lies `distance` elements behind an input's element.
fn follows(scene: &Scene<'_>, element: &Origin, distance: u64, zero: bool) -> Option<Origin> {
    match element {
        _ if zero => Some(Origin::Zero),
        Origin::Input { rank, row, column, .. } => {
            let stride = scene.plan.input(scene.problem, scene.call, *rank).row_stride;
            Some(scene.input_at(*rank, row * stride + column + distance))
        }
        _ => None,
    }
}

/// Rows from the last one of a part on, into the next part or behind the matrix.
fn behind_parts<'a>(scene: &'a Scene<'a>, all: &[Evidence<'_>]) -> Vec<Slip<'a>> {
    let (n, tile) = (scene.output.shape.n, scene.call.tile.m.max(1));
    let m = scene.part_rows();
    let rows = scene.call.shape.m;
    // A row behind a part, from 1 on.
    let behind = move |sample: &Sample| {
        let (row, column) = scene.row_column(sample)?;
        (column < n && row >= m && m > 0).then_some((row % m + 1, row, column))
    };
    let reaches = |more: u64| {
        all.iter().filter(|evidence| evidence.gap.is_none()).any(|evidence| {
            let last = evidence.samples.last().and_then(behind);
            last.is_some_and(|(behind, _, column)| behind == more && column + 1 == n)
        })
    };
    let candidates = [
        (1, format!("off by one: the row mask lets row m = {rows} through")),
        (
            rows.next_multiple_of(tile) - rows,
            format!("a missing row mask: the last tile ends behind m = {rows}"),
        ),
    ];
    let mut slips = Vec::new();
    for (more, name) in candidates.into_iter().filter(|(more, _)| *more > 0 && reaches(*more)) {
        for (contents, zero) in CONTENTS {
            slips.push(Slip::new(format!("{name}{contents}"), move |sample| {
                let (behind, row, column) = behind(sample)?;
                let above = scene.belongs(sample.rank, row - behind, column)?;
                let Origin::Input { rank, .. } = above else { return None };
                let input = scene.plan.input(scene.problem, scene.call, rank).row_stride;
                follows(scene, &above, behind * input, zero).filter(|_| behind <= more)
            }));
        }
    }
    slips
}

/// Inputs moved as one run of bytes, in blocks of a size that is a power of two.
fn flat<'a>(scene: &'a Scene<'a>, all: &[Evidence<'_>]) -> Vec<Slip<'a>> {
    let (rows, n) = (scene.output.shape.m, scene.output.shape.n);
    let input = scene.plan.input(scene.problem, scene.call, scene.members[0]);
    if scene.output.row_stride != n || input.row_stride != n {
        return Vec::new();
    }
    let ends = all.iter().filter(|evidence| is_overrun(evidence.kind)).filter_map(|evidence| {
        let last = evidence.samples.last()?;
        (last.offset + 1).checked_sub(scene.output.end()).filter(|behind| *behind > 0)
    });
    let Some(behind) = ends.max() else { return Vec::new() };
    let bytes = input.shape.m * n * scene.element;
    let block = 1u64 << (bytes + behind).trailing_zeros();
    if behind >= block || block <= scene.element {
        return Vec::new();
    }
    let name = format!("the last block of {block} bytes moved whole: an input has {bytes} bytes");
    let slip = Slip::new(name, move |sample| {
        let distance = u64::try_from(scene.distance(sample)).ok()?.checked_sub(rows * n)? + 1;
        follows(scene, &scene.belongs(sample.rank, rows - 1, n - 1)?, distance, false)
    });
    vec![slip]
}
