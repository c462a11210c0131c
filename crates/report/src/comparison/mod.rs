//! A comparison of benchmarks, for people: verdicts first, then rows, then slices.

mod human;
mod markdown;
pub(crate) mod words;

pub use human::comparison_text;
pub use markdown::comparison_markdown;
