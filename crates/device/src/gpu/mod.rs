//! GPUs of any vendor: written once over a vendor's driver.
//!
//! A process that owns heaps has [`Heaps`] and a [`verifier::GpuVerifier`]; a rank process has a
//! [`GpuDevice`], which opens those heaps and launches kernels. [`driver`] is what a vendor gives.

mod arguments;
mod device;
pub mod driver;
pub mod fake;
mod heaps;
#[cfg(test)]
mod tests;
mod timing;
pub mod vendor;
pub mod verifier;

pub use device::GpuDevice;
pub use heaps::Heaps;
