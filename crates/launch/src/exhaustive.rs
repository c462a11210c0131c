//! Every interleaving of a small case.

use collectives::Rank;
use scenario::Reason;
use simt::{Explorer, Places};

use crate::run::Run;
use crate::schedules::{CallTurn, Way, show_turns};
use ranks::pool::{Pool, PoolError};
use verdict::Verdict;

/// With more threads a case is not small.
const THREADS: u64 = 64;

impl Run<'_> {
    /// All ranks at once, under every interleaving of their synchronisation. Plain accesses are no
    /// places to switch where races are looked for: if their order mattered, they would race.
    pub(crate) fn all_interleavings(
        &mut self,
        pool: &mut Pool,
        order: &[Rank],
    ) -> Result<(), PoolError> {
        let race = self.around.schedules.race;
        self.result.race = race;
        let places = if race { Places::Synchronisation } else { Places::EveryAccess };
        self.seed = places.seed();
        if let Some(reason) = self.too_large() {
            return self.refuse(reason);
        }
        let calls = self.case.problem.calls.len();
        let most = self.around.schedules.count;
        let mut explorer = Explorer::new();
        for _ in 0..most {
            self.way = Way::Explore((0..calls).map(|call| explorer.branch(call)).collect());
            let findings = self.one_order(pool, order)?;
            if !findings.is_empty() {
                self.result.schedules = explorer.complete() as usize + 1;
                self.result.schedules_failed = 1;
                self.result.failing_schedule = Some(self.seed);
                self.result.schedule_hash = Some(format!("{:016x}", self.schedule_hash));
                let turns = show_turns(&self.turns());
                self.result.replay +=
                    &format!(" --schedule-seed {} --switches '{turns}'", self.seed);
                self.result.switches = Some(turns);
                return self.take_first(pool, order, findings);
            }
            let more = explorer.ran(&self.recorded);
            self.result.schedules = explorer.complete() as usize;
            self.result.schedule_hash = Some(format!("{:016x}", self.schedule_hash));
            if !more {
                self.result.complete = Some(explorer.complete());
                return Ok(());
            }
        }
        self.refuse(Reason::new(
            format!(
                "at most {most} interleavings for --strategy exhaustive (--schedules N for more)"
            ),
            format!("{} that pass, and more to come", explorer.complete()),
        ))
    }

    /// The switches of the interleaving that ran last, all calls.
    pub(crate) fn turns(&self) -> Vec<CallTurn> {
        let calls = self.recorded.iter().enumerate();
        calls
            .flat_map(|(call, recorded)| {
                recorded.turns.iter().map(move |turn| CallTurn { call, turn: *turn })
            })
            .collect()
    }

    fn too_large(&self) -> Option<Reason> {
        let launches = self.jobs.iter().flat_map(|job| &job.launches);
        let fewer = launches.clone().map(|launch| launch.grid).max();
        if let Some(residency) = self.around.schedules.residency.filter(|r| Some(*r) < fewer) {
            return Some(Reason::new(
                "all blocks resident for --strategy exhaustive",
                format!("--residency {residency}"),
            ));
        }
        let threads = |job: &crate::job::Job| -> u64 {
            let of = job.launches.iter().map(|l| u64::from(l.grid) * u64::from(l.threads));
            of.sum()
        };
        let most = self.jobs.iter().map(threads).max().unwrap_or(0);
        (most > THREADS).then(|| {
            Reason::new(
                format!("at most {THREADS} threads on all ranks for --strategy exhaustive"),
                format!("{most} (a scenario may say `threads:`)"),
            )
        })
    }

    fn refuse(&mut self, reason: Reason) -> Result<(), PoolError> {
        self.result.verdict = Verdict::Unsupported;
        self.result.reason = Some(reason);
        Ok(())
    }
}
