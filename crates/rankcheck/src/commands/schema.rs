//! `rankcheck schema`: JSON Schemas, for editors.

use clap::{Args, ValueEnum};

use crate::commands::{emit, json};
use crate::exit::Exit;

/// Arguments of `schema`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Of which files.
    #[arg(default_value = "scenario")]
    of: Of,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Of {
    Scenario,
    Manifest,
}

/// Prints the schema.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let schema = match arguments.of {
        Of::Scenario => schemars::schema_for!(scenario::ScenarioFile),
        Of::Manifest => schemars::schema_for!(kernels::Manifest),
    };
    emit(&json(&schema)?)?;
    Ok(Exit::Passed)
}
