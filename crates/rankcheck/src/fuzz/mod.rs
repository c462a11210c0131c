//! Random valid cases of a kernel that should be right.
//!
//! A [`scenario::Draft`] is what a scenario file would say; [`draw`] draws one, [`shrink`] makes a
//! failing one smaller, [`shares`] counts what was drawn. A draft becomes a case by being written
//! as YAML and expanded, so what is run is what the file replays.

pub(crate) mod draft;
pub(crate) mod draw;
pub(crate) mod shares;
pub(crate) mod shrink;

#[cfg(test)]
mod tests;
