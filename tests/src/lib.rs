//! Whole-binary tests and scenarios as nextest tests live beside this crate.
