//! The CPU executor: kernels compiled for the host, one fiber a GPU thread.
//!
//! [`run`] executes the launches of one or several ranks in one OS thread, under a [`Schedule`]
//! and before an [`Observer`]. A block's threads start on one fiber, one after another; only a
//! thread that suspends (barrier, wait, tile step) keeps a fiber of its own.
//!
//! `unsafe` lives here because this crate loads objects, switches stacks and is called back by
//! compiled kernels. Nothing is global but what signal handlers must find ([`fault`]).

mod abi;
mod block_buffer;
mod block_shared;
mod delay;
mod engine;
mod event;
mod explore;
pub mod fault;
mod fiber;
mod module;
mod next;
mod numbers;
mod observer;
mod outcome;
mod parameters;
mod priorities;
mod race;
mod schedule;
mod seeded;
mod stack;
mod stillness;
mod trace;
mod turns;
mod violation;
mod waiters;
mod writers;

pub use block_shared::shared_memory_at;
pub use delay::{Delay, Late};
pub use engine::{RankLaunch, run};
pub use explore::{Branch, Explorer, Exploring};
pub use module::{Module, ModuleError};
pub use next::{Act, Next};
pub use observer::{Access, NoObserver, Observer, Operation, Order, Scope, ThreadId};
pub use outcome::{Divergence, End, LaunchRecord, Outcome, RankOutcome, Wait, Waiting};
pub use parameters::Parameters;
pub use priorities::CHANGES;
pub use race::{Flag, Missing, Race, RaceKind, Races};
pub use schedule::{Idle, Live, Look, Ready, Schedule, Sequential, Switches};
pub use seeded::{Seeded, Strategy};
pub use stack::STACK_BYTES;
pub use trace::{Log, Recorded, Recorder, Step};
pub use turns::{Directed, Turn};
pub use violation::{Misdeed, Side, Violation};
pub use writers::{LastWriters, Write};
