//! Rank processes: started, told things, listened to with a deadline, and ended.
//!
//! The parent never runs kernel code and never waits without a deadline. A [`Pool`] holds the processes of a
//! case and their heaps; a [`worker`] is the life of one process. Both speak [`command`]s in frames.
#![forbid(unsafe_code)]

pub mod budget;
pub mod command;
mod error;
pub mod heaps;
pub mod orphans;
pub mod pool;
pub mod probe;
pub mod process;
pub mod target;
pub mod worker;

pub use error::PoolError;
pub use pool::Pool;
pub use process::{Cause, Loss, Running};
pub use target::Target;
pub use worker::rank_main;
