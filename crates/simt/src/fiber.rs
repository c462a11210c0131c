//! A fiber: the threads of a block, one after another, until one of them suspends.

use std::cell::Cell;
use std::ffi::c_void;

use collectives::Rank;
use corosensei::{Coroutine, Yielder};

use crate::abi;
use crate::fault;
use crate::observer::{Observer, ThreadId};
use crate::stack::FiberStack;

/// What running fibers share with the engine. Lives on the stack of [`run`].
pub(crate) struct Shared {
    pub(crate) host: abi::Host,
    /// Somebody did something that others may wait for.
    pub(crate) progress: Cell<bool>,
    pub(crate) observer: *mut dyn Observer,
}

/// What a fiber's thread points to.
pub(crate) struct Link {
    pub(crate) yielder: Cell<*const Yielder<(), Suspension>>,
    /// (site, address) of the last atomic, as long as nothing else happened since.
    pub(crate) last_atomic: Cell<(usize, usize)>,
    pub(crate) rank: Rank,
    pub(crate) object_base: usize,
    pub(crate) shared: *const Shared,
}

/// Why a fiber gave control back.
#[derive(Clone, Copy)]
pub(crate) struct Suspension {
    pub(crate) kind: u32,
    pub(crate) site: usize,
    pub(crate) address: usize,
}

pub(crate) struct Fiber {
    pub(crate) coroutine: Option<Coroutine<(), Suspension, (), FiberStack>>,
    pub(crate) thread: Box<abi::Thread>,
    pub(crate) link: Box<Link>,
    pub(crate) block: usize,
    pub(crate) suspended: Option<Suspension>,
}

/// What a block's fibers count.
pub(crate) struct BlockProgress {
    /// The next thread that has not begun.
    pub(crate) next: Cell<u32>,
    pub(crate) finished: Cell<u32>,
    pub(crate) threads: u32,
}

impl Fiber {
    pub(crate) fn id(&self) -> ThreadId {
        ThreadId { rank: self.link.rank, block: self.thread.block.x, thread: self.thread.thread.x }
    }
}

/// What a fiber executes: the block's threads, one after another, until none is left.
pub(crate) struct ThreadLoop {
    pub(crate) run: extern "C-unwind" fn(*mut *mut c_void),
    pub(crate) arguments: *mut *mut c_void,
    pub(crate) thread: *mut abi::Thread,
    pub(crate) link: *const Link,
    pub(crate) progress: *const BlockProgress,
}

impl ThreadLoop {
    pub(crate) fn run(self, yielder: &Yielder<(), Suspension>) {
        // SAFETY: the fiber, its link and its block are boxed and live until the fiber has ended
        // or was reset; all of them are used by one OS thread only.
        let (link, progress) = unsafe { (&*self.link, &*self.progress) };
        link.yielder.set(yielder);
        while progress.next.get() < progress.threads {
            let thread = progress.next.get();
            progress.next.set(thread + 1);
            // SAFETY: as above; the kernel reads it through `rc_now`, and nobody else writes.
            let id = unsafe {
                (*self.thread).thread.x = thread;
                ThreadId { rank: link.rank, block: (*self.thread).block.x, thread }
            };
            link.last_atomic.set((0, 0));
            fault::running(id);
            (self.run)(self.arguments);
            progress.finished.set(progress.finished.get() + 1);
            // SAFETY: the observer outlives the run; the engine does not use it meanwhile.
            unsafe { (*(*link.shared).observer).exit(id) };
        }
    }
}
