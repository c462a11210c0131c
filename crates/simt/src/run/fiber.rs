//! A fiber: the threads of a block, one after another, until one of them suspends.

use std::cell::Cell;
use std::ffi::c_void;
use std::ops::Range;

use collectives::Rank;
use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::block::{Block, BlockProgress};
use super::block_buffer::{BlockBuffer, GUARD_BYTES};
use super::decode::next_of;
use super::fault;
use super::launch::RankLaunch;
use super::shared::Shared;
use super::stack::FiberStack;
use crate::object::abi::{self, Dim3, kind};
use crate::observe::access::ThreadId;
use crate::observe::next::Next;

/// What a fiber's thread points to.
pub(super) struct Link {
    pub(super) yielder: Cell<*const Yielder<(), Suspension>>,
    /// (site, address) of the last atomics, as long as nothing else happened since.
    pub(super) last_atomics: Cell<Polled>,
    /// (address, bytes) of the last atomic or volatile load.
    pub(super) last_load: Cell<(usize, u32)>,
    /// The stack, from its lowest address to where the fiber began.
    pub(super) stack: Range<usize>,
    /// The block's shared memory.
    pub(super) buffer: *const BlockBuffer,
    /// Below this address nothing of the kernel's lies on the stack while the fiber is suspended.
    pub(super) frame: Cell<usize>,
    pub(super) rank: Rank,
    pub(super) call: u32,
    pub(super) object_base: usize,
    pub(super) shared: *const Shared,
}

/// A loop that waits for several flags looks at no more than this many in turn.
pub(super) type Polled = [(usize, usize); 4];

/// A loop that waits makes no more looks in one round.
pub(super) const TRAIL: usize = 8;

/// Why a fiber gave control back.
#[derive(Clone, Copy)]
pub(super) struct Suspension {
    pub(super) kind: u32,
    /// The event, as the kernel reported it.
    pub(super) what: u32,
    pub(super) site: usize,
    pub(super) address: usize,
    /// Bytes at the address; 0 where that is not known.
    pub(super) size: u32,
}

impl Suspension {
    fn is_look_before_which_it_may_switch(&self) -> bool {
        let looks = matches!(
            self.what & 0x7f,
            kind::ATOMIC_LOAD | kind::VOLATILE_READ | kind::PACKET_LOAD | kind::FENCE
        );
        self.kind == kind::SWITCH && looks
    }
}

/// The threads of a block from one of them on, with a stack and a state to go on from.
pub(super) struct Fiber {
    coroutine: Option<Coroutine<(), Suspension, (), FiberStack>>,
    /// Boxed, because the kernel and the coroutine point to it.
    pub(super) thread: Box<abi::Thread>,
    /// Boxed, because `thread` and the coroutine point to it.
    pub(super) link: Box<Link>,
    /// The key of its block.
    pub(super) block: usize,
    /// Why it gave control back last.
    pub(super) suspended: Option<Suspension>,
    /// Where it last waited for memory.
    pub(super) waited: Option<usize>,
    /// Its state in a wait that does not end by itself.
    pub(super) endless: Option<u64>,
    /// (site, address) of the last looks at which it could have been switched, in no order.
    pub(super) trail: [(usize, usize); TRAIL],
    /// Looks so far.
    pub(super) looks: usize,
    /// Where it did not stop waiting when it was let look many times.
    pub(super) patient: Option<usize>,
}

impl Fiber {
    /// A fiber that will run the threads of a block from the next one on. `key` is the block's.
    pub(super) fn new(
        key: usize,
        block: &mut Block,
        launch: &RankLaunch<'_>,
        arguments: *mut *mut c_void,
        shared: &Shared,
        stack: FiberStack,
    ) -> Fiber {
        let buffer = &mut *block.shared;
        let thread = Box::new(abi::Thread {
            thread: Dim3::default(),
            block: Dim3 { x: block.index, ..Dim3::default() },
            threads: Dim3 { x: launch.threads, y: 1, z: 1 },
            grid: Dim3 { x: launch.grid, y: 1, z: 1 },
            block_shared: buffer.block_shared(),
            dynamic_shared: buffer.dynamic_shared(),
            departed: buffer.departed(),
            host: &shared.host,
            fiber: std::ptr::null_mut(),
            clock: 0,
            shared_bytes: if shared.watches_shared_memory { buffer.span() } else { 0 },
            static_bytes: buffer.static_bytes(),
            dynamic_bytes: buffer.dynamic_bytes(),
            guard_bytes: GUARD_BYTES,
            compared: [[0; 2]; 4],
            compares: 0,
        });
        let link = Box::new(Link {
            yielder: Cell::new(std::ptr::null()),
            last_atomics: Cell::default(),
            last_load: Cell::new((0, 0)),
            stack: stack.range(),
            buffer,
            frame: Cell::new(0),
            rank: launch.rank,
            call: launch.call,
            object_base: launch.module.image().start,
            shared,
        });
        let mut fiber = Fiber {
            coroutine: None,
            thread,
            link,
            block: key,
            suspended: None,
            waited: None,
            endless: None,
            trail: Default::default(),
            looks: 0,
            patient: None,
        };
        fiber.thread.fiber = std::ptr::from_ref(&*fiber.link).cast_mut().cast();
        let work = ThreadLoop {
            run: launch.module.entry(launch.entry).expect("checked by `accepts`").run,
            arguments,
            thread: &mut *fiber.thread,
            link: &*fiber.link,
            progress: &*block.progress,
        };
        fiber.coroutine = Some(Coroutine::with_stack(stack, move |yielder, ()| work.run(yielder)));
        fiber
    }

    /// What it does first when it goes on.
    pub(super) fn next(&self) -> Next {
        self.suspended.as_ref().map_or(Next::BEGIN, next_of)
    }

    /// The thread that runs on it.
    pub(super) fn id(&self) -> ThreadId {
        let Link { rank, call, .. } = *self.link;
        ThreadId { rank, call, block: self.thread.block.x, thread: self.thread.thread.x }
    }

    /// Whether it looks where it has looked before, and might be switched there.
    pub(super) fn has_looked_at(&self, suspension: &Suspension) -> bool {
        suspension.is_look_before_which_it_may_switch()
            && self.trail.contains(&(suspension.site, suspension.address))
    }

    /// Goes on until it suspends (`Some`, which it notes) or its last thread has returned.
    pub(super) fn resume(&mut self) -> Option<Suspension> {
        let coroutine = self.coroutine.as_mut().expect("a fiber has a coroutine until it ends");
        match coroutine.resume(()) {
            CoroutineResult::Return(()) => None,
            CoroutineResult::Yield(suspension) => {
                self.suspended = Some(suspension);
                let here = (suspension.site, suspension.address);
                if suspension.is_look_before_which_it_may_switch() && !self.trail.contains(&here) {
                    self.trail[self.looks % TRAIL] = here;
                    self.looks += 1;
                }
                Some(suspension)
            }
        }
    }

    /// The stack of a fiber whose last thread has returned, or that will never go on.
    pub(super) fn into_stack(mut self) -> FiberStack {
        let mut coroutine = self.coroutine.take().expect("a fiber has a coroutine until it ends");
        if !coroutine.done() {
            // SAFETY: the fiber runs kernel code and the loop of `ThreadLoop`, neither of which
            // holds anything that must be dropped.
            unsafe { coroutine.force_reset() };
        }
        coroutine.into_stack()
    }
}

/// What a fiber executes: the block's threads, one after another, until none is left.
struct ThreadLoop {
    run: extern "C-unwind" fn(*mut *mut c_void),
    arguments: *mut *mut c_void,
    thread: *mut abi::Thread,
    link: *const Link,
    progress: *const BlockProgress,
}

impl ThreadLoop {
    fn run(self, yielder: &Yielder<(), Suspension>) {
        // SAFETY: `Fiber::new` took both pointers from boxes, of the fiber and of its block, which
        // live until the fiber has ended or was reset; one OS thread uses them.
        let (link, progress) = unsafe { (&*self.link, &*self.progress) };
        // SAFETY: `Fiber::new` took the pointer from a reference to the `Shared` of `run`, which
        // outlives all fibers.
        let shared = unsafe { &*link.shared };
        link.yielder.set(yielder);
        while let Some(thread) = progress.begin_next() {
            // SAFETY: the fiber's boxed thread, from `Fiber::new`. The kernel reads it through
            // `rc_now`; while the fiber runs, only this loop writes its index.
            let id = unsafe {
                (*self.thread).thread.x = thread;
                let Link { rank, call, .. } = *link;
                ThreadId { rank, call, block: (*self.thread).block.x, thread }
            };
            link.last_atomics.set(Polled::default());
            fault::running(id);
            shared.observe(|observer| observer.enters(id));
            (self.run)(self.arguments);
            progress.finish(thread);
            shared.observe(|observer| observer.exit(id));
        }
    }
}
