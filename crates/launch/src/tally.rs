//! Folds attempts into a case's result.

use std::sync::atomic::Ordering;
use std::time::Instant;

use collectives::Finding;
use ranks::PoolError;
use scenario::{Case, Mode, Reason};
use simt::Unexplored;
use verdict::{CaseResult, How, OrdersRun, ProcessesRun, SchedulesRun, Verdict};

use crate::admit::Refusal;
use crate::attempt::Ran;
use crate::config::RunConfig;

/// A result in the making.
#[derive(Debug)]
pub struct Tally {
    /// The result so far; a pass until something is wrong.
    pub result: CaseResult,
    started: Instant,
}

impl Tally {
    /// The tally of a case of which nothing has run yet.
    pub fn new(case: &Case, mode: Mode, config: &RunConfig) -> Tally {
        Tally { result: config.result(case, mode), started: Instant::now() }
    }

    /// Counts an attempt: launches, times, what ran.
    pub fn add(&mut self, ran: &Ran) {
        self.result.launches += ran.launches;
        self.result.kernel_s += ran.kernel_seconds();
        for (call, into) in ran.calls.iter().zip(&mut self.result.calls) {
            if call.effective.is_some() {
                into.effective.clone_from(&call.effective);
            }
        }
        if ran.open_waits.iter().any(|(why, _)| *why == Unexplored::GivesUpLate) {
            self.schedules().long_waits = true;
        }
        if let Some(overlapped) = ran.overlapped() {
            let known = &mut self.processes().overlapped;
            *known = Some(known.unwrap_or(true) && overlapped);
        }
    }

    /// The case is not attempted.
    pub fn refuse(&mut self, refusal: Refusal) {
        match refusal {
            Refusal::Unsupported(reason) => self.unsupported(reason),
            Refusal::Wrong { finding, source_sha256 } => {
                self.result.source.sha256 = source_sha256;
                self.result.findings.push(*finding);
            }
        }
    }

    /// The case cannot run here.
    pub fn unsupported(&mut self, reason: Reason) {
        self.result.verdict = Verdict::Unsupported;
        self.result.reason = Some(reason);
    }

    /// Whether nothing is wrong so far.
    pub fn is_right(&self) -> bool {
        self.result.findings.is_empty()
    }

    /// What belongs to orders of ranks, where they run in some.
    pub fn orders(&mut self) -> &mut OrdersRun {
        if !matches!(self.result.how, How::Orders(_)) {
            self.result.how = How::Orders(OrdersRun::default());
        }
        match &mut self.result.how {
            How::Orders(orders) => orders,
            _ => unreachable!("just set"),
        }
    }

    /// What belongs to schedules, where ranks run under some.
    pub fn schedules(&mut self) -> &mut SchedulesRun {
        if !matches!(self.result.how, How::Schedules(_)) {
            self.result.how = How::Schedules(SchedulesRun::default());
        }
        match &mut self.result.how {
            How::Schedules(schedules) => schedules,
            _ => unreachable!("just set"),
        }
    }

    /// What belongs to processes, where ranks are some.
    pub fn processes(&mut self) -> &mut ProcessesRun {
        if !matches!(self.result.how, How::Processes(_)) {
            self.result.how = How::Processes(ProcessesRun::default());
        }
        match &mut self.result.how {
            How::Processes(processes) => processes,
            _ => unreachable!("just set"),
        }
    }

    /// The finished result: it failed if something is wrong.
    pub fn finish(mut self) -> CaseResult {
        if self.result.verdict == Verdict::Pass && !self.is_right() {
            self.result.verdict = Verdict::Fail;
        }
        self.result.duration_s = self.started.elapsed().as_secs_f64();
        self.result
    }

    /// The result of a case whose ranks could not be had to its end.
    pub fn broken_off(mut self, case: &Case, config: &RunConfig, error: PoolError) -> CaseResult {
        match error {
            PoolError::Interrupted => interrupted(case, self.result.mode, config),
            PoolError::DoesNotFit { needed, found } => {
                self.unsupported(Reason::new(needed, found));
                self.finish()
            }
            PoolError::DeviceLost(why) => {
                config.lost.store(true, Ordering::Relaxed);
                device_lost(case, self.result.mode, config, why)
            }
            error @ PoolError::System { .. } => {
                let kind = collectives::FindingKind::MissingRank;
                self.result.findings.push(Finding::event(kind, None, None, error.to_string()));
                self.finish()
            }
        }
    }
}

/// The result of a case that an interrupt kept from running to its end.
pub(crate) fn interrupted(case: &Case, mode: Mode, config: &RunConfig) -> CaseResult {
    let reason = Reason::new("a run to its end", "an interrupt");
    config.result(case, mode).without_a_run(Verdict::NotRun, reason)
}

/// The result of a case that found its device lost.
pub(crate) fn device_lost(case: &Case, mode: Mode, config: &RunConfig, why: String) -> CaseResult {
    let reason = Reason::new("a device that works", why);
    config.result(case, mode).without_a_run(Verdict::NotRun, reason)
}
