//! The pure core.
#![forbid(unsafe_code)]
