//! The vendors of GPUs that this build knows: the one place where they are listed.
//!
//! Another vendor is a folder like [`crate::cuda`] (the driver, the run-time compiler), a folder of
//! headers under `kernels/include`, and one line in [`VENDORS`].

use kernels::DeviceName;

pub use crate::gpu::vendor::Vendor;
use crate::{DeviceError, cuda};

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
