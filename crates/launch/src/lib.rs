//! Ranks as processes, and the way of a case through them.
//!
//! The parent fills heaps, tells rank processes what to run, owns the clock and judges; it never
//! runs kernel code. A logical case has one process that hosts all ranks, a process case has one
//! process a rank: both speak the same [`protocol`] in the same [`pool`].
#![forbid(unsafe_code)]

mod addresses;
mod attribution;
mod blank;
pub mod budget;
pub mod builder;
mod deadlock;
mod delays;
pub mod event;
mod exhaustive;
pub mod findings;
mod heaps;
pub mod host;
pub mod job;
mod judge;
mod judge_process;
mod marked;
pub mod measure;
pub mod orders;
pub mod pool;
pub mod probe;
pub mod process;
pub mod protocol;
mod races;
pub mod run;
pub mod runner;
mod sanitizer;
pub mod schedules;
pub mod shrink;
pub mod source_lines;
pub mod target;
mod trace;
mod violations;
pub mod worker;
mod write_once;

pub use blank::{Identity, shell_word};
pub use event::{CallResult, CaseResult, Effective, Environment, Event, Source, Summary, Verdict};
pub use orders::Orders;
pub use pool::{Pool, PoolError};
pub use runner::{Options, Runner};
pub use schedules::{CallTurn, Schedules, Strategy};
pub use target::Target;
pub use worker::rank_main;
