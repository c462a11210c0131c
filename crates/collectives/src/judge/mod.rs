//! Compares heaps with their images, and explains what differs.

pub(crate) mod cause;
pub mod explain;
pub mod finding;
pub mod region_map;
pub mod verify;
