//! `rankcheck tuner`: what a tuner CSV does, what is wrong with it, what a change to it changes.

mod diff;
mod explain;
mod lint;
mod plan;
mod probe;

use std::path::{Path, PathBuf};

use crate::exit::Exit;
use anyhow::Context as _;
use clap::Subcommand;
use tuner::probe::Defaults;
use tuner::sizes::Dtype;
use tuner::{Dialect, Table};

/// Arguments of `rankcheck tuner`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Finds rows that do not do what they say, with place, effect in each dialect and remedy.
    Lint(lint::Args),
    /// Says which row decides for a message, why earlier ones do not, and what comes after it.
    Explain(explain::Args),
    /// Shows the sizes whose handling a change changes; with three files, how two changes overlap.
    Diff(diff::Args),
    /// Lists the runnable sizes on both sides of every edge, as commands or scenarios.
    Probe(probe::Args),
    /// Writes the run list of an honest comparison of two files.
    Plan(Box<plan::Args>),
}

/// Runs the verb.
pub(crate) fn run(args: Args) -> anyhow::Result<Exit> {
    match args.verb {
        Verb::Lint(args) => lint::run(&args),
        Verb::Explain(args) => explain::run(&args),
        Verb::Diff(args) => diff::run(&args),
        Verb::Probe(args) => probe::run(&args),
        Verb::Plan(args) => plan::run(&args),
    }
}

/// Which library reads the files.
#[derive(Debug, clap::Args)]
struct DialectArg {
    /// nccl-example or rccl-builtin; left out, files with `rccl` in their name are rccl-builtin
    #[arg(long)]
    dialect: Option<Dialect>,
}

impl DialectArg {
    fn of(&self, path: &Path) -> Dialect {
        let is_rccl = || path.file_name().is_some_and(|n| n.to_string_lossy().contains("rccl"));
        self.dialect.unwrap_or_else(|| match is_rccl() {
            true => Dialect::RcclBuiltin,
            false => Dialect::NcclExample,
        })
    }
}

/// What to run with where rows leave it open.
#[derive(Debug, clap::Args)]
struct DefaultArgs {
    /// Nodes, for rows that match any number
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(i32).range(1..))]
    nodes: i32,
    /// Ranks, for rows that match any number
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(i32).range(1..))]
    ranks: i32,
    /// Element type of the runs
    #[arg(long, default_value = "f32")]
    dtype: Dtype,
}

impl DefaultArgs {
    fn defaults(&self) -> Defaults {
        Defaults { nodes: self.nodes, ranks: self.ranks, dtype: self.dtype }
    }
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Reads several files in one dialect: the one given, else the first file's.
fn load(paths: &[PathBuf], dialect: &DialectArg) -> anyhow::Result<(Dialect, Vec<Table>)> {
    let dialect = dialect.of(&paths[0]);
    let load = |path: &PathBuf| Ok(Table::load(dialect, &read(path)?));
    Ok((dialect, paths.iter().map(load).collect::<anyhow::Result<_>>()?))
}

/// Text for people or JSON for machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people
    Human,
    /// For machines
    Json,
}
