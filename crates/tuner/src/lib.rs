//! Tuner rules of collective libraries, and the logs of the perf tools that prove them.
//!
//! Owns: what a tuner CSV does ([`csv`], [`mod@evaluate`]), what is wrong with it ([`lint`]), what a
//! change to it changes ([`diff`], [`shadow`]), which sizes prove that ([`probe`], [`plan`]), whether
//! a run proves it ([`proof`]), what a perf log shows ([`perflog`], [`measured`]), and whether it is better ([`mod@judge`]). Refuses: files, processes, clocks and devices; every
//! function takes text and returns data.
#![forbid(unsafe_code)]

pub mod bytes;
pub mod cnum;
pub mod csv;
pub mod diff;
pub mod evaluate;
pub mod explain;
pub mod gate;
pub mod guess;
pub mod intervals;
pub mod judge;
pub mod launch_template;
pub mod lint;
pub mod measured;
pub mod names;
pub mod perflog;
pub mod plan;
pub mod probe;
pub mod proof;
pub mod scope;
pub mod shadow;
pub mod sizes;
pub mod svg;

pub use csv::{Row, Rule, Table};
pub use evaluate::{Choice, Query, Situation, Unavailable, evaluate};
pub use names::{Algorithm, Collective, Dialect, Protocol};
