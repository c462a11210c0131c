//! The way of a row: verify every arm, run all of them in drawn blocks, keep every sample.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use bench::file::{
    self, Arm, ArmKind, Block, FreshLaunch, Invalid, InvalidKind, Row, Run, Verification, Verified,
};
use collectives::{Finding, FindingKind};
use device::Measured;
use launch::attempt::{CallRan, Ranks};
use launch::{Refusal, RunConfig, run_case};
use ranks::PoolError;
use scenario::values::CacheValue;
use scenario::{Case, Mode};
use verdict::Verdict;

use crate::ceiling;
use crate::order::{self, block};
use crate::rows::{Planned, PlannedArm};
use crate::timed::{Sampled, Timed, repeated};
use crate::units::semantics;

/// What all rows of a benchmark share.
#[derive(Debug)]
pub struct Session<'a> {
    /// What all attempts share.
    pub config: &'a RunConfig,
    /// Draws the order of arms and the data of every run.
    pub seed: u64,
    /// When the benchmark began.
    pub started: Instant,
    /// Bytes a second that the device reads and writes while it copies; absent where nobody knows.
    pub copy_speed: Option<f64>,
    /// Set by Ctrl-C.
    pub interrupted: &'a AtomicBool,
}

/// Something that has been done, for a progress bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// An arm was verified.
    Verified,
    /// A run of an arm has ended, or was left out.
    Run,
}

/// How many steps a row has.
pub fn steps(row: &Planned<'_>) -> usize {
    let bench = &row.arms[0].case.bench;
    row.arms.len() * (1 + 2 * (bench.blocks * bench.launches) as usize)
}

/// One arm while it is measured.
struct Racing<'a> {
    planned: &'a PlannedArm<'a>,
    timed: Option<Timed<'a>>,
    arm: Arm,
}

/// Measures a row. After Ctrl-C it has the blocks that were complete by then.
pub fn measure(
    session: &Session<'_>,
    number: usize,
    planned: &Planned<'_>,
    ranks: &mut dyn Ranks,
    progress: &mut dyn FnMut(Step),
) -> Row {
    let bench = &planned.arms[0].case.bench;
    let cases: Vec<Case> = planned.arms.iter().map(|arm| repeated(arm.case, bench)).collect();
    let mut row = empty(session, planned);
    let mut arms = Vec::new();
    for (arm, case) in planned.arms.iter().zip(&cases) {
        arms.push(Racing::new(session, planned.mode, arm, case, ranks, &mut row));
        progress(Step::Verified);
        if session.is_interrupted() {
            break;
        }
    }
    if row.skipped.is_none() && arms.len() == planned.arms.len() {
        let mut measuring = Measuring { session, number, planned, row: &mut row, arms, progress };
        if let Err(error) = measuring.run(ranks) {
            measuring.broken_off(&error);
        }
        row.arms = std::mem::take(&mut measuring.arms).into_iter().map(|arm| arm.arm).collect();
    } else {
        row.arms = arms.into_iter().map(|arm| arm.arm).collect();
        if session.is_interrupted() {
            row.skipped = Some("interrupted before anything was timed".to_owned());
        }
    }
    ceiling::check(&mut row);
    ranks.stop();
    ranks.release();
    row
}

impl Session<'_> {
    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

/// The row without arms and samples.
fn empty(session: &Session<'_>, planned: &Planned<'_>) -> Row {
    let case = planned.arms[0].case;
    let call = &case.problem.calls[0];
    let axes = [
        ("dtype", case.problem.dtype.name().to_owned()),
        ("m", call.shape.m.to_string()),
        ("n", call.shape.n.to_string()),
        ("tile", call.tile.to_string()),
        ("blocks", call.blocks.to_string()),
        ("group", call.group.to_string()),
    ];
    Row {
        id: planned.id.clone(),
        collective: case.problem.collective.name().to_owned(),
        kernel: case.kernel.manifest.kernel.clone(),
        axes: axes.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        ranks: call.group.size(),
        mode: planned.mode.name().to_owned(),
        device: session.config.target.device().to_string(),
        bytes: planned.units.bytes,
        bus_factor: planned.units.bus_factor,
        // Ranks in processes of their own may have a GPU each.
        ceiling: session
            .copy_speed
            .filter(|_| planned.mode == Mode::Logical)
            .and_then(|speed| ceiling::ceiling(&case.problem, planned.units, speed)),
        cache: match case.bench.cache {
            CacheValue::Cold => file::Cache::Cold,
            CacheValue::Warm => file::Cache::Warm,
        },
        arms: Vec::new(),
        launches: Vec::new(),
        invalid: Vec::new(),
        skipped: None,
    }
}

impl<'a> Racing<'a> {
    /// Verifies the arm as any case, and makes it ready to be timed if it is right.
    fn new(
        session: &'a Session<'_>,
        mode: Mode,
        planned: &'a PlannedArm<'a>,
        repeated: &'a Case,
        ranks: &mut dyn Ranks,
        row: &mut Row,
    ) -> Racing<'a> {
        let (tag, layout) = semantics(&planned.case.problem);
        let requested = planned.case.requested[0];
        let mut arm = Arm {
            name: planned.name.clone(),
            kind: planned.kind,
            semantics: tag,
            layout,
            source: planned.source.clone(),
            requested: file::Launch {
                blocks: requested.blocks,
                threads: planned.case.threads,
                tile: requested.tile.map(|tile| tile.to_string()),
                ..file::Launch::default()
            },
            effective: file::Launch::default(),
            verified: Verified::default(),
        };
        let index = row.arms.len();
        row.arms.push(arm.clone());
        let mut invalid = |kind, reason: String| {
            row.invalid.push(Invalid { arm: Some(index), kind, reason });
        };
        if planned.kind == ArmKind::Control {
            // The base once more: the first arm's verification is its own.
            arm.verified.before = row.arms[0].verified.before.clone();
            if arm.verified.before != Verification::Right {
                return Racing { planned, timed: None, arm };
            }
        } else {
            let result = run_case(planned.case, mode, ranks, session.config);
            match result.verdict {
                Verdict::Pass => arm.verified.before = Verification::Right,
                Verdict::Fail => {
                    let what = result.findings.first().map_or_else(String::new, in_words);
                    arm.verified.before = Verification::Wrong(what.clone());
                    invalid(InvalidKind::WrongBefore, what);
                }
                Verdict::Unsupported | Verdict::NotRun => {
                    let why = result.reason.map_or_else(String::new, |reason| reason.to_string());
                    if index == 0 {
                        row.skipped = Some(why);
                    } else {
                        invalid(InvalidKind::Lost, format!("it did not run: {why}"));
                    }
                }
            }
            if arm.source.is_none() && !result.source.sha256.is_empty() {
                let (path, sha256) = (&result.source.path, &result.source.sha256);
                arm.source = Some(format!("{path} sha256 {sha256}"));
            }
            row.arms[index] = arm.clone();
        }
        let mut timed = None;
        if arm.verified.before == Verification::Right {
            match Timed::new(repeated, mode, &planned.case.bench, session.config) {
                Ok(ready) => timed = Some(ready),
                Err(refusal) => {
                    let reason = match refusal {
                        Refusal::Unsupported(reason) => reason.to_string(),
                        Refusal::Wrong { finding, .. } => finding.explanation,
                    };
                    row.invalid.push(Invalid { arm: Some(index), kind: InvalidKind::Lost, reason });
                }
            }
        }
        Racing { planned, timed, arm }
    }
}

/// A row while its arms run.
struct Measuring<'a, 's> {
    session: &'a Session<'s>,
    number: usize,
    planned: &'a Planned<'a>,
    row: &'a mut Row,
    arms: Vec<Racing<'a>>,
    progress: &'a mut dyn FnMut(Step),
}

impl Measuring<'_, '_> {
    fn run(&mut self, ranks: &mut dyn Ranks) -> Result<(), PoolError> {
        let bench = &self.planned.arms[0].case.bench;
        for launch in 0..bench.launches {
            if self.arms.iter().all(|arm| arm.timed.is_none()) {
                break;
            }
            ranks.stop();
            self.row.launches.push(FreshLaunch { number: launch, blocks: Vec::new() });
            for number in 0..bench.blocks {
                let block = self.block([launch, number], ranks)?;
                let blocks = &mut self.row.launches.last_mut().expect("just pushed").blocks;
                if !block.runs.is_empty() {
                    blocks.push(block);
                }
            }
        }
        Ok(())
    }

    fn block(
        &mut self,
        [launch, number]: [u32; 2],
        ranks: &mut dyn Ranks,
    ) -> Result<Block, PoolError> {
        let place = [self.number as u64, launch.into(), number.into()];
        let mut draw = order::at(self.session.seed, &place);
        let mut runs = Vec::new();
        for index in block(self.arms.len(), &mut draw) {
            let seed = draw.number();
            let at_ns = self.session.started.elapsed().as_nanos() as f64;
            if let Some(sampled) = self.one(index, seed, ranks)? {
                runs.push(Run { arm: index, at_ns: Some(at_ns), samples: sampled.samples });
            }
            (self.progress)(Step::Run);
        }
        Ok(Block { runs })
    }

    /// One run of an arm; nothing where it is out of the race.
    fn one(
        &mut self,
        index: usize,
        seed: u64,
        ranks: &mut dyn Ranks,
    ) -> Result<Option<Sampled>, PoolError> {
        let arm = &mut self.arms[index];
        let Some(timed) = &arm.timed else { return Ok(None) };
        let bench = &arm.planned.case.bench;
        timed.reserve(ranks)?;
        let findings = match timed.run(seed, bench, ranks)? {
            Ok(sampled) => {
                arm.arm.verified.after = Verification::Right;
                arm.arm.effective = effective(&sampled.last);
                return Ok(Some(sampled));
            }
            Err(findings) => findings,
        };
        // The same calls without a clock say whether it is the clock that it minds.
        ranks.stop();
        timed.reserve(ranks)?;
        let untimed = timed.untimed(seed, ranks)?;
        ranks.stop();
        let (kind, reason) = explain(&findings, &untimed, bench.warmup);
        arm.arm.verified.after = Verification::Wrong(reason.clone());
        arm.timed = None;
        self.row.invalid.push(Invalid { arm: Some(index), kind, reason });
        Ok(None)
    }

    /// What keeps all arms from running on.
    fn broken_off(&mut self, error: &PoolError) {
        if !matches!(error, PoolError::Interrupted) {
            let reason = error.to_string();
            self.row.invalid.push(Invalid { arm: None, kind: InvalidKind::Lost, reason });
        }
    }
}

/// What a wrong run means, for an arm whose case was right before.
fn explain(timed: &[Finding], untimed: &[Finding], warmup: u32) -> (InvalidKind, String) {
    let Some(first) = timed.first() else { return (InvalidKind::Lost, String::new()) };
    let what = in_words(first);
    let which = match first.call {
        Some(call) if call < warmup as usize => format!("iteration {call} of the warm-up"),
        Some(call) => format!("timed iteration {}", call - warmup as usize),
        None => "a timed run".to_owned(),
    };
    match first.kind {
        FindingKind::LaunchMismatch | FindingKind::KernelDidNotRun => {
            (InvalidKind::LaunchDiffers, format!("{which}: {what}"))
        }
        FindingKind::Crashed
        | FindingKind::Timeout
        | FindingKind::MissingRank
        | FindingKind::ProtocolError => (InvalidKind::Lost, format!("{which}: {what}")),
        _ => match untimed.first() {
            None => {
                let reason = format!(
                    "right in its case and in the same calls without a clock, wrong in {which}: {what}"
                );
                (InvalidKind::Cheating, reason)
            }
            Some(other) => {
                let from =
                    other.call.map_or_else(String::new, |call| format!(" from call {call} on"));
                let reason = format!(
                    "right in its case, wrong in {which}: {what} (the same calls without a clock are wrong{from}, too)"
                );
                (InvalidKind::WrongAfter, reason)
            }
        },
    }
}

fn in_words(finding: &Finding) -> String {
    let kind = finding.kind;
    match finding.explanation.is_empty() {
        true => kind.to_string(),
        false => format!("{kind}: {}", finding.explanation),
    }
}

/// What ran, read back.
fn effective(call: &CallRan) -> file::Launch {
    let measured: Option<&Measured> = call.measured.first();
    let known = call.effective.as_ref();
    file::Launch {
        blocks: known.map(|effective| effective.blocks),
        threads: known.map(|effective| effective.threads),
        tile: known.map(|effective| effective.tile.to_string()),
        shared_bytes: None,
        registers: measured.and_then(|measured| measured.registers),
        spilled_bytes: measured.and_then(|measured| measured.spilled_bytes).map(u64::from),
    }
}
