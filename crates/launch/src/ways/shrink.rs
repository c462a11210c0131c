//! The fewest switches with which a case still fails in the same way.

use collectives::{Finding, Rank};
use ranks::PoolError;
use scenario::{Case, Mode};
use verdict::{CaseResult, Switch};

use super::{exhaustive, failure};
use crate::admit::{Admitted, Observe, admit};
use crate::attempt::{Knobs, Ran, Ranks, attempt};
use crate::config::RunConfig;
use crate::loss::loses_process;
use crate::orders::{Effort, Orders};
use crate::schedules::Interleaves;
use crate::tally::Tally;

/// No more runs than this: what they do not shrink stays.
const RUNS: usize = 400;

/// A failing schedule from which no switch can be left out (as far as was tried).
#[derive(Debug, Clone)]
pub struct Smallest {
    /// The failure, with its replay.
    pub result: CaseResult,
    /// The number of switches that are left.
    pub switches: usize,
    /// The number of switches that the schedule had.
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
    ranks: &mut dyn Ranks,
    config: &RunConfig,
    seed: u64,
    switches: Option<&[Switch]>,
    same: &dyn Fn(&[Finding]) -> bool,
) -> Result<Option<Smallest>, PoolError> {
    let Ok(admitted) = admit(case, Mode::Logical, config, Observe::Always) else {
        return Ok(None);
    };
    let orders = Orders::new(&case.problem, admitted.heap_bytes, Effort::Affordable);
    let order = orders.list[0].clone();
    let mut shrinker = Shrinker { admitted: &admitted, ranks, order, same, runs: 0 };
    let Some(first) = shrinker.fails(seed, switches)? else { return Ok(None) };
    let all = exhaustive::switches(&first);
    let before = all.len();
    // The plainest schedule of all is the round robin.
    let (seed, kept) = if shrinker.fails(0, None)?.is_some() {
        (0, None)
    } else if shrinker.fails(seed, Some(&all))?.is_some() {
        (seed, Some(shrinker.fewest(seed, all)?))
    } else {
        // The process was lost, and the record of its switches with it.
        (seed, None)
    };
    let knobs = shrinker.knobs(seed, kept.as_deref());
    let ran = shrinker.run(&knobs)?;
    let (call, events) = match ran.recorded.last() {
        Some((call, recorded)) => (*call, recorded.events.clone()),
        None => (0, Vec::new()),
    };
    let trace = admitted.context(call).trace(&events, &ran.involved);
    let mut tally = Tally::new(case, Mode::Logical, config);
    tally.result.replay.under(seed, kept.clone());
    let counts = tally.schedules();
    (counts.ran, counts.failed, counts.race) = (1, 1, config.schedules.race);
    counts.first_failing = Some(seed);
    counts.hash = Some(ran.schedule_hash);
    counts.switches.clone_from(&kept);
    let runs = shrinker.runs;
    failure::take_first(&admitted, &knobs, shrinker.ranks, &mut tally, ran.findings)?;
    let switches = kept.map_or(0, |kept| kept.len());
    Ok(Some(Smallest { result: tally.finish(), switches, switches_before: before, trace, runs }))
}

struct Shrinker<'a, 'b> {
    admitted: &'a Admitted<'a>,
    ranks: &'b mut dyn Ranks,
    order: Vec<Rank>,
    same: &'b dyn Fn(&[Finding]) -> bool,
    runs: usize,
}

impl Shrinker<'_, '_> {
    /// Of a seed's schedule all switches, or these only; with a record.
    fn knobs(&self, seed: u64, switches: Option<&[Switch]>) -> Knobs {
        let interleaves = match switches {
            Some(switches) => Interleaves::switched(switches, self.admitted.jobs.len()),
            None => Interleaves::recorded(),
        };
        Knobs { seed, interleaves, ..Knobs::new(self.order.clone()) }
    }

    fn run(&mut self, knobs: &Knobs) -> Result<Ran, PoolError> {
        self.runs += 1;
        self.admitted.reserve(self.ranks)?;
        let ran = attempt(self.admitted, knobs, self.ranks)?;
        if ran.findings.iter().any(|finding| loses_process(finding.kind)) {
            self.ranks.stop();
        }
        Ok(ran)
    }

    /// What ran, where it fails in the same way.
    fn fails(&mut self, seed: u64, switches: Option<&[Switch]>) -> Result<Option<Ran>, PoolError> {
        let knobs = self.knobs(seed, switches);
        let ran = self.run(&knobs)?;
        Ok((self.same)(&ran.findings).then_some(ran))
    }

    /// Leaves switches out, half of them at first, then ever smaller parts (Zeller's ddmin).
    fn fewest(&mut self, seed: u64, all: Vec<Switch>) -> Result<Vec<Switch>, PoolError> {
        let mut kept = all;
        let mut parts = 1;
        while !kept.is_empty() && self.runs < RUNS {
            let size = kept.len().div_ceil(parts);
            let mut smaller = None;
            for start in (0..kept.len()).step_by(size) {
                let mut rest = kept.clone();
                rest.drain(start..(start + size).min(kept.len()));
                if self.runs < RUNS && self.fails(seed, Some(&rest))?.is_some() {
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
