//! What GPUs this machine has, asked by a child: the parent never opens a device.

use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use device::cuda::Gpu;
use ipc::{Board, frames};
use serde::{Deserialize, Serialize};

use crate::pool::PoolError;
use crate::process::{self, ChildProcess, Spawn};

/// The child's argument behind its number.
pub const ROLE: &str = "probe";
/// A driver that wakes up takes its time.
const PATIENCE: Duration = Duration::from_secs(30);

/// The GPUs of a machine and what drives them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gpus {
    /// By number.
    pub gpus: Vec<Gpu>,
    /// The driver's version: 13000 for 13.0.
    pub driver: i32,
    /// Where the driver was found.
    pub path: String,
}

impl Gpus {
    /// The driver's version as people write it.
    pub fn driver_version(&self) -> String {
        format!("{}.{}", self.driver / 1000, self.driver % 1000 / 10)
    }
}

/// Asks for this machine's NVIDIA GPUs.
///
/// # Errors
/// Why there are none.
pub fn gpus() -> Result<Gpus, String> {
    static NEVER: AtomicBool = AtomicBool::new(false);
    let ask = || -> Result<Result<Gpus, String>, PoolError> {
        let board = Board::new().map_err(|error| PoolError::System {
            what: "shared memory".into(),
            reason: error.to_string(),
        })?;
        let mut child = ChildProcess::start(Spawn {
            number: 0,
            arguments: vec![ROLE.into()],
            mark: (crate::pool::MARK, "probe"),
            descriptors: Vec::new(),
            under: None,
        })?;
        let answers = process::gather(&mut [&mut child], &board, &NEVER, PATIENCE);
        child.kill();
        child.reap();
        let answer = answers?.and_then(|mut answers| answers.pop()).expect("one was asked");
        Ok(answer.unwrap_or_else(|loss| {
            Err(format!("asking for GPUs: {:?} {}", loss.cause, loss.output.trim()))
        }))
    };
    ask().unwrap_or_else(|error| Err(error.to_string()))
}

/// The child: looks, says what it found, and ends.
pub fn live() -> std::io::Result<()> {
    let found = device::cuda::gpus()
        .map(|(gpus, driver, path)| Gpus { gpus, driver, path })
        .map_err(|error| error.to_string());
    let mut stream = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    frames::send(&mut stream, &found)
}
