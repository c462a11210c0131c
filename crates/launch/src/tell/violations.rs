//! What no GPU would let pass, told to people.

use collectives::{Finding, FindingKind, Rank};
use simt::{Side, ThreadId, Violation, ViolationKind};

use super::context::Context;

impl Context<'_> {
    /// Violations as findings, the first of each kind on each rank.
    pub(crate) fn violations(&self, all: &[Violation]) -> Vec<Finding> {
        let mut findings: Vec<Finding> = Vec::new();
        for violation in all {
            let finding = self.violation(violation);
            let same = |other: &Finding| (other.kind, other.rank) == (finding.kind, finding.rank);
            if !findings.iter().any(same) {
                findings.push(finding);
            }
        }
        findings
    }

    fn violation(&self, Violation { thread, site, what }: &Violation) -> Finding {
        let ThreadId { rank, block, .. } = *thread;
        let at = match site {
            Some(_) => self.at(*thread, *site),
            None => format!("rank {rank} block {block}"),
        };
        let access = |stores: bool| if stores { "stores" } else { "loads" };
        let (kind, what) = match what {
            ViolationKind::Misaligned { address, bytes, stores } => {
                let viewer = if self.one_rank_a_process { rank } else { Rank(0) };
                let place = self.address(*address, viewer);
                let what = format!(
                    "{} at an address that is not a multiple of {bytes}: {place}",
                    access(*stores)
                );
                (FindingKind::MisalignedAccess, what)
            }
            ViolationKind::Index { index, array } => {
                (FindingKind::OutOfBounds, format!("uses index {} of {array}", *index as i64))
            }
            ViolationKind::OutsideShared { side, distance, bytes, stores } => {
                let place = match side {
                    Side::Front => format!("{distance} bytes in front of its block-shared memory"),
                    Side::Static(of) => {
                        format!(
                            "{distance} bytes behind the {of} bytes of its static block-shared memory"
                        )
                    }
                    Side::Dynamic(of) => format!(
                        "{distance} bytes behind the {of} bytes of its dynamic block-shared memory (launch.shared_bytes)"
                    ),
                };
                (FindingKind::OutOfBounds, format!("{} {bytes} bytes, {place}", access(*stores)))
            }
        };
        let call = self.call_of(*thread);
        let text = format!("rank {rank}, call {call}: {at} {what}");
        let mut finding = Finding::event(kind, Some(rank), Some(call), text);
        finding.writer = self.writer(*thread, *site);
        finding
    }
}
