//! Where a run takes place: an allow-list of facts, nothing about who.

use std::path::Path;
use std::process::{Command, Stdio};

use verdict::Environment;

use crate::machine::Machine;

/// Commit of the working tree at `folder`, and whether it has changes.
pub(crate) fn commit(folder: &Path) -> (Option<String>, Option<bool>) {
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .arg("-C")
            .arg(folder)
            .args(arguments)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    match git(&["rev-parse", "HEAD"]) {
        None => (None, None),
        commit => (commit, git(&["status", "--porcelain"]).map(|changes| !changes.is_empty())),
    }
}

/// The facts of this machine.
pub(crate) fn describe(machine: Option<&Machine>) -> Environment {
    let system = rustix::system::uname();
    let (commit, dirty) = commit(Path::new("."));
    Environment {
        rankcheck: env!("CARGO_PKG_VERSION").into(),
        system: format!(
            "{} {} {}",
            system.sysname().to_string_lossy(),
            system.release().to_string_lossy(),
            system.machine().to_string_lossy()
        ),
        hardware: machine.map_or_else(device::hardware::describe_hardware, Machine::hardware),
        memory_bytes: memory_bytes(),
        compiler: machine.map(|machine| machine.toolchain.version()),
        commit,
        dirty,
    }
}

fn memory_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kibibytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}
