//! The command that runs a case again.

use std::fmt;

use scenario::{Case, Mode};
use serde::{Deserialize, Serialize};

use crate::Switch;
use crate::switch::show_switches;

/// How to run a case again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Replay {
    /// With `rankcheck run`.
    Run {
        /// The scenario's file.
        path: String,
        /// The case's id.
        id: String,
        /// How ranks exist.
        mode: Mode,
        /// The key of the fill.
        seed: u64,
        /// Further arguments of the run, each with a blank in front.
        arguments: String,
        /// The seed of the schedule, where one decides.
        schedule_seed: Option<u64>,
        /// Of that schedule these switches only, where they were listed.
        switches: Option<Vec<Switch>>,
    },
    /// With a command of the user's own.
    Program(String),
}

impl Replay {
    /// A run of `case` with `rankcheck run` and these further arguments.
    pub fn of(case: &Case, mode: Mode, arguments: &str) -> Replay {
        Replay::Run {
            path: case.file.display().to_string(),
            id: case.id.clone(),
            mode,
            seed: case.problem.seed,
            arguments: arguments.to_owned(),
            schedule_seed: None,
            switches: None,
        }
    }

    /// The same under one schedule.
    pub fn under(&mut self, seed: u64, only: Option<Vec<Switch>>) {
        match self {
            Replay::Run { schedule_seed, switches, .. } => {
                (*schedule_seed, *switches) = (Some(seed), only);
            }
            Replay::Program(_) => {}
        }
    }
}

impl fmt::Display for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Replay::Program(command) => f.write_str(command),
            Replay::Run { path, id, mode, seed, arguments, schedule_seed, switches } => {
                let path = shell_words::quote(path);
                write!(
                    f,
                    "rankcheck run {path} --id '{id}' --mode {mode} --seed {seed}{arguments}"
                )?;
                if let Some(seed) = schedule_seed {
                    write!(f, " --schedule-seed {seed}")?;
                }
                if let Some(switches) = switches {
                    write!(f, " --switches '{}'", show_switches(switches))?;
                }
                Ok(())
            }
        }
    }
}
