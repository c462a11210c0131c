//! The structures shared with compiled kernels; the same as in `rc_cpu.h`, field for field.

use std::cell::Cell;
use std::ffi::{c_char, c_void};

/// Version of the object's table of entries; its symbol is `rc_module_1`.
pub(crate) const VERSION: u32 = 3;
/// The symbol an object exports.
pub(crate) const SYMBOL: &[u8] = b"rc_module_1\0";

/// Threads of a wave.
pub(crate) const WAVE: u32 = 32;

#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Dim3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

/// `rc_thread`: what a running kernel thread knows.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Thread {
    pub thread: Dim3,
    pub block: Dim3,
    pub threads: Dim3,
    pub grid: Dim3,
    pub block_shared: *mut u8,
    pub dynamic_shared: *mut u8,
    /// By warp of the block: lanes whose threads have returned.
    pub departed: *mut u64,
    pub host: *const Host,
    /// The executor's own: see `fiber::Link`.
    pub fiber: *mut c_void,
    /// The last clock that the kernel read: a thread that looks at one never stands still.
    pub clock: u64,
    /// Bytes at `block_shared` whose accesses are reported.
    pub shared_bytes: usize,
    /// Bytes at `block_shared`.
    pub static_bytes: usize,
    /// Bytes at `dynamic_shared`.
    pub dynamic_bytes: usize,
    /// Bytes of guard around both.
    pub guard_bytes: usize,
    /// The last comparisons of an observed build, the latest at `compares - 1`, wrapped.
    pub compared: [[u64; 2]; 4],
    pub compares: u32,
}

impl Thread {
    /// What a value that was read was compared with last.
    pub(crate) fn compared_with(&self, value: u64) -> Option<u64> {
        let last = self.compares.min(self.compared.len() as u32);
        let latest_first = (1..=last)
            .map(|back| self.compared[(self.compares - back) as usize % self.compared.len()]);
        let mut with =
            latest_first.filter_map(|[one, other]| match (one == value, other == value) {
                (true, _) => Some(other),
                (false, true) => Some(one),
                (false, false) => None,
            });
        with.next()
    }
}

/// `rc_violation`: what one of the compiler's checks says.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Violation {
    pub bytes: u32,
    pub stores: u32,
    pub value: u64,
    pub name: *const c_char,
}

/// `rc_host`: what a kernel calls.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Host {
    pub event:
        extern "C-unwind" fn(*mut Thread, what: u32, address: *const c_void, site: *const c_void),
    pub watch_first: Cell<usize>,
    pub watch_end: Cell<usize>,
}

/// `rc_parameter`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub size: u32,
    pub align: u32,
}

/// `rc_entry`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Entry {
    pub name: *const c_char,
    pub run: extern "C-unwind" fn(*mut *mut c_void),
    pub parameters: *const Parameter,
    pub parameter_count: u32,
}

/// `rc_launch_record`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Record {
    pub written: u32,
    pub tile_m: u32,
    pub tile_n: u32,
    pub group_size: u32,
    pub blocks: u32,
    pub threads: u32,
}

/// `rc_module`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct ModuleTable {
    pub version: u32,
    pub entry_count: u32,
    pub entries: *const Entry,
    pub now: *mut *mut Thread,
    pub record: *mut Record,
    /// 1 where accesses report themselves.
    pub observed: u32,
}

/// Kinds of event; the low byte of `what`.
pub(crate) mod kind {
    pub(crate) const BARRIER: u32 = 0;
    pub(crate) const SPIN: u32 = 1;
    pub(crate) const TILE_STEP: u32 = 2;
    pub(crate) const ATOMIC_LOAD: u32 = 3;
    pub(crate) const ATOMIC_STORE: u32 = 4;
    pub(crate) const ATOMIC_RMW: u32 = 5;
    pub(crate) const FENCE: u32 = 6;
    pub(crate) const READ: u32 = 7;
    pub(crate) const WRITE: u32 = 8;
    pub(crate) const VOLATILE_READ: u32 = 9;
    pub(crate) const VOLATILE_WRITE: u32 = 10;
    /// A compare-and-swap begins: a place to switch; what it did is reported behind it.
    pub(crate) const COMPARE_AND_SWAP: u32 = 11;
    pub(crate) const PACKET_STORE: u32 = 12;
    pub(crate) const PACKET_LOAD: u32 = 13;
    pub(crate) const PACKET_MATCH: u32 = 14;
    pub(crate) const WAVE_BARRIER: u32 = 15;
    /// A check of the compiler's failed; the address is that of a [`super::Violation`].
    pub(crate) const MISALIGNED: u32 = 16;
    pub(crate) const INDEX: u32 = 17;
    /// An access beside the block's shared memory.
    pub(crate) const OUTSIDE_SHARED: u32 = 18;
    pub(crate) const OUTSIDE_SHARED_STORE: u32 = 19;
    /// In the low byte: only a report, never a place to switch.
    pub(crate) const REPORT_ONLY: u32 = 0x80;
    /// Inside the executor: another thread may go first.
    pub(crate) const SWITCH: u32 = 0x7f;
}
