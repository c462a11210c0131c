//! Running launches: fibers, blocks, barriers, waits, and how a run ends.

mod block_buffer;
mod decode;
mod engine;
mod event;
pub mod fault;
mod fiber;
mod outcome;
mod quiescence;
mod stack;
mod violation;
mod waiters;

pub use engine::{RankLaunch, run};
pub use outcome::{Divergence, End, Outcome, RankOutcome, Wait, Waiting};
pub use stack::STACK_BYTES;
pub use violation::{Misdeed, Side, Violation};
