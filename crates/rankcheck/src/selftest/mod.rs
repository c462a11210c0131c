//! The kill matrix: kernels that are wrong on purpose must be found out, each by the right finding
//! at the right place, and their correct twins must pass the same scenario.
//!
//! [`index`] reads what is expected, [`matrix`] runs and judges, [`show`] writes it down. Cases run
//! as they do everywhere: there is no second way to run one.

pub(crate) mod index;
pub(crate) mod matrix;
pub(crate) mod show;

#[cfg(test)]
mod tests;
