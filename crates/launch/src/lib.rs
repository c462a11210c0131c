//! Ranks as processes, and the way of a case through them.
//!
//! The parent fills heaps, tells rank processes what to run, owns the clock and judges; it never
//! runs kernel code. A logical case has one process that hosts all ranks, a process case has one
//! process a rank: both speak the same [`protocol`] in the same [`pool`].
#![forbid(unsafe_code)]

mod addresses;
mod attribution;
mod blank;
pub mod builder;
mod deadlock;
mod delays;
mod exhaustive;
pub mod findings;
pub mod job;
pub mod orders;
mod races;
pub mod run;
pub mod runner;
mod sanitizer;
pub mod schedules;
pub mod shrink;
pub mod source_lines;
mod trace;
mod violations;
mod write_once;

pub use blank::{Identity, blank_of, shell_word};
pub use orders::Orders;
pub use runner::{Options, Runner};
pub use schedules::{CallTurn, Schedules, Strategy};
