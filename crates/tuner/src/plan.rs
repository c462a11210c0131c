//! The run list of an honest comparison of two tuner files.
//!
//! One process a run, arms side by side in an order that rotates from round to round, the old file
//! run twice a round as a control, sizes inside, around and outside the changed range. Every run
//! gives out-of-place and in-place rows. Before anything is timed, each arm proves by the
//! library's own log line that the expected row is applied. [`crate::judge`] judges the results.

mod script;
mod sizes;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::csv::Table;
use crate::evaluate::{Choice, Query, Situation, Unavailable, evaluate};
use crate::launch_template::LaunchTemplate;
use crate::names::Dialect;
use crate::perflog::HalfKind;
use crate::probe::Defaults;
use crate::scope::Scope;
use crate::sizes::Runner;

/// One side of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arm {
    /// The old file.
    Base,
    /// The new file.
    Candidate,
    /// The old file once more: what differs between it and `base` is noise.
    Control,
}

impl Arm {
    const ALL: [Self; 3] = [Self::Base, Self::Candidate, Self::Control];

    /// The spelling in names of runs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Candidate => "candidate",
            Self::Control => "control",
        }
    }
}

/// Where a size lies.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Zone {
    /// The two files decide differently here.
    Inside,
    /// The nearest runnable size beyond an edge of the change.
    Around,
    /// A half, a quarter or an eighth of where a change begins, or two, four or eight times where
    /// it ends: must not move.
    Outside,
}

/// Execution modes, each list an axis; an empty list leaves the tool's default and no flag.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Modes {
    /// Graph launches (`-G`).
    pub graph: Vec<u32>,
    /// Buffer registration (`-R`): 0 none, 1 local, 2 symmetric.
    pub register: Vec<u32>,
    /// CTA policy (`-x`).
    pub cta_policy: Vec<u32>,
}

/// One execution mode.
#[derive(Debug, Clone, Default)]
struct Mode {
    /// Flags for the perf tool, a blank before each.
    flags: String,
    /// What the flags say about registered buffers, if they do.
    reg_buff: Option<i32>,
}

impl Modes {
    /// Every combination.
    fn combinations(&self) -> Vec<Mode> {
        let graph = axis("-G", &self.graph);
        let register = axis("-R", &self.register);
        let cta_policy = axis("-x", &self.cta_policy);
        let mut modes = Vec::new();
        for (graph, _) in &graph {
            for (register, value) in &register {
                for (cta_policy, _) in &cta_policy {
                    modes.push(Mode {
                        flags: format!("{graph}{register}{cta_policy}"),
                        reg_buff: value.map(|value| value.min(1) as i32),
                    });
                }
            }
        }
        modes
    }
}

/// The flag with each value; no flag where there are none.
fn axis(flag: &str, values: &[u32]) -> Vec<(String, Option<u32>)> {
    match values {
        [] => vec![(String::new(), None)],
        _ => values.iter().map(|value| (format!(" {flag} {value}"), Some(*value))).collect(),
    }
}

/// What the user decides.
#[derive(Debug, Clone)]
pub struct Options {
    /// Nodes, ranks and element type where the change leaves them open.
    pub defaults: Defaults,
    /// Rounds; each runs every size in every mode in every arm.
    pub rounds: u32,
    /// Execution modes.
    pub modes: Modes,
    /// Timed iterations (`-n`).
    pub iterations: u32,
    /// Warm-up iterations (`-w`).
    pub warmup: u32,
    /// Largest size to run, in bytes.
    pub max_bytes: u64,
    /// How a command is started.
    pub launch: LaunchTemplate,
    /// Environment of every run, before the tuner file.
    pub env: Vec<(String, String)>,
    /// Flags with which the tool shows algorithm, protocol and channels of each row; they are added
    /// to the proofs.
    pub show_choice: Option<String>,
    /// The tool that runs the sizes.
    pub runner: Runner,
}

/// Why a run is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Untimed, with the library's tuning log on: shows which row is applied.
    Proof,
    /// Timed.
    Timed,
}

/// One process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Unique name; its log is `<id>.log`.
    pub id: String,
    /// Why.
    pub phase: Phase,
    /// Round, from 1; 0 for proofs.
    pub round: u32,
    /// Which file.
    pub arm: Arm,
    /// Flags of the execution mode.
    pub mode: String,
    /// Communicator and operation.
    #[serde(flatten)]
    pub situation: Situation,
    /// Bytes of the whole operation.
    pub bytes: u64,
    /// Where the size lies.
    pub zone: Zone,
    /// The arm's tuner file.
    pub file: String,
    /// What that file should make the library do.
    pub expected: Choice,
    /// The complete shell command.
    pub command: String,
}

/// The whole list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// `rankcheck.tuner-plan/1`.
    pub schema: String,
    /// The reader of both files.
    pub dialect: Dialect,
    /// What loading that reader changes besides what the files say; absent where nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caveat: Option<String>,
    /// Whether the proofs' commands tell the tool to show each row's own choice.
    #[serde(default)]
    pub own_columns: bool,
    /// Halves of every perf-tool row that are to be compared, each with its own kind.
    pub halves: [HalfKind; 2],
    /// Sizes that were left out because they exceed `max_bytes`.
    pub too_large: Vec<u64>,
    /// Changed scopes that a perf tool cannot reach: those for several pipeline operations only.
    pub untestable: Vec<Scope>,
    /// Runs in order.
    pub runs: Vec<Run>,
}

/// A size to run in a situation.
type Point = (Situation, u64, Zone);

/// Plans the comparison of `old` and `new`, which the runs will read at the given paths.
pub fn plan(old: (&Table, &str), new: (&Table, &str), options: &Options) -> Plan {
    let (points, untestable) = sizes::points(old.0, new.0, options);
    let (points, too_large): (Vec<Point>, Vec<Point>) =
        points.into_iter().partition(|&(_, bytes, _)| bytes <= options.max_bytes);
    let build = |phase, round, arm, mode: &Mode, point: Point| {
        let (table, path) = match arm {
            Arm::Base | Arm::Control => old,
            Arm::Candidate => new,
        };
        run(phase, round, arm, mode, point, (table, path), options)
    };
    let mut runs = Vec::new();
    // A mode can change which row matches (graph capture counts as registered buffers).
    for mode in options.modes.combinations() {
        for &point in &points {
            for arm in [Arm::Base, Arm::Candidate] {
                runs.push(build(Phase::Proof, 0, arm, &mode, point));
            }
        }
    }
    for round in 1..=options.rounds {
        for mode in options.modes.combinations() {
            for &point in &points {
                let mut arms = Arm::ALL;
                arms.rotate_left((round as usize - 1) % Arm::ALL.len());
                runs.extend(arms.map(|arm| build(Phase::Timed, round, arm, &mode, point)));
            }
        }
    }
    let mut too_large: Vec<u64> = too_large.into_iter().map(|(_, bytes, _)| bytes).collect();
    too_large.dedup();
    for (number, run) in runs.iter_mut().enumerate() {
        run.id = format!("{:05}-{}", number + 1, run.id);
    }
    Plan {
        schema: "rankcheck.tuner-plan/1".to_owned(),
        dialect: new.0.dialect,
        caveat: new.0.dialect.caveat().map(str::to_owned),
        own_columns: options.show_choice.is_some(),
        halves: [HalfKind::OutOfPlace, HalfKind::InPlace],
        too_large,
        untestable,
        runs,
    }
}

fn run(
    phase: Phase,
    round: u32,
    arm: Arm,
    mode: &Mode,
    (situation, bytes, zone): Point,
    (table, path): (&Table, &str),
    options: &Options,
) -> Run {
    let reg_buff = mode.reg_buff.unwrap_or(situation.reg_buff);
    let situation = Situation { reg_buff, ..situation };
    let flags = match (mode.reg_buff, reg_buff) {
        (None, 1) => format!("{} -R 1", mode.flags),
        _ => mode.flags.clone(),
    };
    let row = evaluate(table, &Query { situation, bytes }, Unavailable::default());
    let expected = Choice::of(table.dialect, row.map(|index| &table.rows[index].rule));
    let mut env = options.env.clone();
    env.push(("NCCL_TUNER_CONFIG_FILE".to_owned(), path.to_owned()));
    let (iterations, warmup) = match phase {
        Phase::Proof => {
            env.push(("NCCL_DEBUG".to_owned(), "INFO".to_owned()));
            env.push(("NCCL_DEBUG_SUBSYS".to_owned(), "TUNING".to_owned()));
            (1, 0)
        }
        Phase::Timed => (options.iterations, options.warmup),
    };
    let show = match (phase, &options.show_choice) {
        (Phase::Proof, Some(flags)) => format!(" {flags}"),
        _ => String::new(),
    };
    let tool = format!(
        "{}_perf -b {bytes} -e {bytes} -d {} -c 1 -n {iterations} -w {warmup}{flags}{show}",
        situation.collective.snake_name(),
        options.defaults.dtype.perf_name,
    );
    let command = options.launch.expand(&env, &tool, situation.ranks, situation.nodes);
    let stage = match phase {
        Phase::Proof => "proof".to_owned(),
        Phase::Timed => format!("r{round}"),
    };
    let tag: String = flags.split_whitespace().map(|flag| flag.trim_start_matches('-')).collect();
    let tag = if tag.is_empty() { tag } else { format!("-{tag}") };
    let id = format!("{stage}-{}-{bytes}{tag}-{}", situation.collective, arm.name());
    let mode = flags.trim().to_owned();
    Run {
        id,
        phase,
        round,
        arm,
        mode,
        situation,
        bytes,
        zone,
        file: path.to_owned(),
        expected,
        command,
    }
}
