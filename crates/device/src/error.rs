//! What a device could not do, in words that no vendor owns.

use collectives::Rank;
use ipc::{HeapHandle, IpcError};
use serde::{Deserialize, Serialize};
use simt::ModuleError;

/// Something that a device could not do. Kernels that do wrong are in the launch's outcome, unless
/// the device's context was lost with them.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// The object does not load or does not fit.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// The system refuses shared memory.
    #[error(transparent)]
    Memory(#[from] IpcError),
    /// The system refuses something else.
    #[error("{what}: {reason}")]
    System {
        /// What was tried.
        what: String,
        /// Why it failed.
        reason: String,
    },
    /// A handle of another device's heap.
    #[error("a {device} cannot open the heap {handle:?}")]
    Handle {
        /// The name of this device.
        device: &'static str,
        /// The handle that it was given.
        handle: HeapHandle,
    },
    /// A rank that was not imported or loaded here; the text says what it lacks.
    #[error("rank {0} has no {1} here")]
    NoRank(Rank, &'static str),
    /// A vendor's library that is not there.
    #[error(transparent)]
    Missing(#[from] MissingLibrary),
    /// A device for which this build has no driver.
    #[error("this build runs kernels on CPUs and NVIDIA GPUs")]
    NoVendor,
    /// A vendor's driver refuses.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// Ranks that must be in the kernel at once do not fit the device.
    #[error("needs {needed}, found {found}")]
    DoesNotFit {
        /// What the ranks need.
        needed: String,
        /// What the device has.
        found: String,
    },
    /// The kernel did something that lost the device's context.
    #[error("{text}")]
    Fault {
        /// What the kernel did.
        fault: Fault,
        /// The rank whose kernel it was; absent where several ran at once.
        rank: Option<Rank>,
        /// The driver's words for it.
        text: String,
    },
}

/// A call that a vendor's driver refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{call}: {name} ({text})")]
pub struct DriverError {
    /// The driver's function.
    pub call: &'static str,
    /// The driver's name for the error.
    pub name: String,
    /// What the error means, in the driver's words.
    pub text: String,
    /// What a kernel did, where the error is a kernel's doing rather than the call's; the context is
    /// lost with it.
    pub fault: Option<Fault>,
}

/// A library that is missing or lacks a function.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{name}: {reason}")]
pub struct MissingLibrary {
    /// The library, as people know it.
    pub name: &'static str,
    /// What was tried, and why each try failed.
    pub reason: String,
}

/// What a kernel on a GPU can do that ends its process's use of the GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fault {
    /// An access outside of every allocation.
    IllegalAddress,
    /// An access that is not aligned to its size.
    MisalignedAddress,
    /// Anything else: an assertion, an illegal instruction, a broken stack.
    Other,
}

impl DeviceError {
    /// The system's refusal of something that was tried.
    pub(crate) fn system(what: &str, error: &dyn std::fmt::Display) -> DeviceError {
        DeviceError::System { what: what.to_owned(), reason: error.to_string() }
    }

    /// The error of a driver behind a launch of `rank`'s kernel: its fault where the kernel did
    /// something, else the driver's refusal.
    pub(crate) fn of_kernel(error: DriverError, rank: Option<Rank>) -> DeviceError {
        match error.fault {
            Some(fault) => {
                let text = format!("{} ({})", error.name, error.text);
                DeviceError::Fault { fault, rank, text }
            }
            None => DeviceError::Driver(error),
        }
    }
}
