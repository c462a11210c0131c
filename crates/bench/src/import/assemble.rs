//! From single measurements to rows with arms and launches.

use std::collections::BTreeMap;

use crate::file::{
    Arm, ArmKind, BenchFile, Block, Cache, FreshLaunch, Invalid, InvalidKind, Launch, Machine,
    Protocol, Provenance, Row, Run, SCHEMA, Verification, Verified,
};

/// One operation as somebody measured it.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// What it is: the same in other files that measure the same.
    pub id: String,
    /// The collective, as scenarios spell it where it is known.
    pub collective: String,
    /// What the operation means: arms with different tags are never compared.
    pub semantics: String,
    /// What it is on each axis.
    pub axes: BTreeMap<String, String>,
    /// How many ranks take part; at least 1.
    pub ranks: u32,
    /// Bytes as perf tools count them; 0 where nobody knows.
    pub bytes: u64,
    /// From algorithm bandwidth to bus bandwidth.
    pub bus_factor: f64,
    /// Which arm it is.
    pub arm: String,
    /// By fresh launch, the times in nanoseconds.
    pub launches: Vec<Vec<f64>>,
    /// What the program that measured says of the bytes.
    pub verified: Verification,
    /// Why there are no times; absent where there are.
    pub skipped: Option<String>,
}

/// A file of what was measured. The same arm of the same operation once more is another launch; arms are never paired,
/// because nobody knows what ran when.
pub fn assemble(all: Vec<Measured>, provenance: Vec<Provenance>, notes: Vec<String>) -> BenchFile {
    let mut rows: Vec<Row> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for one in all {
        let place = *places.entry(one.id.clone()).or_insert_with(|| {
            rows.push(empty(&one));
            rows.len() - 1
        });
        add(&mut rows[place], one);
    }
    BenchFile {
        schema: SCHEMA.to_owned(),
        rankcheck: env!("CARGO_PKG_VERSION").to_owned(),
        machine: Machine::default(),
        command: Vec::new(),
        seed: None,
        scenario: None,
        protocol: Protocol::default(),
        provenance,
        notes,
        interrupted: false,
        rows,
    }
}

fn empty(one: &Measured) -> Row {
    Row {
        id: one.id.clone(),
        collective: one.collective.clone(),
        kernel: String::new(),
        axes: one.axes.clone(),
        ranks: one.ranks,
        mode: String::new(),
        device: String::new(),
        bytes: one.bytes,
        bus_factor: one.bus_factor,
        ceiling: None,
        cache: Cache::Undeclared,
        arms: Vec::new(),
        launches: Vec::new(),
        invalid: Vec::new(),
        skipped: None,
    }
}

fn add(row: &mut Row, one: Measured) {
    let arm = row.arms.iter().position(|arm| arm.name == one.arm).unwrap_or_else(|| {
        row.arms.push(Arm {
            name: one.arm.clone(),
            kind: ArmKind::Command,
            semantics: one.semantics.clone(),
            layout: None,
            source: None,
            requested: Launch::default(),
            effective: Launch::default(),
            verified: Verified { before: one.verified.clone(), after: one.verified.clone() },
        });
        row.arms.len() - 1
    });
    if let Verification::Wrong(_) = one.verified {
        row.arms[arm].verified.after = one.verified;
    }
    if let Some(reason) = one.skipped {
        row.invalid.push(Invalid { arm: Some(arm), kind: InvalidKind::Skipped, reason });
    }
    if row.bytes == 0 {
        row.bytes = one.bytes;
    }
    let has_arm = |launch: &FreshLaunch| {
        launch.blocks.iter().flat_map(|block| &block.runs).any(|run| run.arm == arm)
    };
    for times in one.launches {
        let samples = times.into_iter().map(|time| vec![time]).collect();
        // A block of its own: what is in one block is taken as measured side by side.
        let block = Block { runs: vec![Run { arm, at_ns: None, samples }] };
        match row.launches.iter_mut().find(|launch| !has_arm(launch)) {
            Some(launch) => launch.blocks.push(block),
            None => {
                let number = row.launches.len() as u32;
                row.launches.push(FreshLaunch { number, blocks: vec![block] });
            }
        }
    }
}
