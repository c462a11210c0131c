//! Why rank processes cannot be had, and how long they may take to say hello.

use std::time::Duration;

/// How long a process may take to say hello; a GPU's driver takes its time.
pub(crate) const HELLO: Duration = Duration::from_secs(20);

/// A pool that cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    /// The system refuses.
    #[error("{what}: {reason}")]
    System {
        /// What was tried.
        what: String,
        /// The system's answer, in its own words.
        reason: String,
    },
    /// The device is lost: nothing more can run on it.
    #[error("{0}")]
    DeviceLost(String),
    /// What should run does not fit the device.
    #[error("needs {needed}, found {found}")]
    DoesNotFit {
        /// What it needs.
        needed: String,
        /// What there is.
        found: String,
    },
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}
