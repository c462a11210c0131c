//! Fill, poison and verification as kernels, for a process that owns heaps and runs nothing else.
//!
//! The host says in records what belongs where (`collectives::record`), `verifier.cu` makes the bytes
//! or compares them, and what comes back is one number: how many bytes differ. Only where some do,
//! the pages that hold them are copied and explained by `collectives::verify`, so that a finding
//! reads as it does on the CPU.

mod call;
mod device;
mod explain;
mod loaded;
mod words;
mod work;

pub use call::CallVerifier;
pub use device::{Entry, PAGE, SOURCE, SOURCE_NAME, THREADS, VerifierDevice};
pub use loaded::GpuVerifier;
