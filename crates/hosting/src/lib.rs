//! Host mode: the judge comes to a program that launches its own kernels.
//!
//! The program is the guest: through a library it fills heaps, says what it launched, and hands
//! over what its kernels left. The judge is a process of its own, which expects and compares; it
//! never sends expected data. Guests are one process that has all ranks, or one process a rank:
//! both speak [`guest_protocol::message`]s over Unix sockets with a [`session::Session`].

#![forbid(unsafe_code)]

pub mod case;
mod guests;
pub mod launched;
mod listing;
pub mod ranks;
pub mod session;

pub use case::{HostCase, never_opened, not_run};
pub use guests::HELLO;
pub use listing::Cases;
pub use session::{Absence, Session, SessionHooks};
