//! Machines that measure: noise, drift and launches as real ones have them, with everything known.

use std::f64::consts::TAU;

use bench::file::{
    Arm, ArmKind, BenchFile, Block, Cache, FreshLaunch, Launch, Machine, Protocol, Row, Run,
    SCHEMA, Verification, Verified,
};
use collectives::draw::Draw;

/// A machine, and how it is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct World {
    /// The standard deviation of a sample, as a share.
    pub(crate) noise: f64,
    /// How much of a sample's noise the next one keeps.
    pub(crate) kept: f64,
    /// How much slower everything gets from the begin of a launch to its end.
    pub(crate) drift: f64,
    /// The amplitude of a slow wave, of two periods a launch.
    pub(crate) wave: f64,
    /// One sample in so many takes half as long again; 0 for none.
    pub(crate) stragglers: u64,
    /// The standard deviation of what each arm is faster or slower in each launch, as a share.
    pub(crate) launch_noise: f64,
    /// How much longer the arm takes than the base, as a share.
    pub(crate) effect: f64,
    /// Fresh launches.
    pub(crate) launches: u32,
    /// Blocks a launch.
    pub(crate) blocks: u32,
    /// Samples a run.
    pub(crate) iterations: u32,
    /// Whether the base is measured again.
    pub(crate) control: bool,
}

impl World {
    /// A quiet machine with the default protocol.
    pub(crate) const QUIET: World = World {
        noise: 0.01,
        kept: 0.0,
        drift: 0.0,
        wave: 0.0,
        stragglers: 0,
        launch_noise: 0.0,
        effect: 0.0,
        launches: 3,
        blocks: 4,
        iterations: 10,
        control: true,
    };

    /// A file with one row: base, arm and control.
    pub(crate) fn file(&self, draw: &mut Draw) -> BenchFile {
        let arms = if self.control { 3 } else { 2 };
        let launches = (0..self.launches).map(|number| self.launch(number, arms, draw));
        let launches = launches.collect();
        let kinds =
            [("base", ArmKind::Variant), ("arm", ArmKind::Variant), ("again", ArmKind::Control)];
        BenchFile {
            schema: SCHEMA.to_owned(),
            rankcheck: String::new(),
            machine: Machine::default(),
            command: Vec::new(),
            seed: None,
            scenario: None,
            protocol: Protocol::default(),
            provenance: Vec::new(),
            notes: Vec::new(),
            interrupted: false,
            rows: vec![Row {
                id: "row".to_owned(),
                collective: "all_gather".to_owned(),
                kernel: String::new(),
                axes: [("dtype".to_owned(), "f16".to_owned())].into(),
                ranks: 2,
                mode: String::new(),
                device: String::new(),
                bytes: 1 << 20,
                bus_factor: 0.5,
                ceiling: None,
                cache: Cache::Cold,
                arms: kinds[..arms].iter().map(|(name, kind)| arm(name, *kind)).collect(),
                launches,
                invalid: Vec::new(),
                skipped: None,
            }],
        }
    }

    fn launch(&self, number: u32, arms: usize, draw: &mut Draw) -> FreshLaunch {
        let speeds: Vec<f64> = (0..arms).map(|_| 1.0 + self.launch_noise * normal(draw)).collect();
        let samples = f64::from(self.blocks * self.iterations) * 2.0 * arms as f64;
        let (mut at, mut kept) = (0.0, normal(draw));
        let fresh = (1.0 - self.kept * self.kept).sqrt();
        let mut blocks = Vec::new();
        for _ in 0..self.blocks {
            let mut order: Vec<usize> = (0..arms).collect();
            draw.shuffle(&mut order);
            let mirrored: Vec<usize> = order.iter().rev().copied().collect();
            let mut runs = Vec::new();
            for arm in order.into_iter().chain(mirrored) {
                let mut times = Vec::new();
                for _ in 0..self.iterations {
                    kept = self.kept * kept + fresh * normal(draw);
                    at += 1.0 / samples;
                    let slow = self.drift * at + self.wave * (2.0 * TAU * at).sin();
                    let effect = if arm == 1 { 1.0 + self.effect } else { 1.0 };
                    let late = self.stragglers > 0 && draw.below(self.stragglers) == 0;
                    let late = if late { 1.5 } else { 1.0 };
                    let time = 1e5 * speeds[arm] * effect * late * (1.0 + slow + self.noise * kept);
                    times.push(vec![time]);
                }
                runs.push(Run { arm, at_ns: None, samples: times });
            }
            blocks.push(Block { runs });
        }
        FreshLaunch { number, blocks }
    }
}

fn arm(name: &str, kind: ArmKind) -> Arm {
    Arm {
        name: name.to_owned(),
        kind,
        semantics: "all_gather".to_owned(),
        layout: None,
        source: None,
        requested: Launch::default(),
        effective: Launch::default(),
        verified: Verified { before: Verification::Right, after: Verification::Right },
    }
}

/// A standard normal number, by Box and Muller.
fn normal(draw: &mut Draw) -> f64 {
    let mut uniform = || (draw.number() >> 11) as f64 / (1_u64 << 53) as f64;
    let radius = (-2.0 * (1.0 - uniform()).ln()).sqrt();
    radius * (TAU * uniform()).cos()
}
