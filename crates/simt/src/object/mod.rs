//! Objects: kernels compiled for the host, loaded, with the structures that both sides share.

pub(crate) mod abi;
pub(crate) mod launch_record;
pub(crate) mod module;
pub(crate) mod parameters;
mod segments;

pub use launch_record::LaunchRecord;
pub use module::{Module, ModuleError};
pub use parameters::Parameters;
