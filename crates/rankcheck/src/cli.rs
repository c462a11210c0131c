//! Arguments and the one place where a summary becomes an exit code.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::commands::{perflog, tuner};

/// Judges GPU collective kernels, byte by byte, on every rank.
#[derive(Debug, Parser)]
#[command(name = "rankcheck", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Checks, explains and compares the CSV rules of a collective library's tuner.
    Tuner(tuner::Args),
    /// Reads logs of nccl-tests and rccl-tests and judges each.
    Perflog(perflog::Args),
}

/// Parses the process's arguments, runs the verb and returns its exit code.
pub fn main() -> ExitCode {
    let result = match Cli::parse().verb {
        Verb::Tuner(args) => tuner::run(args),
        Verb::Perflog(args) => perflog::run(args),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(2)
    })
}
