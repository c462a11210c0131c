//! Every interleaving of a small case, each once: partial-order reduction.
//!
//! Two interleavings that differ in the order of independent steps alone are one. After each run,
//! every pair of dependent steps that could have come the other way round is a reason to go back
//! and let the other one come first (source sets: Abdulla et al., POPL 2014), and what was tried
//! at a place sleeps there until something wakes it (sleep sets: Godefroid 1996). Nothing is kept
//! but the path to the run before: each run begins anew and is led to where it departs.

mod dependence;
mod explorer;
mod exploring;
mod order;
#[cfg(test)]
mod tests;

pub use explorer::{Branch, Explorer};
pub use exploring::Exploring;
