//! Measurements of collective kernels, from samples to a verdict.
//!
//! Owns: the file that a benchmark leaves ([`mod@file`]). Refuses: files, processes, clocks and devices;
//! every function takes values or text and returns data.
#![forbid(unsafe_code)]

pub mod compare;
pub mod file;
pub mod stats;
