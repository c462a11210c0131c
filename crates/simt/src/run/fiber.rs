//! A fiber: the threads of a block, one after another, until one of them suspends.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::ops::Range;

use collectives::Rank;
use corosensei::{Coroutine, Yielder};

use super::block_buffer::BlockBuffer;
use super::decode::next_of;
use super::fault;
use super::outcome::LISTED;
use super::stack::FiberStack;
use super::violation::Violation;
use crate::object::abi::{self, WAVE};
use crate::observe::access::ThreadId;
use crate::observe::next::Next;
use crate::observe::observer::Observer;
use crate::schedule::contract::Switches;

/// What running fibers share with the engine. Lives on the stack of [`run`].
pub(crate) struct Shared {
    pub(crate) host: abi::Host,
    /// Somebody did something that others may wait for.
    pub(crate) progress: Cell<bool>,
    /// Memory other than a fiber's own stack may have changed.
    pub(crate) wrote: Cell<bool>,
    /// Addresses of flags that were written since the engine looked last.
    pub(crate) stored: RefCell<Vec<usize>>,
    pub(crate) switches: Switches,
    /// Whether the end of a tile is a place to switch. Among the blocks of one rank it is not: a
    /// switch costs more than the better order of stores gains.
    pub(crate) tile_steps: bool,
    /// What the observer wants to see.
    pub(crate) watched: Range<usize>,
    /// Whether the observer wants to see block-shared memory.
    pub(crate) watches_shared_memory: bool,
    /// What kernels report as a rule: that, and where the schedule switches.
    pub(crate) reported: Range<usize>,
    pub(crate) observer: *mut dyn Observer,
    /// What no GPU would let pass, one a place.
    pub(crate) violations: RefCell<Vec<Violation>>,
}

impl Shared {
    /// Notes something that no GPU would let pass, once a place.
    pub(crate) fn accuse(&self, violation: Violation) {
        let mut violations = self.violations.borrow_mut();
        if violations.len() < LISTED && !violations.iter().any(|other| other.is_like(&violation)) {
            violations.push(violation);
        }
    }

    /// Makes kernels report their plain accesses to these addresses.
    pub(crate) fn ask_for(&self, addresses: &Range<usize>) {
        self.host.watch_first.set(addresses.start);
        self.host.watch_end.set(addresses.end);
    }
}

/// What a fiber's thread points to.
pub(crate) struct Link {
    pub(crate) yielder: Cell<*const Yielder<(), Suspension>>,
    /// (site, address) of the last atomics, as long as nothing else happened since.
    pub(crate) last_atomics: Cell<Polled>,
    /// (address, bytes) of the last atomic or volatile load.
    pub(crate) last_load: Cell<(usize, u32)>,
    /// The stack, from its lowest address to where the fiber began.
    pub(crate) stack: Range<usize>,
    /// The block's shared memory.
    pub(crate) buffer: *const BlockBuffer,
    /// Below this address nothing of the kernel's lies on the stack while the fiber is suspended.
    pub(crate) frame: Cell<usize>,
    pub(crate) rank: Rank,
    pub(crate) object_base: usize,
    pub(crate) shared: *const Shared,
}

/// A loop that waits for several flags looks at no more than this many in turn.
pub(crate) type Polled = [(usize, usize); 4];

/// Why a fiber gave control back.
#[derive(Clone, Copy)]
pub(crate) struct Suspension {
    pub(crate) kind: u32,
    /// The event, as the kernel reported it.
    pub(crate) what: u32,
    pub(crate) site: usize,
    pub(crate) address: usize,
    /// Bytes at the address; 0 where that is not known.
    pub(crate) size: u32,
}

pub(crate) struct Fiber {
    pub(crate) coroutine: Option<Coroutine<(), Suspension, (), FiberStack>>,
    pub(crate) thread: Box<abi::Thread>,
    pub(crate) link: Box<Link>,
    pub(crate) block: usize,
    pub(crate) suspended: Option<Suspension>,
    /// Where it last waited for memory.
    pub(crate) waited: Option<usize>,
}

/// What a block's fibers count.
pub(crate) struct BlockProgress {
    /// The next thread that has not begun.
    pub(crate) next: Cell<u32>,
    /// It is about to begin on a fiber of its own.
    pub(crate) begins: Cell<bool>,
    pub(crate) finished: Cell<u32>,
    /// By wave.
    pub(crate) finished_in_wave: Vec<Cell<u32>>,
    pub(crate) threads: u32,
}

impl BlockProgress {
    pub(crate) fn new(threads: u32) -> BlockProgress {
        BlockProgress {
            next: Cell::new(0),
            begins: Cell::new(false),
            finished: Cell::new(0),
            finished_in_wave: vec![Cell::new(0); threads.div_ceil(WAVE) as usize],
            threads,
        }
    }

    /// The threads of a wave.
    pub(crate) fn wave(&self, wave: u32) -> Range<u32> {
        wave * WAVE..self.threads.min((wave + 1) * WAVE)
    }
}

impl Fiber {
    /// What it does first when it goes on.
    pub(crate) fn next(&self) -> Next {
        self.suspended.as_ref().map_or(Next::BEGIN, next_of)
    }

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
        while progress.next.get() < progress.threads && !progress.begins.get() {
            let thread = progress.next.get();
            progress.next.set(thread + 1);
            // SAFETY: as above; the kernel reads it through `rc_now`, and nobody else writes.
            let id = unsafe {
                (*self.thread).thread.x = thread;
                ThreadId { rank: link.rank, block: (*self.thread).block.x, thread }
            };
            link.last_atomics.set(Polled::default());
            fault::running(id);
            // SAFETY: the observer outlives the run; the engine does not use it meanwhile.
            unsafe { (*(*link.shared).observer).enters(id) };
            (self.run)(self.arguments);
            progress.finished.set(progress.finished.get() + 1);
            let in_wave = &progress.finished_in_wave[(thread / WAVE) as usize];
            in_wave.set(in_wave.get() + 1);
            // SAFETY: the observer outlives the run; the engine does not use it meanwhile.
            unsafe { (*(*link.shared).observer).exit(id) };
        }
    }
}
