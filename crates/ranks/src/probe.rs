//! What GPUs this machine has, asked by a child: the parent never opens a device.

use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use device::DeviceError;
use device::gpu::driver::{DriverVersion, Gpu};
use device::vendors::VENDORS;
use ipc::{Board, frames};
use kernels::DeviceName;
use serde::{Deserialize, Serialize};

use crate::error::PoolError;
use crate::process::{self, ChildProcess, Spawn};

/// The child's argument behind its number.
pub const ROLE: &str = "probe";
/// A driver that wakes up takes its time.
const PATIENCE: Duration = Duration::from_secs(30);

/// The GPUs of a machine and what drives them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gpus {
    /// The GPUs, in the order of their numbers.
    pub gpus: Vec<Gpu>,
    /// The driver that found them.
    pub driver: DriverVersion,
}

/// Asks for this machine's GPUs of one vendor.
///
/// # Errors
/// Why there are none.
pub fn gpus(device: DeviceName) -> Result<Gpus, String> {
    static NEVER: AtomicBool = AtomicBool::new(false);
    let ask = || -> Result<Result<Gpus, String>, PoolError> {
        let board = Board::new().map_err(|error| PoolError::System {
            what: "shared memory".into(),
            reason: error.to_string(),
        })?;
        let mut child = ChildProcess::start(Spawn {
            number: 0,
            arguments: vec![ROLE.into(), device.to_string()],
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
pub fn live(device: &str) -> std::io::Result<()> {
    let look = || -> Result<Gpus, DeviceError> {
        let vendor = VENDORS.iter().find(|vendor| vendor.device.name() == device);
        let driver = (vendor.ok_or(DeviceError::NoVendor)?.driver)()?;
        Ok(Gpus { gpus: driver.gpus()?, driver: driver.version() })
    };
    let found = look().map_err(|error| error.to_string());
    let mut stream = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    frames::send(&mut stream, &found)
}
