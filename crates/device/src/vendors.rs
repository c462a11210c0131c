//! The vendors of GPUs that this build knows: the one place where they are listed.
//!
//! Another vendor is a folder like [`crate::cuda`] (the driver, the run-time compiler), a folder of
//! headers under `kernels/include`, and one line in [`VENDORS`].

use std::rc::Rc;
use std::sync::Arc;

use kernels::{DeviceName, Toolchain};

use crate::gpu::driver::GpuDriver;
use crate::{DeviceError, MissingLibrary, cuda};

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

/// Every vendor.
pub const VENDORS: [Vendor; 1] = [cuda::NVIDIA];

/// The vendor whose GPUs are a device.
///
/// # Errors
/// This build has no driver for the device.
pub fn vendor(device: DeviceName) -> Result<Vendor, DeviceError> {
    let found = VENDORS.into_iter().find(|vendor| vendor.device == device);
    found.ok_or(DeviceError::NoVendor)
}
