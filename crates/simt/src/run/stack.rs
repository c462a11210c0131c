//! Fiber stacks, pooled: a fresh mapping costs a thousand times what a used one does.

use std::cell::RefCell;

use corosensei::stack::{Stack, StackPointer};

/// Bytes of a stack. Untouched pages cost nothing.
pub const STACK_BYTES: usize = 256 << 10;
pub(crate) const PAGE: usize = 4096;
/// A process has 65,530 mappings and a guarded stack takes two, so only the first ones get a
/// guard page; the others have a canary.
const GUARDED: usize = 8192;
const CANARY: u64 = 0x5afe_57ac_c0de_ca4e;

/// Stacks begin at different offsets in their pages, or the tops of all of them would compete for
/// the same few lines of the cache.
const COLOURS: usize = 61;
const COLOUR_BYTES: usize = 192;

/// One stack; its memory stays mapped until the pool goes.
#[derive(Debug)]
pub(crate) struct FiberStack {
    low: usize,
    /// Bytes left free above its top.
    colour: usize,
    guarded: bool,
}

// SAFETY: `low..low + STACK_BYTES` is mapped readable and writable (above the guard page, if there
// is one) for as long as the pool lives, and a stack is handed out to one fiber at a time.
unsafe impl Stack for FiberStack {
    fn base(&self) -> StackPointer {
        StackPointer::new(self.low + STACK_BYTES - self.colour)
            .expect("a mapping is not at address zero")
    }
    fn limit(&self) -> StackPointer {
        StackPointer::new(self.low).expect("a mapping is not at address zero")
    }
}

impl FiberStack {
    /// Where it lies.
    pub(crate) fn range(&self) -> std::ops::Range<usize> {
        self.low..self.low + STACK_BYTES
    }

    /// Whether the lowest word is untouched.
    pub(crate) fn is_whole(&self) -> bool {
        // SAFETY: the lowest word above the guard page of a mapped stack; no fiber runs on it now.
        self.guarded || unsafe { (self.low as *const u64).read_volatile() == CANARY }
    }
}

/// Stacks to hand out.
#[derive(Debug, Default)]
pub(crate) struct StackPool {
    free: Vec<FiberStack>,
    mapped: Vec<usize>,
}

thread_local! {
    /// The pool of the run before, for the next one on this OS thread.
    static KEPT: RefCell<StackPool> = RefCell::default();
}

impl StackPool {
    /// What earlier runs of this OS thread have mapped.
    pub(crate) fn kept() -> StackPool {
        KEPT.take()
    }

    /// Keeps the stacks for the next run. None may be handed out.
    pub(crate) fn keep(self) {
        KEPT.set(self);
    }

    /// A stack, used or fresh. Panics when no memory can be mapped.
    pub(crate) fn take(&mut self) -> FiberStack {
        self.free.pop().unwrap_or_else(|| self.map())
    }

    pub(crate) fn give_back(&mut self, stack: FiberStack) {
        self.free.push(stack);
    }

    fn map(&mut self) -> FiberStack {
        use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};
        let guarded = self.mapped.len() < GUARDED;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        let bytes = STACK_BYTES + if guarded { PAGE } else { 0 };
        // SAFETY: a new anonymous mapping at an address of the kernel's choice.
        let low = unsafe { mmap_anonymous(std::ptr::null_mut(), bytes, protection, flags) }
            .expect("memory for a fiber stack") as usize;
        let colour = self.mapped.len() % COLOURS * COLOUR_BYTES;
        self.mapped.push(low);
        if guarded {
            // SAFETY: the first page of the mapping just made.
            unsafe { mprotect(low as *mut _, PAGE, MprotectFlags::empty()) }
                .expect("a guard page under a fiber stack");
            FiberStack { low: low + PAGE, colour, guarded }
        } else {
            // SAFETY: the lowest word of the mapping just made.
            unsafe { (low as *mut u64).write(CANARY) };
            FiberStack { low, colour, guarded }
        }
    }
}

impl Drop for StackPool {
    fn drop(&mut self) {
        for (index, low) in self.mapped.iter().enumerate() {
            let bytes = STACK_BYTES + if index < GUARDED { PAGE } else { 0 };
            // SAFETY: mapped by `map`, and no fiber outlives the pool.
            let _ = unsafe { rustix::mm::munmap(*low as *mut _, bytes) };
        }
    }
}
