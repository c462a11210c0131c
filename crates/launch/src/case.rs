//! The way of a case: admit, attempt, judge.

use scenario::{Case, Mode};
use verdict::{CaseResult, Verdict};

use crate::admit::{Observe, admit};
use crate::attempt::Ranks;
use crate::config::RunConfig;
use crate::loss::is_loss;
use crate::tally::Tally;
use crate::ways;

/// Runs a case in a mode and judges it. Never fails: what goes wrong is in the verdict.
pub fn run_case(case: &Case, mode: Mode, ranks: &mut dyn Ranks, config: &RunConfig) -> CaseResult {
    let mut tally = Tally::new(case, mode, config);
    let run = match admit(case, mode, config, Observe::WhereNeeded) {
        Ok(admitted) => ways::run(&admitted, ranks, &mut tally),
        Err(refusal) => {
            tally.refuse(refusal);
            Ok(())
        }
    };
    let result = match run {
        Ok(()) => tally.finish(),
        Err(error) => tally.broken_off(case, config, error),
    };
    leave(ranks, &result, config);
    result
}

/// After a failure a kernel may have harmed its process; the next case gets another.
fn leave(ranks: &mut dyn Ranks, result: &CaseResult, config: &RunConfig) {
    let contained = result.mode != Mode::Host
        && config.capabilities().contains_kernels
        && !result.findings.iter().any(|finding| is_loss(finding.kind));
    if result.verdict == Verdict::Fail && !contained {
        ranks.stop();
    }
    ranks.release();
}
