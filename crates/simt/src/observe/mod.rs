//! Observers: what the threads of a run do to memory, and what follows from it.

pub(crate) mod access;
mod delay;
mod log;
pub(crate) mod next;
pub(crate) mod numbers;
pub(crate) mod observer;
mod race;
pub(crate) mod shared_memory;
mod writers;

pub use access::{Access, Operation, Order, Scope, ThreadId};
pub use delay::{Delay, Late};
pub use log::Log;
pub use next::{Act, Next};
pub use observer::{NoObserver, Observer};
pub use race::{Flag, Missing, Race, RaceKind, Races};
pub use shared_memory::shared_memory_at;
pub use writers::{LastWriters, Write};
