//! Many cases: a few threads, each with a pool of its own, and one stream of events.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use collectives::Problem;
use scenario::{Case, Mode};

use crate::case::run_case;
use crate::config::RunConfig;
use crate::tally::{device_lost, interrupted};
use ranks::{Pool, PoolError};
use verdict::{CaseResult, Environment, Event, Summary};

/// Cases in their modes.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many cases run at once.
    pub jobs: usize,
    /// Set by Ctrl-C.
    pub interrupted: &'static AtomicBool,
}

/// Runs cases.
#[derive(Debug)]
pub struct Runner {
    /// How many at once, and what stops them.
    pub options: Options,
    /// What all cases share.
    pub config: RunConfig,
}

impl Runner {
    /// Runs every case and hands every event to `sink`, in the order in which things happen. Cases of which
    /// `earlier` has a result do not run again; those results come first.
    ///
    /// # Errors
    /// No pool can be had at all.
    pub fn run(
        &self,
        selected: &[(&Case, Mode)],
        earlier: Vec<CaseResult>,
        environment: Environment,
        sink: &mut dyn FnMut(&Event),
    ) -> Result<Summary, PoolError> {
        let started = Instant::now();
        let mut summary = Summary { selected: selected.len(), ..Summary::default() };
        sink(&Event::RunStarted { environment, selected: selected.len() });
        let done: HashSet<String> = earlier.iter().map(CaseResult::name).collect();
        for result in earlier {
            summary.add(&result);
            sink(&Event::CaseFinished(Box::new(result)));
        }
        let device = self.config.target.device();
        let left = selected
            .iter()
            .filter(|(case, mode)| done.is_empty() || !done.contains(&case.name(device, *mode)));
        let left: Vec<(&Case, Mode)> = left.copied().collect();
        let next = AtomicUsize::new(0);
        let jobs = self.options.jobs.clamp(1, left.len().max(1));
        let pools = (0..jobs)
            .map(|_| Pool::new(self.config.target.clone(), self.options.interrupted))
            .collect::<Result<Vec<_>, _>>()?;
        let (sender, results) = mpsc::channel();
        std::thread::scope(|scope| {
            for mut pool in pools {
                let sender = sender.clone();
                let (next, left) = (&next, &left);
                scope.spawn(move || {
                    while let Some((case, mode)) =
                        left.get(next.fetch_add(1, Ordering::Relaxed)).copied()
                    {
                        let result = self.one(case, mode, &mut pool);
                        if sender.send(result).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            for result in results {
                summary.add(&result);
                sink(&Event::CaseFinished(Box::new(result)));
            }
        });
        let problems: HashSet<u64> = selected.iter().map(|(case, _)| key(&case.problem)).collect();
        summary.problems = problems.len();
        summary.compiled = self.config.builder.compiled();
        summary.duration_s = started.elapsed().as_secs_f64();
        summary.interrupted = self.options.interrupted.load(Ordering::Relaxed);
        sink(&Event::RunFinished(summary.clone()));
        Ok(summary)
    }

    fn one(&self, case: &Case, mode: Mode, pool: &mut Pool) -> CaseResult {
        if self.options.interrupted.load(Ordering::Relaxed) {
            return interrupted(case, mode, &self.config);
        }
        if self.config.lost.load(Ordering::Relaxed) {
            let why = "it was lost in an earlier case".to_owned();
            return device_lost(case, mode, &self.config, why);
        }
        run_case(case, mode, pool, &self.config)
    }
}

/// Cases share a problem when nothing but kernel, mode and, in copies, a dtype of the same size differs.
fn key(problem: &Problem) -> u64 {
    let mut hasher = DefaultHasher::new();
    let Problem { collective, world, dtype, layout, in_place, guard_bytes, data, calls, .. } =
        problem;
    (collective, world, dtype.bytes(), layout, in_place, guard_bytes, data, calls)
        .hash(&mut hasher);
    if collective.reduces() {
        (dtype, problem.numerics).hash(&mut hasher);
    }
    hasher.finish()
}

/// How many distinct problems there are.
pub fn distinct_problems<'a>(problems: impl Iterator<Item = &'a Problem>) -> usize {
    problems.map(key).collect::<HashSet<_>>().len()
}
