//! From samples to a verdict: is an arm faster than the base, by how much, and how sure is that?
//!
//! [`within`] compares the arms of one file, which ran side by side; [`between`] the same arms of two files. Each row gives
//! [`Evidence`](evidence::Evidence), that an [`Estimate`](estimate::Estimate), and all rows together a verdict
//! each. What is invalid, not verified or missing never enters a ratio: it stays a row with its reason.

mod between;
mod decide;
pub mod estimate;
pub mod evidence;
mod join;
mod result;
mod rows;
mod slices;
mod within;

pub use between::between;
pub use decide::Policy;
pub use join::{JoinError, join};
pub use result::{
    Compared, Comparison, Control, Family, Ratio, SCHEMA, Side, Slice, Source, Spread, Verdict,
};
pub use within::{CompareError, within};
