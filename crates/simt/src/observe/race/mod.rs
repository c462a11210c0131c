//! The race detector: happens-before over the threads of all ranks.
//!
//! One vector clock a thread; scopes are looked at where two threads synchronise and nowhere
//! else, because happens-before is transitive over scopes (PTX ISA 8.9.5). A rank is an agent, so
//! an agent-scope release never publishes to another rank. Two accesses race when they overlap,
//! one writes, neither happened before the other, and they are not both atomic on exactly the
//! same bytes at scopes that take in each other's thread (PTX ISA 8.7). Launches and their ends
//! order everything: a detector watches one set of co-resident launches.

mod clock;
mod conflict;
mod detector;
mod history;
mod shadow;
mod synchronise;
#[cfg(test)]
mod tests;
mod threads;
mod weak;

pub use detector::Races;
pub use history::{Flag, Missing, Race, RaceKind};
