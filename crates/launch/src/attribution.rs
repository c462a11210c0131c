//! "Written by": a failing case runs once more, observed, and its findings get their writers.

use collectives::{Finding, FindingKind, Rank};
use device::WatchedByte;

use crate::run::Run;
use ranks::pool::{Pool, PoolError};

/// Whether a re-run may tell more: who wrote wrong bytes, or who wrote beside shared memory.
pub(crate) fn is_wanted(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| byte_of(finding).is_some() || is_anonymous(finding))
}

/// Damage beside block-shared memory that was found when the block had ended.
fn is_anonymous(finding: &Finding) -> bool {
    finding.kind == FindingKind::OutOfBounds && finding.writer.is_none()
}

/// The bytes whose writers are worth knowing: the first wrong one of each finding that is about
/// bytes somebody wrote.
pub(crate) fn watched(findings: &[Finding]) -> Vec<WatchedByte> {
    findings.iter().filter_map(byte_of).collect()
}

fn byte_of(finding: &Finding) -> Option<WatchedByte> {
    // Races name their accesses themselves.
    let told = [FindingKind::Unwritten, FindingKind::DataRace, FindingKind::PacketOverwrite];
    let place = finding.place.as_ref().filter(|_| !told.contains(&finding.kind))?;
    Some(WatchedByte { rank: finding.rank?, offset: place.offset })
}

/// Runs `observed` (the same case, logical, built to report its accesses, watching the bytes of
/// `findings`) in `order`, and writes into the findings who wrote them.
///
/// # Errors
/// Ctrl-C, or no rank process can be had.
pub(crate) fn attribute(
    observed: &mut Run<'_>,
    pool: &mut Pool,
    order: &[Rank],
    findings: &mut [Finding],
) -> Result<(), PoolError> {
    let again = observed.one_order(pool, order)?;
    for finding in findings.iter_mut().filter(|finding| is_anonymous(finding)) {
        let same = |other: &&Finding| {
            (other.kind, other.rank, other.call) == (finding.kind, finding.rank, finding.call)
        };
        if let Some(seen) = again.iter().find(same) {
            finding.explanation.clone_from(&seen.explanation);
            finding.writer.clone_from(&seen.writer);
        }
    }
    let mut writes = observed.writes.iter();
    for finding in findings.iter_mut().filter(|finding| byte_of(finding).is_some()) {
        let write = writes.next().copied().flatten();
        let same = |other: &Finding| {
            (other.kind, other.rank, other.call) == (finding.kind, finding.rank, finding.call)
        };
        if !again.iter().any(same) {
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
