//! What a run says of its cases: one stream of events, which reporters fold.
#![forbid(unsafe_code)]

pub mod event;

pub use event::*;
