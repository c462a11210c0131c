//! `rankcheck schema`: JSON Schemas, for editors, and the reference page of scenario keys.

use clap::{Args, ValueEnum};

use crate::commands::{emit, json};
use crate::commands::{perflog, tuner as commands};
use crate::exit::Exit;

/// Arguments of `schema`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// What to describe: scenario files, manifests, files of measurements, comparisons of them or
    /// the JSON that a verb of `tuner` or `perflog` writes as JSON Schema, `keys` of scenarios in
    /// Markdown.
    #[arg(default_value = "scenario")]
    of: Of,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Of {
    Scenario,
    Manifest,
    Bench,
    Compare,
    TunerLint,
    TunerExplain,
    TunerDiff,
    TunerProbe,
    TunerPlan,
    TunerProof,
    Perflog,
    Keys,
}

/// Prints the description.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let text = match arguments.of {
        Of::Scenario => json(&schemars::schema_for!(scenario::ScenarioFile))?,
        Of::Manifest => json(&schemars::schema_for!(kernels::Manifest))?,
        Of::Bench => json(&schemars::schema_for!(bench::file::BenchFile))?,
        Of::Compare => json(&schemars::schema_for!(bench::compare::Comparison))?,
        Of::TunerLint => written::<commands::lint::Document>()?,
        Of::TunerExplain => written::<commands::explain::Document>()?,
        Of::TunerDiff => written::<commands::diff::Document>()?,
        Of::TunerProbe => written::<commands::probe::Document>()?,
        Of::TunerPlan => written::<tuner::plan::Plan>()?,
        Of::TunerProof => written::<commands::prove::Document>()?,
        Of::Perflog => written::<perflog::Document>()?,
        Of::Keys => scenario::keys::reference(),
    };
    emit(&text)?;
    Ok(Exit::Passed)
}

/// The schema of what is only written: keys that are always there are required.
fn written<T: schemars::JsonSchema>() -> anyhow::Result<String> {
    let settings = schemars::generate::SchemaSettings::default().for_serialize();
    json(&settings.into_generator().into_root_schema_for::<T>())
}
