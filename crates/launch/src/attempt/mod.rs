//! One run of a case's calls: what happened, without a verdict.

mod calls;
mod interleaving;
mod knobs;
mod launched;
mod ran;
mod ranks;
mod replies;
mod together;

pub use calls::attempt;
pub use knobs::{Knobs, Timing, Watch};
pub use launched::{Asked, launch_mismatch};
pub use ran::{CallRan, Ran};
pub use ranks::Ranks;
pub(crate) use together::follows_at_once;
