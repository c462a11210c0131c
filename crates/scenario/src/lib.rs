//! Scenario files: read strictly, expanded into cases with stable ids, filtered.
//!
//! A case is fully resolved: nothing is left to choose or draw. What a case needs and this kernel
//! does not offer is on the case as a reason, so that it is counted and printed.
//!
//! Everything about a key of a scenario file follows from one table: see [`keys`].
#![forbid(unsafe_code)]

pub mod case;
pub mod draft;
pub mod expand;
pub mod files;
pub mod filter;
pub mod keys;
pub mod mode;
pub mod values;

#[cfg(test)]
mod tests;

pub use case::{Case, Reason, Requested};
pub use draft::{Draft, DraftError};
pub use expand::{ExpandError, Expansion, expand};
pub use files::{FileError, ScenarioSource, find, theme_name};
pub use filter::{Filter, FilterError};
pub use keys::ScenarioFile;
pub use mode::Mode;
