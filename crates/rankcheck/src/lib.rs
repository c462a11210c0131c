//! The command line of rankcheck: arguments, exit codes and the hidden rank entry.
//!
//! A library with a thin main, because test binaries start ranks and run cases too: see
//! [`nextest`].
#![forbid(unsafe_code)]

mod arguments;
mod cli;
mod commands;
mod embedded;
mod environment;
mod exit;
mod fingerprint;
mod fuzz;
mod host;
mod interrupt;
mod journal;
mod load;
mod machine;
mod measurements;
pub mod nextest;
mod selftest;
mod shrink;

pub use cli::main;
pub use exit::Exit;
/// If this process was started by rankcheck itself, as a rank, a heap server, a probe or a rank of a user's
/// program, lives as that and never returns. Every binary that starts ranks (the command line, test
/// binaries) calls this first.
pub fn rank_main() {
    hosting::ranks::exec_main();
    ranks::rank_main();
}
