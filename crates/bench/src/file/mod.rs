//! `rankcheck.bench/1`: everything that a benchmark measured, and under which conditions.
//!
//! A file keeps every sample. Nothing in it is a summary, so every statistic can be made again, and
//! made otherwise. Times are in nanoseconds, bandwidths in 1e9 bytes a second.

mod arm;
mod machine;
mod read;
mod row;
mod samples;

pub use arm::{Arm, ArmKind, Launch, Verification, Verified};
pub use machine::{Gpu, Machine, Reading};
pub use read::{FileError, SCHEMA, read, write};
pub use row::{
    BenchFile, Cache, Ceiling, Invalid, InvalidKind, Protocol, Provenance, Row, Scenario,
};
pub use samples::{Block, FreshLaunch, Run};
