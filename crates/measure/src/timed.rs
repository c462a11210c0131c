//! One run of an arm: a timed attempt of so many calls, with data that no other run has.

use std::collections::BTreeSet;
use std::sync::Arc;

use collectives::{Finding, HeapPlan, Rank};
use device::Caches;
use launch::Admitted;
use launch::admit::{Observe, admit};
use launch::attempt::{CallRan, Knobs, Ran, Ranks, Timing, attempt};
use launch::orders::active;
use launch::{Refusal, RunConfig};
use ranks::PoolError;
use scenario::values::{BenchValue, CacheValue, VerifyValue};
use scenario::{Case, Mode};

use crate::order;

/// Of the iterations between, one in so many is compared where not all are.
const DRAWN: u64 = 8;

/// An arm that can be run: its case with a call for each iteration.
#[derive(Debug)]
pub struct Timed<'a> {
    admitted: Admitted<'a>,
    order: Vec<Rank>,
    warmup: usize,
}

/// What a run gave.
#[derive(Debug)]
pub struct Sampled {
    /// By iteration, by member of the group: nanoseconds from the first one's begin to the own end.
    pub samples: Vec<Vec<f64>>,
    /// What the last iteration was launched with, as far as anybody knows.
    pub last: CallRan,
}

/// A case with a call for each iteration of a run.
pub fn repeated(case: &Case, bench: &BenchValue) -> Case {
    let calls = (bench.warmup + bench.iterations) as usize;
    let mut case = case.clone();
    case.problem.calls = vec![case.problem.calls[0].clone(); calls];
    case.requested = vec![case.requested[0]; calls];
    if let Ok(plan) = HeapPlan::new(&case.problem) {
        case.plan = Arc::new(plan);
    }
    case
}

impl<'a> Timed<'a> {
    /// Admits a case of [`repeated`].
    ///
    /// # Errors
    /// It cannot run.
    pub fn new(
        case: &'a Case,
        mode: Mode,
        bench: &BenchValue,
        config: &'a RunConfig,
    ) -> Result<Timed<'a>, Refusal> {
        let admitted = admit(case, mode, config, Observe::WhereNeeded)?;
        let order = active(&case.problem);
        Ok(Timed { admitted, order, warmup: bench.warmup as usize })
    }

    /// What was admitted.
    pub fn admitted(&self) -> &Admitted<'a> {
        &self.admitted
    }

    /// Makes room on all ranks.
    ///
    /// # Errors
    /// No rank process can be had.
    pub fn reserve(&self, ranks: &mut dyn Ranks) -> Result<(), PoolError> {
        self.admitted.reserve(ranks)
    }

    /// Runs all iterations once, with the data of a seed.
    ///
    /// # Errors
    /// Ctrl-C, or no rank process can be had.
    pub fn run(
        &self,
        seed: u64,
        bench: &BenchValue,
        ranks: &mut dyn Ranks,
    ) -> Result<Result<Sampled, Vec<Finding>>, PoolError> {
        let caches = match bench.cache {
            CacheValue::Cold => Caches::Cold,
            CacheValue::Warm => Caches::Warm,
        };
        let calls = self.admitted.objects.len();
        let mut draw = order::at(seed, &[u64::MAX]);
        let compared: BTreeSet<usize> = match bench.verify {
            VerifyValue::Every => (0..calls).collect(),
            VerifyValue::Drawn => (0..calls).filter(|_| draw.below(DRAWN) == 0).collect(),
        };
        let ran = self.attempt(seed, Some(Timing { caches, compared }), ranks)?;
        Ok(match ran.is_right() {
            true => Ok(self.sampled(ran)),
            false => Err(ran.findings),
        })
    }

    /// Runs the same calls without a clock, and compares after each.
    ///
    /// # Errors
    /// Ctrl-C, or no rank process can be had.
    pub fn untimed(&self, seed: u64, ranks: &mut dyn Ranks) -> Result<Vec<Finding>, PoolError> {
        Ok(self.attempt(seed, None, ranks)?.findings)
    }

    fn attempt(
        &self,
        seed: u64,
        timing: Option<Timing>,
        ranks: &mut dyn Ranks,
    ) -> Result<Ran, PoolError> {
        let mut case = self.admitted.case.clone();
        case.problem.seed = seed;
        let admitted = Admitted { case: &case, ..self.admitted.clone() };
        let knobs = Knobs { timing, overlap: false, ..Knobs::new(self.order.clone()) };
        attempt(&admitted, &knobs, ranks)
    }

    fn sampled(&self, mut ran: Ran) -> Sampled {
        let samples = ran.calls.iter().skip(self.warmup).map(times).collect();
        Sampled { samples, last: ran.calls.pop().unwrap_or_default() }
    }
}

/// From the first begin to each end. Processes of one machine share a clock; a GPU counts from its own begin.
fn times(call: &CallRan) -> Vec<f64> {
    let times = || call.measured.iter().flat_map(|measured| &measured.times);
    let first = times().map(|time| time.start).min().unwrap_or(0);
    times().map(|time| time.end.saturating_sub(first) as f64).collect()
}
