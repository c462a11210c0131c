//! What ranks may have started: processes that carry a mark in their environment.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// A killed process may take so long to be gone.
const END: Duration = Duration::from_secs(2);

/// Ends every process whose environment has `variable=value`, and waits until it is gone. A kernel
/// or a program may have forked; what it started inherits the mark.
pub fn kill(variable: &str, value: &str) {
    let mark = format!("{variable}={value}");
    let mut killed = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Ok(number) = entry.file_name().to_string_lossy().parse::<i32>() else { continue };
        let Some(pid) = Pid::from_raw(number) else { continue };
        // Opened before we look, so that the number cannot become another process's.
        let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        let is_ours = environment.split(|byte| *byte == 0).any(|v| v == mark.as_bytes());
        if is_ours && pidfd_send_signal(&process, Signal::KILL).is_ok() {
            killed.push(process);
        }
    }
    let deadline = Instant::now() + END;
    for process in killed {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout =
            Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
        // If it cannot be waited for, it is gone.
        let _ = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&timeout));
    }
}
