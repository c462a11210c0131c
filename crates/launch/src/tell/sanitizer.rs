//! What compute-sanitizer prints about a launch, as findings.
//!
//! ```text
//! ========= Invalid __global__ write of size 4 bytes
//! =========     at bad_kernel+0x2f0 in bad.hip:11
//! =========     by thread (0,0,0) in block (0,0,0)
//! =========     Access at 0x30 is out of bounds
//! ```

use collectives::{Finding, FindingKind, Rank};

const MARK: &str = "=========";
/// Lines of a report that are shown.
const SHOWN: usize = 5;

/// The first report of each kind in what a rank process printed.
pub(crate) fn findings(printed: &str, rank: Option<Rank>, call: usize) -> Vec<Finding> {
    let lines: Vec<&str> =
        printed.lines().filter_map(|line| line.strip_prefix(MARK)).map(str::trim_end).collect();
    let mut findings: Vec<Finding> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(kind) = kind_of(line) else { continue };
        if findings.iter().any(|known| known.kind == kind) {
            continue;
        }
        // What belongs to it is indented further.
        let indented = lines[at + 1..].iter().take_while(|line| line.starts_with("     "));
        let report: Vec<&str> =
            std::iter::once(line).chain(indented).take(SHOWN).map(|line| line.trim()).collect();
        let who = rank.map_or_else(|| "some rank".into(), |rank| format!("rank {rank}"));
        let text = format!("{who}, call {call}: compute-sanitizer: {}", report.join("; "));
        findings.push(Finding::event(kind, rank, Some(call), text));
    }
    findings
}

fn kind_of(line: &str) -> Option<FindingKind> {
    let line = line.trim_start();
    let is_access = line.starts_with("Invalid __") || line.starts_with("Address ");
    match line {
        _ if line.starts_with("Misaligned") => Some(FindingKind::MisalignedAccess),
        _ if is_access => Some(FindingKind::OutOfBounds),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_become_findings_with_their_place() {
        let printed = "\
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at bad_kernel+0x2f0 in bad.hip:11
=========     by thread (0,0,0) in block (0,0,0)
=========     Access at 0x30 is out of bounds
=========     Saved host backtrace up to driver entry point at kernel launch time
========= Invalid __global__ write of size 4 bytes
=========     at bad_kernel+0x2f0 in bad.hip:11
========= ERROR SUMMARY: 2 errors
";
        let findings = findings(printed, Some(Rank(1)), 0);
        let [finding] = &findings[..] else { panic!("{findings:?}") };
        assert_eq!(finding.kind, FindingKind::OutOfBounds);
        assert_eq!(finding.rank, Some(Rank(1)));
        let text = &finding.explanation;
        assert!(text.contains("in bad.hip:11; by thread (0,0,0) in block (0,0,0)"), "{text}");
    }

    #[test]
    fn what_a_kernel_prints_is_no_report() {
        assert!(findings("Invalid __global__ write\n", None, 0).is_empty());
        assert!(findings("========= ERROR SUMMARY: 0 errors\n", None, 0).is_empty());
    }
}
