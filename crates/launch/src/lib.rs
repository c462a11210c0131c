//! The way of a case: admitted, attempted, judged.
//!
//! [`admit()`] lays a case out, builds its objects and resolves its launches: an [`Admitted`] never changes.
//! [`attempt`](attempt::attempt) runs its calls once, with [`Knobs`](attempt::Knobs) for all that may differ from
//! one time to the next, and returns what happened ([`Ran`](attempt::Ran)), no verdict. The [`ways`] decide which
//! attempts a case needs: orders, schedules, delays, re-runs for writers, shrinking. A [`Tally`] folds attempts
//! into the case's result. Everything that talks to rank processes goes through the trait
//! [`Ranks`](attempt::Ranks), so that all of this is tested without processes and compilers.
#![forbid(unsafe_code)]

pub mod admit;
pub mod attempt;
pub mod builder;
pub mod case;
pub mod config;
#[cfg(test)]
mod fake;
pub mod job;
mod loss;
mod not_proved;
mod once;
pub mod orders;
pub mod runner;
pub mod schedules;
mod tally;
pub mod tell;
pub mod ways;

#[cfg(test)]
mod tests;

pub use admit::{Admitted, Refusal, admit};
pub use case::run_case;
pub use config::RunConfig;
pub use orders::Orders;
pub use runner::{Options, Runner};
pub use schedules::{Schedules, Strategy};
pub use tally::Tally;
