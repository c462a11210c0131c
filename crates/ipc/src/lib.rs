//! What processes of one machine share: memory without a name, a board of atomics, and frames.
//!
//! A pool's parent and its rank processes, and a host program and its judge, meet here. This crate owns
//! [`SharedMemory`] (heaps and images, sealed against shrinking), the [`Board`] (phases, meetings, last
//! words) and [`frames`] (messages over any byte stream). It knows no message and no kernel.

pub mod board;
pub mod error;
pub mod fault_record;
pub mod frames;
pub mod heap_handle;
pub mod memory;

pub use board::{Board, Phase, RankEntry};
pub use error::IpcError;
pub use fault_record::{FaultRecord, RunningThread};
pub use heap_handle::HeapHandle;
pub use memory::SharedMemory;
