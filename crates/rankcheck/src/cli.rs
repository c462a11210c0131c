//! Arguments and the one place where a summary becomes an exit code.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Judges GPU collective kernels, byte by byte, on every rank.
#[derive(Debug, Parser)]
#[command(name = "rankcheck", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {}

/// Parses the process's arguments, runs the verb and returns its exit code.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    match cli.verb {}
}
