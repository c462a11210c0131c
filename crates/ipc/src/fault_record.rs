//! What a rank process writes down before it dies or when it is asked: which thread ran, where, and
//! on which address.
//!
//! The record lies in memory shared with the parent, which reads it when the process has died or
//! hangs. Signal handlers write it, so it is made of atomics.

use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};

/// A process's last words. It lives in shared memory; all zero is a valid empty record.
#[repr(C)]
#[derive(Debug, Default)]
pub struct FaultRecord {
    /// The signal that arrived; 0 where nothing happened.
    pub signal: AtomicI32,
    /// 1 while kernel code runs, else 0.
    pub in_kernel: AtomicU32,
    /// The faulting address; [`UNKNOWN`] or [`MISALIGNED`] where the processor does not say it,
    /// [`STACK`] where a fiber's stack ended.
    pub address: AtomicU64,
    /// The instruction, as an offset in the rank's object; [`OUTSIDE`] where it is elsewhere.
    pub site: AtomicU64,
    /// The rank of the thread that ran.
    pub rank: AtomicU32,
    /// The call of the thread that ran, among those of the run.
    pub call: AtomicU32,
    /// The block of the thread that ran.
    pub block: AtomicU32,
    /// The index, in its block, of the thread that ran.
    pub thread: AtomicU32,
    /// Where a thread last waited for memory, as an offset in its object, plus one; 0 for nowhere.
    pub waited: AtomicU64,
    /// How many times the process has answered "where are you?".
    pub answers: AtomicU32,
}

/// Which kernel thread ran in a process, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunningThread {
    /// Its rank in the world.
    pub rank: u32,
    /// Its call, among those of the run.
    pub call: u32,
    /// Its block.
    pub block: u32,
    /// Its index in the block.
    pub thread: u32,
    /// Its instruction if that lies in the object, else the place where a thread of this process last
    /// waited; an offset in the object. `None` where neither is known.
    pub site: Option<usize>,
}

/// A site that is no instruction of the kernel.
pub const OUTSIDE: u64 = u64::MAX;
/// An address that no pointer can hold: the processor refuses it without saying which it was.
pub const UNKNOWN: u64 = u64::MAX;
/// Some address that is not a multiple of sixteen, where the instruction needs one that is.
pub const MISALIGNED: u64 = u64::MAX - 1;
/// An address below the end of the running fiber's stack.
pub const STACK: u64 = u64::MAX - 2;

impl FaultRecord {
    /// The thread that ran last.
    pub fn running(&self) -> RunningThread {
        let waited = self.waited.load(Ordering::Acquire).checked_sub(1);
        let site = match self.site.load(Ordering::Acquire) {
            OUTSIDE => waited,
            site => Some(site),
        };
        RunningThread {
            rank: self.rank.load(Ordering::Acquire),
            call: self.call.load(Ordering::Acquire),
            block: self.block.load(Ordering::Acquire),
            thread: self.thread.load(Ordering::Acquire),
            site: site.map(|site| site as usize),
        }
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.signal.store(0, Ordering::Relaxed);
        self.in_kernel.store(0, Ordering::Relaxed);
        self.address.store(0, Ordering::Relaxed);
        self.site.store(OUTSIDE, Ordering::Relaxed);
        self.waited.store(0, Ordering::Relaxed);
    }
}
