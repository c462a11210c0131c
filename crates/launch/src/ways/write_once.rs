//! `write_once`: a case that passes runs once more, observed, and no element of an output may be
//! written twice, whatever is written.

use collectives::Rank;
use ranks::PoolError;
use scenario::Mode;

use crate::admit::{Admitted, Observe, admit};
use crate::attempt::{Knobs, Ranks, Watch, attempt};
use crate::tally::Tally;

/// Attempts the same case once more, logical and observed: no element may be written twice.
pub(super) fn run(
    admitted: &Admitted<'_>,
    ranks: &mut dyn Ranks,
    tally: &mut Tally,
    order: &[Rank],
) -> Result<(), PoolError> {
    match admit(admitted.case, Mode::Logical, admitted.config, Observe::Always) {
        Ok(observed) => {
            let knobs =
                Knobs { overlap: false, watch: Watch::EveryOutput, ..Knobs::new(order.to_vec()) };
            tally.result.findings = attempt(&observed, &knobs, ranks)?.findings;
        }
        Err(refusal) => tally.refuse(refusal),
    }
    Ok(())
}
