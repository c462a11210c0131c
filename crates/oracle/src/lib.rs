//! Holds `collectives::reference` against what nobody here wrote, on random cases.
//!
//! Owns the cases, the heaps that the reference expects, and references that are wrong on purpose:
//! a comparison that does not notice those proves nothing. The other side is an MPI (feature
//! `mpi`) or NumPy (`ci/layouts.py`). Runs no kernel.
#![forbid(unsafe_code)]

pub mod cases;
pub mod expected;
pub mod layouts;
#[cfg(feature = "mpi")]
pub mod mpi;
#[cfg(feature = "mpi")]
mod number;
pub mod planted;
