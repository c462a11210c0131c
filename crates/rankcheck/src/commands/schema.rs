//! `rankcheck schema`: JSON Schemas, for editors, and the reference page of scenario keys.

use clap::{Args, ValueEnum};

use crate::commands::{emit, json};
use crate::exit::Exit;

/// Arguments of `schema`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// What to describe: scenario files, manifests, files of measurements or
    /// comparisons of them as JSON Schema, `keys` of scenarios
    /// in Markdown.
    #[arg(default_value = "scenario")]
    of: Of,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Of {
    Scenario,
    Manifest,
    Bench,
    Compare,
    Keys,
}

/// Prints the description.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let text = match arguments.of {
        Of::Scenario => json(&schemars::schema_for!(scenario::ScenarioFile))?,
        Of::Manifest => json(&schemars::schema_for!(kernels::Manifest))?,
        Of::Bench => json(&schemars::schema_for!(bench::file::BenchFile))?,
        Of::Compare => json(&schemars::schema_for!(bench::compare::Comparison))?,
        Of::Keys => scenario::keys::reference(),
    };
    emit(&text)?;
    Ok(Exit::Passed)
}
