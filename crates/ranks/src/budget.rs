//! Memory for heaps, shared by all cases that run at once.

use std::sync::{Condvar, Mutex};

/// Heaps may use this part of the memory that was available when the run began.
const PART: f64 = 0.8;

/// A budget of bytes.
#[derive(Debug)]
pub struct Budget {
    total: u64,
    free: Mutex<u64>,
    returned: Condvar,
}

/// Bytes taken from a budget, given back when dropped.
#[derive(Debug)]
pub struct Share<'a> {
    budget: &'a Budget,
    bytes: u64,
}

/// Bytes of memory that are available now, as the system says.
pub fn available_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kibibytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.map_or(u64::MAX / 2, |kibibytes| kibibytes * 1024)
}

impl Budget {
    /// A budget of the memory that is available now.
    pub fn of_this_machine() -> Budget {
        Budget::new((available_bytes() as f64 * PART) as u64)
    }

    /// A budget of so many bytes.
    pub fn new(total: u64) -> Budget {
        Budget { total, free: Mutex::new(total), returned: Condvar::new() }
    }

    /// All of it.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Takes bytes, and waits until other cases have given enough back; `None` where the whole
    /// budget is too small.
    pub fn take(&self, bytes: u64) -> Option<Share<'_>> {
        if bytes > self.total {
            return None;
        }
        let free = self.free.lock().expect("no holder panics");
        let mut free =
            self.returned.wait_while(free, |free| *free < bytes).expect("no holder panics");
        *free -= bytes;
        Some(Share { budget: self, bytes })
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        *self.budget.free.lock().expect("no holder panics") += self.bytes;
        self.budget.returned.notify_all();
    }
}

/// `5.4 GiB`.
pub fn show_bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let unit = (bytes.max(1).ilog2() / 10).min(4) as usize;
    match unit {
        0 => format!("{bytes} bytes"),
        _ => format!("{:.1} {}", bytes as f64 / 1024f64.powi(unit as i32), UNITS[unit]),
    }
}
