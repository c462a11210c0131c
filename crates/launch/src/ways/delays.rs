//! Each rank in turn late at each place of its kernel, so that the others meet it there.

use std::time::Duration;

use collectives::Rank;
use ranks::PoolError;
use simt::Late;

use super::failure;
use crate::admit::Admitted;
use crate::attempt::{Knobs, Ranks, attempt};
use crate::schedules::Interleaves;
use crate::tally::Tally;

/// Ranks as processes, which ran well when none was late. The first failure ends it.
pub(super) fn run(
    admitted: &Admitted<'_>,
    ranks: &mut dyn Ranks,
    tally: &mut Tally,
    order: &[Rank],
    time: Duration,
) -> Result<(), PoolError> {
    for rank in order {
        for late in Late::ALL {
            let mut knobs = Knobs::new(order.to_vec());
            knobs.interleaves = Interleaves::late(*rank, late, time);
            tally.processes().delays += 1;
            let mut ran = attempt(admitted, &knobs, ranks)?;
            tally.add(&ran);
            if ran.is_right() {
                continue;
            }
            tally.processes().delays_failed += 1;
            for finding in &mut ran.findings {
                finding.explanation += &format!(
                    " (rank {rank} was late by {} ms {})",
                    time.as_millis(),
                    late.describe()
                );
            }
            // A re-run for writers has all ranks in one process, where none is late.
            let knobs = Knobs::new(order.to_vec());
            return failure::take_first(admitted, &knobs, ranks, tally, ran.findings);
        }
    }
    Ok(())
}
