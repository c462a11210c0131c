//! NVIDIA GPUs: the driver and NVRTC. Nothing is linked: both libraries are loaded at run time.

mod context;
mod driver;
mod gate;
mod nvrtc;

use std::rc::Rc;
use std::sync::Arc;

use kernels::DeviceName;

pub use nvrtc::{Nvrtc, OVERRIDE};

use crate::gpu::vendor::Vendor;
use driver::Driver;

/// NVIDIA, as a vendor of GPUs.
pub const NVIDIA: Vendor = Vendor {
    device: DeviceName::Cuda,
    driver: || Ok(Rc::new(Driver::get()?)),
    // A kernel that waits must not find that its peer's is still to be loaded.
    environment: &[("CUDA_MODULE_LOADING", "EAGER")],
    toolchain: |architecture| Ok(Arc::new(Nvrtc::find(architecture)?)),
};
