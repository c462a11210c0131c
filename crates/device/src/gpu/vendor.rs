//! What a vendor of GPUs is to the rest of this crate.

use std::rc::Rc;
use std::sync::Arc;

use kernels::{DeviceName, Toolchain};

use super::driver::GpuDriver;
use crate::MissingLibrary;

/// How to reach a vendor's GPUs.
#[derive(Debug, Clone, Copy)]
pub struct Vendor {
    /// The name of the device in ids and arguments.
    pub device: DeviceName,
    /// Loads the driver; it is loaded once a process.
    pub driver: fn() -> Result<Rc<dyn GpuDriver>, MissingLibrary>,
    /// Variables that the driver must find in the environment of every process that uses it.
    pub environment: &'static [(&'static str, &'static str)],
    /// Finds the compiler for an architecture such as `sm_90`. It needs no GPU.
    pub toolchain: fn(&str) -> Result<Arc<dyn Toolchain>, MissingLibrary>,
}
