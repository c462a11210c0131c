//! What runs kernel code.
//!
//! A [`Device`] lives in a rank process. It imports the heaps of all ranks, loads objects and
//! launches them; the parent, which never runs kernel code, owns the clock and judges. [`cpu`] is
//! the host's processor. [`gpu`] is every GPU: heaps, launches and the verifier, written once over a
//! vendor's driver; [`cuda`] is the first such driver, and [`vendors`] lists them all. [`fake`] is a
//! device for tests.

mod arguments;
mod borders;
mod capabilities;
mod contract;
pub mod cpu;
pub mod cuda;
mod error;
pub mod fake;
pub mod gpu;
pub mod hardware;
mod library;
pub mod nvml;
pub mod vendors;

pub use borders::{Borders, Changed};
pub use capabilities::Capabilities;
pub use contract::{
    Caches, Device, Interleave, Interleaving, Launch, Launched, Measured, Watch, WatchedByte,
};
pub use error::{DeviceError, DriverError, Fault, MissingLibrary};
