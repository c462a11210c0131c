//! Which attempts a case needs, and what they mean together.

pub(crate) mod attribute;
mod delays;
mod exhaustive;
mod failure;
mod run;
mod seeded;
mod sequential;
pub mod shrink;
pub(crate) mod write_once;

pub use run::run;
pub use sequential::order_dependent;
