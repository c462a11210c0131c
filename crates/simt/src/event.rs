//! What kernels call: every barrier, wait, atomic and (in observed builds) access.

use std::ffi::c_void;

use crate::abi::{self, kind};
use crate::fiber::{Link, Shared, Suspension};
use crate::observer::{Access, Observer, Operation, Order, Scope, ThreadId};

/// Called by kernels; see `rc_call_host`.
pub(crate) extern "C-unwind" fn on_event(
    thread: *mut abi::Thread,
    what: u32,
    address: *const c_void,
    site: *const c_void,
) {
    // SAFETY: the executor set `rc_now`, and in it `fiber`, before it resumed this fiber.
    let (thread, link) = unsafe { (&*thread, &*(*thread).fiber.cast::<Link>()) };
    // SAFETY: `Shared` lives until `run` returns.
    let shared = unsafe { &*link.shared };
    let event = Event {
        thread: ThreadId { rank: link.rank, block: thread.block.x, thread: thread.thread.x },
        what,
        address: address as usize,
        // A return address; the call stands in front of it.
        site: (site as usize).wrapping_sub(link.object_base + 1),
    };
    // A thread that says it waits reads, as far as anybody knows, what it read last.
    let address = match event.kind() {
        kind::SPIN => link.last_atomic.get().1,
        _ => event.address,
    };
    if let Some(kind) = event.suspends(link, shared) {
        let suspension = Suspension { kind, site: event.site, address };
        // SAFETY: set when the fiber began; it lives as long as the fiber.
        unsafe { (*link.yielder.get()).suspend(suspension) };
    }
    // SAFETY: the observer outlives the run, and the engine does not use it while a fiber runs.
    event.report(unsafe { &mut *shared.observer });
}

struct Event {
    thread: ThreadId,
    what: u32,
    address: usize,
    site: usize,
}

impl Event {
    fn kind(&self) -> u32 {
        self.what & 0xff
    }

    /// Whether the fiber gives control back first, and as what. A thread that polls (the same
    /// atomic at the same place, with nothing in between) waits, whether it says so or not.
    fn suspends(&self, link: &Link, shared: &Shared) -> Option<u32> {
        match self.kind() {
            kind::BARRIER | kind::TILE_STEP => {
                link.last_atomic.set((0, 0));
                Some(self.kind())
            }
            kind::SPIN => {
                link.last_atomic.set((0, 0));
                Some(kind::SPIN)
            }
            kind::ATOMIC_LOAD | kind::VOLATILE_READ | kind::ATOMIC_RMW => {
                let polls = link.last_atomic.replace((self.site, self.address))
                    == (self.site, self.address);
                if !polls && self.kind() == kind::ATOMIC_RMW {
                    shared.progress.set(true);
                }
                polls.then_some(kind::SPIN)
            }
            kind::ATOMIC_STORE | kind::VOLATILE_WRITE => {
                shared.progress.set(true);
                link.last_atomic.set((0, 0));
                None
            }
            _ => None,
        }
    }

    fn report(&self, observer: &mut dyn Observer) {
        let operation = match self.kind() {
            kind::READ => Operation::Read,
            kind::WRITE => Operation::Write,
            kind::VOLATILE_READ => Operation::VolatileRead,
            kind::VOLATILE_WRITE => Operation::VolatileWrite,
            kind::ATOMIC_LOAD => Operation::AtomicLoad,
            kind::ATOMIC_STORE => Operation::AtomicStore,
            kind::ATOMIC_RMW => Operation::AtomicUpdate,
            kind::FENCE => {
                return observer.fence(self.thread, self.order(), self.scope(), self.site);
            }
            _ => return,
        };
        let access = Access {
            thread: self.thread,
            operation,
            order: self.order(),
            scope: self.scope(),
            address: self.address,
            size: self.what >> 24,
            site: self.site,
        };
        match operation {
            Operation::AtomicLoad | Operation::AtomicStore | Operation::AtomicUpdate => {
                observer.atomic(&access);
            }
            Operation::Read
            | Operation::Write
            | Operation::VolatileRead
            | Operation::VolatileWrite => observer.access(&access),
        }
    }

    fn order(&self) -> Order {
        match self.what >> 8 & 0xff {
            0 => Order::Relaxed,
            1 => Order::Acquire,
            2 => Order::Release,
            3 => Order::AcquireRelease,
            _ => Order::SequentiallyConsistent,
        }
    }

    fn scope(&self) -> Scope {
        match self.what >> 16 & 0xff {
            0 => Scope::Wave,
            1 => Scope::Block,
            2 => Scope::Agent,
            _ => Scope::System,
        }
    }
}
