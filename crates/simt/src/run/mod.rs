//! Running launches: fibers, blocks, barriers, waits, and how a run ends.

mod block;
mod block_buffer;
mod decode;
mod ending;
mod engine;
mod event;
pub mod fault;
mod fiber;
mod giving_up;
mod launch;
mod outcome;
mod quiescence;
mod residency;
mod shared;
mod stack;
mod streams;
mod violation;
mod waiters;
mod waiting;

pub use launch::{RankLaunch, run, run_calls};
pub use outcome::{Divergence, End, OpenWait, Outcome, RankOutcome, Unexplored, Wait, Waiting};
pub use stack::STACK_BYTES;
pub use streams::Host;
pub use violation::{Side, Violation, ViolationKind};
