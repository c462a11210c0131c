//! How a rank's heap travels to other processes.

use serde::{Deserialize, Serialize};

/// How another process opens a rank's heap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum HeapHandle {
    /// A file descriptor that the process inherited.
    Memfd(i32),
    /// The inter-process handle of a GPU vendor's driver, and an offset in the allocation.
    GpuIpc {
        /// The device whose driver made the handle: `cuda` or `hip`.
        device: String,
        /// The handle's bytes as the driver gives them.
        handle: Vec<u8>,
        /// Bytes from the allocation's start to the heap.
        offset: u64,
    },
    /// Memory of a host program itself, which copies what is in it to the judge's memory.
    Host {
        /// Address of the first byte in the program.
        address: u64,
    },
}
