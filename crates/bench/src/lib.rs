//! Measurements of collective kernels, from samples to a verdict.
//!
//! Owns: the file that a benchmark leaves ([`mod@file`]), what others leave ([`import`], [`export`]), and what follows from it
//! ([`stats`], [`compare`]). Refuses: files, processes, clocks and devices;
//! every function takes values or text and returns data.
#![forbid(unsafe_code)]

pub mod compare;
pub mod export;
pub mod file;
pub mod import;
pub mod stats;
