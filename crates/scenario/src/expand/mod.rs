//! From a scenario file to cases: every combination of axis values, resolved and checked.
//!
//! What one value must be by itself was checked while the file was read. Here it is seen whether values
//! fit each other and the kernel; an error stands at the value that does not.

mod calls;
mod case;
mod combinations;
mod exclude;
mod file;
mod place;
mod sample;

pub use file::{CASE_LIMIT, ExpandError, Expansion, expand};
