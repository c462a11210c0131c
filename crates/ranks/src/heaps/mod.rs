//! Where heaps are, and who fills and compares them.
//!
//! On a CPU that is the parent itself, in memory that all processes share ([`SharedHeaps`]); on GPUs it is a
//! process of its own that has loaded no kernel under test ([`RemoteHeaps`], served by `heaps::server`).

mod message;
mod owner;
mod remote;
pub(crate) mod server;
mod shared;
pub mod speed;

pub use owner::HeapOwner;
pub use remote::RemoteHeaps;
pub use shared::SharedHeaps;
