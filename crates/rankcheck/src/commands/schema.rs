//! `rankcheck schema`: JSON Schemas, for editors, and the reference page of scenario keys.

use clap::{Args, ValueEnum};

use crate::commands::{emit, json};
use crate::exit::Exit;

/// Arguments of `schema`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// What to describe: scenario files or manifests as JSON Schema, `keys` of scenarios in Markdown.
    #[arg(default_value = "scenario")]
    of: Of,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Of {
    Scenario,
    Manifest,
    Keys,
}

/// Prints the description.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let text = match arguments.of {
        Of::Scenario => json(&schemars::schema_for!(scenario::ScenarioFile))?,
        Of::Manifest => json(&schemars::schema_for!(kernels::Manifest))?,
        Of::Keys => scenario::keys::reference(),
    };
    emit(&text)?;
    Ok(Exit::Passed)
}
