//! The first attempt that fails: its heaps are kept, its findings get their writers.

use collectives::Finding;
use ranks::PoolError;

use super::attribute;
use crate::admit::Admitted;
use crate::attempt::{Knobs, Ranks};
use crate::tally::Tally;

/// Takes the findings of the first attempt that fails into the result; does nothing where there are none.
pub(super) fn take_first(
    admitted: &Admitted<'_>,
    knobs: &Knobs,
    ranks: &mut dyn Ranks,
    tally: &mut Tally,
    mut findings: Vec<Finding>,
) -> Result<(), PoolError> {
    if findings.is_empty() {
        return Ok(());
    }
    keep_heaps(admitted, ranks)?;
    attribute::run(admitted, knobs, ranks, &mut findings)?;
    tally.result.findings = findings;
    Ok(())
}

fn keep_heaps(admitted: &Admitted<'_>, ranks: &mut dyn Ranks) -> Result<(), PoolError> {
    let Some(folder) = &admitted.config.keep_heaps else { return Ok(()) };
    let name = admitted.case.id.replace('/', "_");
    for rank in admitted.case.problem.ranks() {
        let heap = ranks.heaps().copy(rank, admitted.plan.bytes)?;
        let file = folder.join(format!("{name}.{}.rank{rank}.heap", admitted.mode));
        if let Err(error) = std::fs::write(&file, heap) {
            eprintln!("cannot keep the heap {}: {error}", file.display());
        }
    }
    Ok(())
}
