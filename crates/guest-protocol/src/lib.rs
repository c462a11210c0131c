//! What the user's own program (the guest) and its judge say to each other in host mode.
//!
//! [`message`] has what is said, [`wire`] how it travels with file descriptors beside it, and
//! [`rendezvous`] how ranks that somebody else started find their judge. Nothing that is expected in a
//! heap is ever in a message.
#![forbid(unsafe_code)]

pub mod message;
pub mod rendezvous;
pub mod wire;
