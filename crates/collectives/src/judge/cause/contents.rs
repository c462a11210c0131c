//! What wrong bytes say by themselves, where nobody's data explains them.

use crate::heap::plan::RegionName;
use crate::judge::finding::FindingKind;
use crate::meaning::float;

use super::memory::Memory;
use super::scene::{Origin, Scene, expected_input};
use super::{Evidence, LEAST_BYTES, Sample};

/// What they look like.
pub(super) fn cause(
    evidence: &Evidence<'_>,
    scene: &Scene<'_>,
    memory: &mut Memory<'_>,
) -> Option<String> {
    match evidence.kind {
        FindingKind::OutputMismatch => {
            zeroed(evidence).or_else(|| changed_by_arithmetic(evidence, scene, memory))
        }
        FindingKind::InputModified => zeroed(evidence),
        FindingKind::GuardOverwritten => behind_workspace(evidence, scene),
        _ => None,
    }
}

fn zeroed(Evidence { samples, .. }: &Evidence<'_>) -> Option<String> {
    let bytes = || samples.iter().flat_map(|sample| sample.actual());
    let count = bytes().count();
    (count >= 2 * LEAST_BYTES && bytes().all(|byte| *byte == 0))
        .then(|| format!("zeroed (all {count} bytes that were looked at are 0)"))
}

/// A guard that begins where a workspace ends.
fn behind_workspace(Evidence { samples, .. }: &Evidence<'_>, scene: &Scene<'_>) -> Option<String> {
    let (first, last) = (samples.first()?, samples.last()?);
    let before = scene.plan.regions.iter().rfind(|r| r.storage.end <= first.offset)?;
    let RegionName::Workspace(_) = before.name else { return None };
    Some(format!(
        "{} used as if it were larger: it is declared with {} bytes, and byte {} of it was written",
        before.name.label(scene.problem),
        before.storage.end - before.storage.start,
        last.offset - before.storage.start,
    ))
}

/// Numbers that are equal and have other bits.
fn changed_by_arithmetic(
    Evidence { samples, .. }: &Evidence<'_>,
    scene: &Scene<'_>,
    memory: &mut Memory<'_>,
) -> Option<String> {
    let dtype = scene.problem.dtype;
    let value = |bytes: &[u8]| {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        float::decode(dtype, u64::from_le_bytes(wide))
    };
    let mut is_equal = |sample: &Sample| {
        let (rank, row, column) = expected_input(sample)?;
        let origin = Origin::Input { rank, call: scene.index, row, column };
        let (expected, actual) = (value(&memory.element(&origin)?), value(sample.actual()));
        Some(expected == actual || (expected.is_nan() && actual.is_nan()))
    };
    let all = dtype.is_float() && samples.iter().all(|sample| is_equal(sample) == Some(true));
    all.then(|| {
        format!(
            "data passed through floating-point arithmetic: NaN payloads or signs of zeros came out changed (all {} wrong elements that were compared are equal as numbers)",
            samples.len()
        )
    })
}
