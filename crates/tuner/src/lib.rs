//! Tuner rules and perf logs.
#![forbid(unsafe_code)]
