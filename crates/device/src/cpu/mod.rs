//! The host's processor: heaps are shared memory, kernels run in the executor of `simt`.

mod arguments;
mod caches;
mod device;
mod heap;
mod hosts;

pub use arguments::trap;
pub use device::CpuDevice;
pub use heap::{HEAP_SPACING, heap_address, heap_at};
