//! `rankcheck tuner`: what a tuner CSV does, what is wrong with it, what a change to it changes.

pub(super) mod diff;
pub(super) mod explain;
mod judge;
pub(super) mod lint;
mod plan;
pub(super) mod probe;
pub(super) mod prove;
mod question;

use std::path::{Path, PathBuf};

use crate::exit::Exit;
use anyhow::Context as _;
use clap::Subcommand;
use tuner::guess::{Guess, guess};
use tuner::probe::Defaults;
use tuner::sizes::{Dtype, Runner};
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
    /// Says what the logs of a plan's runs show: improved, worse, unchanged or unresolved, row by row.
    Judge(judge::Args),
    /// Says whether a log proves that every rank has read a file and applied the expected row.
    Prove(Box<prove::Args>),
}

/// Runs the verb.
pub(crate) fn run(args: Args) -> anyhow::Result<Exit> {
    match args.verb {
        Verb::Lint(args) => lint::run(&args),
        Verb::Explain(args) => explain::run(&args),
        Verb::Diff(args) => diff::run(&args),
        Verb::Probe(args) => probe::run(&args),
        Verb::Plan(args) => plan::run(&args),
        Verb::Judge(args) => judge::run(&args),
        Verb::Prove(args) => prove::run(&args),
    }
}

/// Which library reads the files.
#[derive(Debug, clap::Args)]
struct DialectArg {
    /// nccl-example, rccl-example, rccl-builtin, rccl-builtin-v2 or rccl-builtin-v1; left out, files
    /// with `rccl` in their name are rccl-builtin, others nccl-example
    #[arg(long)]
    dialect: Option<Dialect>,
}

/// The reader of a file, and how sure that is.
#[derive(Debug, Clone)]
struct Reader {
    dialect: Dialect,
    /// Whether the file's name is all there is to go by.
    guessed: bool,
    /// What in the file speaks against the guess.
    doubts: Vec<String>,
}

impl DialectArg {
    fn of(&self, path: &Path, file: &[u8]) -> Reader {
        match self.dialect {
            Some(dialect) => Reader { dialect, guessed: false, doubts: Vec::new() },
            None => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let Guess { dialect, doubts } = guess(&name, file);
                Reader { dialect, guessed: true, doubts }
            }
        }
    }

    /// The reader of a file whose decisions are going to be told: a doubtful one is an error.
    fn decided(&self, path: &Path, file: &[u8]) -> anyhow::Result<Reader> {
        let reader = self.of(path, file);
        let Reader { dialect, doubts, .. } = &reader;
        if let Some(doubt) = doubts.first() {
            let all = Dialect::ALL.map(Dialect::name).join(", ");
            anyhow::bail!(
                "{}: by its name it is for {dialect}, but {doubt}\n  say which library reads it: \
                 --dialect {all}",
                path.display()
            );
        }
        reader.tell(path);
        Ok(reader)
    }
}

impl Reader {
    /// Says that the reader is a guess.
    fn tell(&self, path: &Path) {
        if self.guessed {
            let (file, dialect) = (path.display(), self.dialect);
            eprintln!("note: {file}: read as {dialect}, by its name (--dialect says who reads it)");
        }
        for doubt in &self.doubts {
            eprintln!("note: {}: that is doubtful: {doubt}", path.display());
        }
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
    /// The perf tool that runs the sizes: it rounds those of split collectives
    #[arg(long, value_enum, default_value = "current")]
    tool: Tool,
}

/// How a perf tool rounds the sizes of all_gather and reduce_scatter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Tool {
    /// To 16 bytes a rank: nccl-tests, and rccl-tests since 2025
    Current,
    /// To 4 elements a rank: older rccl-tests
    OldRcclTests,
}

impl Tool {
    fn runner(self) -> Runner {
        match self {
            Self::Current => Runner::PerfTool,
            Self::OldRcclTests => Runner::OldRcclTests,
        }
    }
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
fn load(paths: &[PathBuf], dialect: &DialectArg) -> anyhow::Result<(Reader, Vec<Table>)> {
    let files = paths.iter().map(|path| read(path)).collect::<anyhow::Result<Vec<_>>>()?;
    let reader = dialect.decided(&paths[0], &files[0])?;
    // The others are for the same reader, but may say things that it does not understand.
    for (path, file) in paths.iter().zip(&files).skip(1) {
        let other = dialect.of(path, file);
        if let Some(doubt) = other.doubts.first() {
            anyhow::bail!(
                "{}: read as {}, but {doubt}\n  say which library reads it with --dialect",
                path.display(),
                reader.dialect
            );
        }
    }
    let tables = files.iter().map(|file| Table::load(reader.dialect, file)).collect();
    Ok((reader, tables))
}

/// Text for people or JSON for machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people
    Human,
    /// For machines
    Json,
}
