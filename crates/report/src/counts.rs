//! How many cases came to which verdict.

use verdict::Verdict;

/// Cases by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub passed: usize,
    pub failed: usize,
    pub unsupported: usize,
    pub not_run: usize,
}

impl Counts {
    /// Counts a case.
    pub(crate) fn add(&mut self, verdict: Verdict) {
        let count = match verdict {
            Verdict::Pass => &mut self.passed,
            Verdict::Fail => &mut self.failed,
            Verdict::Unsupported => &mut self.unsupported,
            Verdict::NotRun => &mut self.not_run,
        };
        *count += 1;
    }
}
