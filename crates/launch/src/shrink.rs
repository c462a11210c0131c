//! The fewest switches with which a case still fails in the same way.

use collectives::Finding;
use kernels::Build;
use scenario::{Case, Mode};

use crate::blank::blank;
use crate::orders::{Effort, Orders};
use crate::run::{Run, Surroundings, loses_process};
use crate::schedules::{CallTurn, Way, show_turns};
use ranks::pool::{Pool, PoolError};
use verdict::{CaseResult, Verdict};

/// No more runs than this: what they do not shrink stays.
const RUNS: usize = 400;

/// A failing schedule from which no switch can be left out (as far as was tried).
#[derive(Debug, Clone)]
pub struct Smallest {
    /// The failure, with its replay.
    pub result: CaseResult,
    /// The switches that are left.
    pub switches: usize,
    /// The switches that the schedule had.
    pub switches_before: usize,
    /// What happens in the failing call, one line an event.
    pub trace: Vec<String>,
    /// How many schedules were run.
    pub runs: usize,
}

/// Shrinks the failing schedule `seed` (or those of its switches) of a logical case whose ranks
/// run at once; `same` says whether a run fails in the same way. `None` where it does not fail so.
///
/// # Errors
/// Ctrl-C, or no rank process can be had.
pub fn shrink(
    case: &Case,
    pool: &mut Pool,
    around: &Surroundings,
    seed: u64,
    turns: Option<&[CallTurn]>,
    same: &dyn Fn(&[Finding]) -> bool,
) -> Result<Option<Smallest>, PoolError> {
    let mut result = blank(case, Mode::Logical, around);
    let Ok(run) = Run::new(case, Mode::Logical, around, Build::Observed, &mut result) else {
        return Ok(None);
    };
    let order = Orders::new(&case.problem, run.heap_bytes, Effort::Affordable).list.swap_remove(0);
    let mut shrinker = Shrinker { run, pool, order, same, runs: 0 };
    let start = match turns {
        Some(turns) => Way::Turns(turns.to_vec()),
        None => Way::Recorded,
    };
    if !shrinker.fails(seed, start)? {
        return Ok(None);
    }
    let all = shrinker.run.turns();
    let before = all.len();
    // The plainest schedule of all is the round robin.
    let (seed, kept) = if shrinker.fails(0, Way::Recorded)? {
        (0, None)
    } else if shrinker.fails(seed, Way::Turns(all.clone()))? {
        (seed, Some(shrinker.fewest(seed, all)?))
    } else {
        // The process was lost, and the record of its switches with it.
        (seed, None)
    };
    let way = kept.clone().map_or(Way::Recorded, Way::Turns);
    let findings = shrinker.findings(seed, way)?;
    let Shrinker { mut run, pool, order, runs, .. } = shrinker;
    let call = run.recorded.len().saturating_sub(1);
    let events = run.recorded.last().map(|recorded| recorded.events.clone()).unwrap_or_default();
    let (involved, hash) = (run.involved.clone(), run.schedule_hash);
    let trace = run.context(call).trace(&events, &involved);
    run.result.replay += &format!(" --schedule-seed {seed}");
    run.result.switches = kept.as_ref().map(|kept| show_turns(kept));
    if let Some(switches) = &run.result.switches {
        run.result.replay += &format!(" --switches '{switches}'");
    }
    run.take_first(pool, &order, findings)?;
    drop(run);
    result.verdict = Verdict::Fail;
    result.race = around.schedules.race;
    (result.schedules, result.schedules_failed) = (1, 1);
    result.failing_schedule = Some(seed);
    result.schedule_hash = Some(format!("{hash:016x}"));
    let switches = kept.map_or(0, |kept| kept.len());
    Ok(Some(Smallest { result, switches, switches_before: before, trace, runs }))
}

struct Shrinker<'a, 'b> {
    run: Run<'a>,
    pool: &'b mut Pool,
    order: Vec<collectives::Rank>,
    same: &'b dyn Fn(&[Finding]) -> bool,
    runs: usize,
}

impl Shrinker<'_, '_> {
    fn findings(&mut self, seed: u64, way: Way) -> Result<Vec<Finding>, PoolError> {
        self.runs += 1;
        let Run { case, plan, .. } = &self.run;
        self.pool.reserve(case.problem.world, plan.bytes, 1)?;
        (self.run.seed, self.run.way) = (seed, way);
        let findings = self.run.one_order(self.pool, &self.order)?;
        if findings.iter().any(|finding| loses_process(finding.kind)) {
            self.pool.stop();
        }
        Ok(findings)
    }

    fn fails(&mut self, seed: u64, way: Way) -> Result<bool, PoolError> {
        let findings = self.findings(seed, way)?;
        Ok((self.same)(&findings))
    }

    /// Leaves switches out, half of them at first, then ever smaller parts (Zeller's ddmin).
    fn fewest(&mut self, seed: u64, all: Vec<CallTurn>) -> Result<Vec<CallTurn>, PoolError> {
        let mut kept = all;
        let mut parts = 1;
        while !kept.is_empty() && self.runs < RUNS {
            let size = kept.len().div_ceil(parts);
            let mut smaller = None;
            for start in (0..kept.len()).step_by(size) {
                let mut rest = kept.clone();
                rest.drain(start..(start + size).min(kept.len()));
                if self.runs < RUNS && self.fails(seed, Way::Turns(rest.clone()))? {
                    smaller = Some(rest);
                    break;
                }
            }
            match smaller {
                Some(rest) => {
                    kept = rest;
                    parts = (parts - 1).max(1);
                }
                None if size == 1 => break,
                None => parts = (2 * parts).min(kept.len()),
            }
        }
        Ok(kept)
    }
}
