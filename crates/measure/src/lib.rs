//! Taking measurements.
//!
//! [`rows`] makes rows of the cases of each arm; [`row::measure`] verifies every arm, then runs them in
//! drawn blocks ([`order`]), each run one timed attempt of [`launch::attempt`] with data of its own, and keeps
//! every sample in the types of [`bench::file`]. An arm whose timed bytes are wrong is marked and runs no more.
//! Refuses to time what was not verified, and arms that mean different things.
#![forbid(unsafe_code)]

pub mod ceiling;
pub mod order;
pub mod row;
pub mod rows;
pub mod timed;
pub mod units;

pub use row::{Session, Step, measure};
pub use rows::{Planned, PlannedArm, plan};
