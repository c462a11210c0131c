//! What the system refuses.

/// A system call on shared memory that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {reason}")]
pub struct IpcError {
    /// What was tried, such as `growing a heap`.
    pub what: String,
    /// The system's answer, in its own words.
    pub reason: String,
}

impl IpcError {
    /// An error about `what`, with the system's answer.
    pub fn new(what: impl Into<String>, reason: &dyn std::fmt::Display) -> IpcError {
        IpcError { what: what.into(), reason: reason.to_string() }
    }
}
