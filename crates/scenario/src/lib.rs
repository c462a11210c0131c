//! Scenario files: read strictly, expanded into cases with stable ids, filtered.
//!
//! A case is fully resolved: nothing is left to choose or draw. What a case needs and this kernel
//! does not offer is on the case as a reason, so that it is counted and printed.
#![forbid(unsafe_code)]

pub mod case;
pub mod expand;
pub mod files;
pub mod filter;
mod labels;
pub mod model;
mod sample;
pub mod values;

pub use case::{Case, Mode, Reason, Requested};
pub use expand::{ExpandError, Expansion, expand};
pub use files::{FileError, ScenarioSource, find, theme_name};
pub use filter::{Filter, FilterError};
pub use model::ScenarioFile;
