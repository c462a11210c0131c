//! `rankcheck tuner plan`.

use std::path::PathBuf;

use tuner::bytes::Bytes;
use tuner::launch_template::LaunchTemplate;
use tuner::plan::{Modes, Options, plan};

use super::{DefaultArgs, DialectArg, load};
use crate::commands::{emit, json};
use crate::exit::Exit;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The tuner file in use
    old: PathBuf,
    /// The tuner file that is to replace it
    new: PathBuf,
    #[command(flatten)]
    dialect: DialectArg,
    #[command(flatten)]
    defaults: DefaultArgs,
    /// How a command is started; {env}, {cmd}, {ranks} and {nodes} are filled in
    #[arg(long, default_value = "mpirun -np {ranks} {env} {cmd}")]
    launch: LaunchTemplate,
    /// NAME=VALUE for the environment of every run; repeatable
    #[arg(long, value_parser = assignment)]
    env: Vec<(String, String)>,
    /// Rounds; each runs every size, mode and arm, in rotated order
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Graph launches to run with (-G), as an axis: 0,1
    #[arg(long, value_delimiter = ',')]
    graph: Vec<u32>,
    /// Buffer registrations to run with (-R), as an axis: none,local,symmetric or 0,1,2
    #[arg(long, value_delimiter = ',', value_parser = register)]
    register: Vec<u32>,
    /// CTA policies to run with (-x), as an axis: default,efficiency,zero or 0,1,2
    #[arg(long, value_delimiter = ',', value_parser = cta_policy)]
    cta_policy: Vec<u32>,
    /// Flags with which the tool shows algorithm, protocol and channels of each row (rccl-tests:
    /// `-A 1` or `-M 1`); the proofs then compare these, too
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    show_choice: Option<String>,
    /// Timed iterations
    #[arg(long, default_value_t = 20)]
    iterations: u32,
    /// Warm-up iterations
    #[arg(long, default_value_t = 5)]
    warmup: u32,
    /// Largest size to run: bytes, or 8G
    #[arg(long, default_value = "8G")]
    max_bytes: Bytes,
    /// What is written
    #[arg(long, value_enum, default_value = "sh")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A shell script
    Sh,
    /// For machines
    Json,
}

/// One of a few values, by its name or its number.
fn named(text: &str, names: [&str; 3]) -> Result<u32, String> {
    let named = names.iter().position(|name| *name == text);
    let number = named.or_else(|| text.parse().ok().filter(|value| *value < names.len()));
    number
        .and_then(|value| u32::try_from(value).ok())
        .ok_or_else(|| format!("expected {} or 0 to {}", names.join(", "), names.len() - 1))
}

fn register(text: &str) -> Result<u32, String> {
    named(text, ["none", "local", "symmetric"])
}

fn cta_policy(text: &str) -> Result<u32, String> {
    named(text, ["default", "efficiency", "zero"])
}

fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let paths = [args.old.clone(), args.new.clone()];
    let (reader, tables) = load(&paths, &args.dialect)?;
    let [old, new] = paths.map(|path| path.display().to_string());
    let options = Options {
        defaults: args.defaults.defaults(),
        rounds: args.rounds,
        modes: Modes {
            graph: args.graph.clone(),
            register: args.register.clone(),
            cta_policy: args.cta_policy.clone(),
        },
        iterations: args.iterations,
        warmup: args.warmup,
        max_bytes: args.max_bytes.0,
        launch: args.launch.clone(),
        env: args.env.clone(),
        show_choice: args.show_choice.clone(),
        runner: args.defaults.tool.runner(),
    };
    let plan = plan((&tables[0], &old), (&tables[1], &new), &options);
    if plan.runs.is_empty() {
        eprintln!(
            "note: nothing to measure: no size that a single call can have is handled differently"
        );
    }
    if let Some(caveat) = reader.dialect.caveat() {
        eprintln!("note: {caveat}");
    }
    for scope in &plan.untestable {
        eprintln!("note: left out, a perf tool makes single calls only: {scope}");
    }
    if !plan.too_large.is_empty() {
        let max = args.max_bytes.0;
        eprintln!("note: sizes above --max-bytes {max} are left out: {:?}", plan.too_large);
    }
    emit(&match args.format {
        Format::Sh => plan.script(),
        Format::Json => json(&plan)?,
    })?;
    Ok(Exit::Passed)
}
