//! `rankcheck tuner plan`.

use std::path::PathBuf;

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
    /// Buffer registrations to run with (-R), as an axis: 0,1,2
    #[arg(long, value_delimiter = ',')]
    register: Vec<u32>,
    /// CTA policies to run with (-x), as an axis
    #[arg(long, value_delimiter = ',')]
    cta_policy: Vec<u32>,
    /// Timed iterations
    #[arg(long, default_value_t = 20)]
    iterations: u32,
    /// Warm-up iterations
    #[arg(long, default_value_t = 5)]
    warmup: u32,
    /// Largest size to run, in bytes
    #[arg(long, default_value_t = 8 << 30)]
    max_bytes: u64,
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

fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let paths = [args.old.clone(), args.new.clone()];
    let (dialect, tables) = load(&paths, &args.dialect)?;
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
        max_bytes: args.max_bytes,
        launch: args.launch.clone(),
        env: args.env.clone(),
    };
    let plan = plan((&tables[0], &old), (&tables[1], &new), &options);
    if plan.runs.is_empty() {
        eprintln!("note: nothing to run");
    }
    for scope in &plan.untestable {
        eprintln!("note: left out, a perf tool makes single calls only: {scope}");
    }
    if !plan.too_large.is_empty() {
        let max = args.max_bytes;
        eprintln!("note: sizes above --max-bytes {max} are left out: {:?}", plan.too_large);
    }
    emit(&match args.format {
        Format::Sh => plan.script(dialect),
        Format::Json => json(&plan)?,
    })?;
    Ok(Exit::Passed)
}
