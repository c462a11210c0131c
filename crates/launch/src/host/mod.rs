//! Host mode: the judge comes to a program that launches its own kernels.
//!
//! The program is the guest: through a library it fills heaps, says what it launched, and hands
//! over what its kernels left. The judge is a process of its own, which expects and compares; it
//! never sends expected data. Guests are one process that has all ranks, or one process a rank:
//! both speak [`message`]s over Unix sockets with a [`session::Session`].

pub mod case;
pub mod launched;
pub mod message;
pub mod ranks;
pub mod rendezvous;
pub mod session;
pub mod wire;

pub use case::{HostCase, never_opened, not_run};
pub use session::{Absence, Desk, Session};
