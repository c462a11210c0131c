//! What happened, told as findings: lost processes, deadlocks, races, violations, slips of addresses.

mod addresses;
mod context;
mod deadlock;
mod hosts;
mod lines;
mod races;
pub(crate) mod sanitizer;
pub(crate) mod trace;
mod violations;
mod waits;

pub use context::Context;
