//! The command line of rankcheck: arguments, exit codes and the hidden rank entry.
//!
//! A library with a thin main, because test binaries start ranks and run cases too: see
//! [`nextest`].
#![forbid(unsafe_code)]

mod cli;
mod commands;
mod embedded;
mod environment;
mod exit;
mod fuzz;
mod host;
mod load;
mod machine;
pub mod nextest;
mod selftest;
mod shrink;

pub use cli::main;
pub use exit::Exit;
pub use launch::rank_main;
