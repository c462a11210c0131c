//! Rows of results: an operation of one size in one mode, one half of it, by round.

use std::collections::BTreeMap;

use bench::file::{
    self, ArmKind, BenchFile, Block, Cache, FreshLaunch, Invalid, InvalidKind, Machine, Protocol,
    Row, Run as BenchRun, SCHEMA, Verification, Verified,
};

use crate::evaluate::Situation;
use crate::perflog::HalfKind;
use crate::plan::{Arm, Phase, Plan, Run, Zone};

use super::judged::Provenance;
use super::taken::{ARMS, Counted, Taken};

/// One row: all rounds of base, candidate and control.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    pub(super) id: String,
    pub(super) situation: Situation,
    pub(super) bytes: u64,
    pub(super) zone: Zone,
    pub(super) mode: String,
    pub(super) half: HalfKind,
    /// By round, microseconds by arm, in the order of [`ARMS`].
    pub(super) rounds: Vec<[Option<f64>; 3]>,
    /// Runs in which the tool counts wrong elements.
    pub(super) wrong: Vec<(Arm, String)>,
    pub(super) provenance: Provenance,
}

impl Measured {
    /// Whether another row is the same operation of the same size, in another mode or half.
    pub(super) fn is_beside(&self, other: &Measured) -> bool {
        let plain = |at: Situation| Situation { reg_buff: 0, ..at };
        plain(self.situation) == plain(other.situation) && self.bytes == other.bytes
    }

    /// Its mode and half in words.
    pub(super) fn mode_and_half(&self) -> String {
        let half = self.half.name().replace('_', "-");
        match self.mode.is_empty() {
            true => half,
            false => format!("{half} with {}", self.mode),
        }
    }

    /// The median of an arm, in microseconds.
    pub(super) fn median_us(&self, arm: Arm) -> Option<f64> {
        let index = ARMS.iter().position(|known| *known == arm)?;
        let times: Vec<f64> = self.rounds.iter().filter_map(|round| round[index]).collect();
        bench::stats::median(&times)
    }
}

/// The modes of a plan's timed runs, each once.
pub(super) fn modes(plan: &Plan) -> Vec<String> {
    let mut modes: Vec<String> = Vec::new();
    for run in plan.runs.iter().filter(|run| run.phase == Phase::Timed) {
        if !modes.contains(&run.mode) {
            modes.push(run.mode.clone());
        }
    }
    modes
}

/// The rows of a plan in its order, with what counts of their runs.
pub(super) fn rows(plan: &Plan, taken: &Taken) -> Vec<Measured> {
    let mut rows: Vec<Measured> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for run in plan.runs.iter().filter(|run| run.phase == Phase::Timed) {
        for half in plan.halves {
            let id = id(run, half);
            let place = *places.entry(id.clone()).or_insert_with(|| {
                rows.push(empty(id, run, half));
                rows.len() - 1
            });
            if let Some(counted) = taken.counted.get(&run.id) {
                add(&mut rows[place], run, half, counted);
            }
        }
    }
    rows
}

fn id(run: &Run, half: HalfKind) -> String {
    let Situation { collective, nodes, ranks, reg_buff, .. } = run.situation;
    let mode = if run.mode.is_empty() { String::new() } else { format!("/{}", run.mode) };
    format!("{collective}/n{nodes}/w{ranks}/r{reg_buff}/{}{mode}/{}", run.bytes, half.name())
}

fn empty(id: String, run: &Run, half: HalfKind) -> Measured {
    Measured {
        id,
        situation: run.situation,
        bytes: run.bytes,
        zone: run.zone,
        mode: run.mode.clone(),
        half,
        rounds: Vec::new(),
        wrong: Vec::new(),
        provenance: Provenance::default(),
    }
}

fn add(row: &mut Measured, run: &Run, half: HalfKind, counted: &Counted) {
    let Some(time) = counted.times_us.get(&half) else { return };
    let Some(arm) = ARMS.iter().position(|arm| *arm == run.arm) else { return };
    let round = run.round.saturating_sub(1) as usize;
    if row.rounds.len() <= round {
        row.rounds.resize(round + 1, [None; 3]);
    }
    row.rounds[round][arm] = Some(*time);
    if counted.wrong.contains(&half) {
        row.wrong.push((run.arm, run.id.clone()));
    }
    match counted.is_summary {
        true => row.provenance.summaries += 1,
        false => row.provenance.logs.push((run.id.clone(), counted.sha256.clone())),
    }
}

/// The rows as a file of measurements: a round is a launch, and its arms stand side by side.
pub(super) fn file(measured: &[Measured]) -> BenchFile {
    BenchFile {
        schema: SCHEMA.to_owned(),
        rankcheck: env!("CARGO_PKG_VERSION").to_owned(),
        machine: Machine::default(),
        command: Vec::new(),
        seed: None,
        scenario: None,
        protocol: Protocol::default(),
        provenance: vec![file::Provenance {
            path: String::new(),
            sha256: String::new(),
            kind: "perf-tool log".to_owned(),
            summary_only: true,
        }],
        notes: Vec::new(),
        interrupted: false,
        rows: measured.iter().map(row).collect(),
    }
}

fn row(measured: &Measured) -> Row {
    let kinds = [ArmKind::Command, ArmKind::Command, ArmKind::Control];
    let semantics = measured.situation.collective.to_string();
    let arm = |(arm, kind): (Arm, ArmKind)| file::Arm {
        name: arm.name().to_owned(),
        kind,
        semantics: semantics.clone(),
        layout: None,
        source: None,
        requested: file::Launch::default(),
        effective: file::Launch::default(),
        verified: Verified {
            before: Verification::ClaimedRight,
            after: Verification::ClaimedRight,
        },
    };
    let launches = measured.rounds.iter().enumerate().map(|(number, times)| {
        let runs = times.iter().enumerate().filter_map(|(arm, time)| {
            Some(BenchRun { arm, at_ns: None, samples: vec![vec![(*time)? * 1e3]] })
        });
        FreshLaunch { number: number as u32, blocks: vec![Block { runs: runs.collect() }] }
    });
    let invalid = measured.wrong.iter().map(|(arm, run)| Invalid {
        arm: ARMS.iter().position(|known| known == arm),
        kind: InvalidKind::WrongAfter,
        reason: format!("the tool counts wrong elements in {run}"),
    });
    Row {
        id: measured.id.clone(),
        collective: semantics.clone(),
        kernel: String::new(),
        axes: BTreeMap::new(),
        ranks: u32::try_from(measured.situation.ranks).unwrap_or(1).max(1),
        mode: String::new(),
        device: String::new(),
        bytes: measured.bytes,
        bus_factor: 1.0,
        ceiling: None,
        cache: Cache::Undeclared,
        arms: ARMS.into_iter().zip(kinds).map(arm).collect(),
        launches: launches.collect(),
        invalid: invalid.collect(),
        skipped: None,
    }
}
