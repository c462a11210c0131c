//! "Written by": a failing case runs once more, observed, and its findings get their writers.

use collectives::{Finding, FindingKind};
use device::WatchedByte;
use ranks::PoolError;
use scenario::Mode;

use crate::admit::{Admitted, Observe, admit};
use crate::attempt::{Knobs, Ranks, Watch, attempt};

/// Whether a re-run may tell more: who wrote wrong bytes, or who wrote beside shared memory.
fn is_wanted(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| byte_of(finding).is_some() || is_anonymous(finding))
}

/// Damage beside block-shared memory that was found when the block had ended.
fn is_anonymous(finding: &Finding) -> bool {
    finding.kind == FindingKind::OutOfBounds && finding.writer.is_none()
}

/// The bytes whose writers are worth knowing: the first wrong one of each finding that is about
/// bytes somebody wrote.
fn watched(findings: &[Finding]) -> Vec<WatchedByte> {
    findings.iter().filter_map(byte_of).collect()
}

fn byte_of(finding: &Finding) -> Option<WatchedByte> {
    // Races name their accesses themselves, and what comes after the end of a call is not watched.
    let told = [
        FindingKind::Unwritten,
        FindingKind::DataRace,
        FindingKind::PacketOverwrite,
        FindingKind::ChangedAfterEnd,
    ];
    let place = finding.place.as_ref().filter(|_| !told.contains(&finding.kind))?;
    let call = finding.call.unwrap_or(0) as u32;
    Some(WatchedByte { rank: finding.rank?, offset: place.offset, call })
}

/// Attempts the case of `findings` once more, logical and built to report its accesses, with the same
/// order and interleaving, and writes into the findings who wrote their bytes.
///
/// # Errors
/// Ctrl-C, or no rank process can be had.
pub(super) fn run(
    admitted: &Admitted<'_>,
    knobs: &Knobs,
    ranks: &mut dyn Ranks,
    findings: &mut [Finding],
) -> Result<(), PoolError> {
    if !admitted.config.capabilities().observes_accesses || !is_wanted(findings) {
        return Ok(());
    }
    let observed = admit(admitted.case, Mode::Logical, admitted.config, Observe::Always);
    // What was built fast can be built observed; if not, the finding stands without a writer.
    let Ok(observed) = observed else { return Ok(()) };
    let knobs = Knobs { watch: Watch::Bytes(watched(findings)), ..knobs.clone() };
    let again = attempt(&observed, &knobs, ranks)?;
    for finding in findings.iter_mut().filter(|finding| is_anonymous(finding)) {
        if let Some(seen) = again.findings.iter().find(|other| same(finding, other)) {
            finding.explanation.clone_from(&seen.explanation);
            finding.writer.clone_from(&seen.writer);
        }
    }
    let mut writes = again.writes.iter();
    for finding in findings.iter_mut().filter(|finding| byte_of(finding).is_some()) {
        let write = writes.next().copied().flatten();
        if !again.findings.iter().any(|other| same(finding, other)) {
            finding.explanation += "; an observed re-run did not reproduce it";
            continue;
        }
        match write {
            Some(write) => {
                let call = finding.call.unwrap_or(0);
                finding.writer = observed.context(call).writer(write.thread, Some(write.site));
                if write.count > 1 {
                    finding.explanation += &format!("; written {} times", write.count);
                }
            }
            None => finding.explanation += "; in an observed re-run no kernel thread wrote it",
        }
    }
    Ok(())
}

/// Whether two findings are the same fault at the same place of the case.
fn same(one: &Finding, other: &Finding) -> bool {
    (one.kind, one.rank, one.call) == (other.kind, other.rank, other.call)
}
