//! Each rank in turn late at each place of its kernel, so that the others meet it there.

use std::time::Duration;

use collectives::Rank;
use simt::Late;

use crate::run::Run;
use crate::schedules::Way;
use ranks::pool::{Pool, PoolError};

impl Run<'_> {
    /// Ranks as processes, which ran well when none was late. The first failure ends it.
    pub(crate) fn all_delays(
        &mut self,
        pool: &mut Pool,
        order: &[Rank],
        time: Duration,
    ) -> Result<(), PoolError> {
        for rank in order {
            for late in Late::ALL {
                self.way = Way::Late(*rank, late, time);
                self.result.delays += 1;
                let mut findings = self.one_order(pool, order)?;
                if findings.is_empty() {
                    continue;
                }
                self.result.delays_failed += 1;
                self.way = Way::Seed;
                for finding in &mut findings {
                    finding.explanation += &format!(
                        " (rank {rank} was late by {} ms {})",
                        time.as_millis(),
                        late.describe()
                    );
                }
                return self.take_first(pool, order, findings);
            }
        }
        self.way = Way::Seed;
        Ok(())
    }
}
