//! The command line of rankcheck: arguments, exit codes and the hidden rank entry.
#![forbid(unsafe_code)]

mod cli;
mod commands;

pub use cli::main;
