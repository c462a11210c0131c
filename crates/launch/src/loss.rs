//! Findings after which a rank, or its heap, is not worth asking.

use collectives::FindingKind;

/// Whether a finding means that heaps are not worth judging.
pub(crate) fn is_loss(kind: FindingKind) -> bool {
    matches!(
        kind,
        FindingKind::Crashed
            | FindingKind::Timeout
            | FindingKind::OutOfBounds
            | FindingKind::MisalignedAccess
            | FindingKind::MissingRank
            | FindingKind::ProtocolError
            | FindingKind::Deadlock
            | FindingKind::LaunchMismatch
            | FindingKind::CompileFailed
    )
}

/// Whether a finding means that the process of all ranks has ended.
pub(crate) fn loses_process(kind: FindingKind) -> bool {
    is_loss(kind) && kind != FindingKind::Deadlock
}
