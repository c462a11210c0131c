//! What kernels call: every barrier, wait, atomic and (in observed builds) access.

use std::ffi::c_void;

use super::decode::{operation, order, scope};
use super::fiber::{Link, Polled, Suspension};
use super::quiescence::scrub_stack;
use super::shared::Shared;
use super::violation::Violation;
use crate::object::abi::{self, kind};
use crate::observe::access::{Access, Operation, ThreadId};
use crate::observe::observer::Observer;
use crate::observe::shared_memory;
use crate::schedule::contract::Switches;

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
        thread: ThreadId {
            rank: link.rank,
            call: link.call,
            block: thread.block.x,
            thread: thread.thread.x,
        },
        what,
        address: address as usize,
        shared_offset: (address as usize)
            .checked_sub(thread.block_shared as usize)
            .filter(|offset| *offset < thread.shared_bytes),
        // A return address; the call stands in front of it.
        site: (site as usize).wrapping_sub(link.object_base + 1),
    };
    event.note_violation(link, shared);
    let suspends = event.suspends(link, shared);
    if let Some(kind) = suspends {
        // A thread that says it waits reads, as far as is known, what it read last.
        let (address, size) = match event.kind() {
            kind::SPIN => link.last_load.get(),
            _ => (event.address, event.size()),
        };
        link.frame.set(std::ptr::from_ref(&event) as usize);
        if kind == kind::SPIN {
            scrub_stack();
        }
        let suspension = Suspension { kind, what, site: event.site, address, size };
        // SAFETY: set when the fiber began; it lives as long as the fiber.
        unsafe { (*link.yielder.get()).suspend(suspension) };
    }
    event.note_change(link, shared, suspends == Some(kind::SPIN));
    shared.observe(|observer| event.report(shared, observer));
}

struct Event {
    thread: ThreadId,
    what: u32,
    address: usize,
    /// How far from the start of the block's shared memory, if it is watched and there.
    shared_offset: Option<usize>,
    site: usize,
}

impl Event {
    fn kind(&self) -> u32 {
        self.what & 0x7f
    }

    fn size(&self) -> u32 {
        self.what >> 24
    }

    /// Notes what no GPU would let pass.
    fn note_violation(&self, link: &Link, shared: &Shared) {
        if let kind::OUTSIDE_SHARED | kind::OUTSIDE_SHARED_STORE = self.kind() {
            let stores = self.kind() == kind::OUTSIDE_SHARED_STORE;
            // SAFETY: the block outlives its fibers; only a `Vec`'s address and length are read.
            let what = unsafe { &*link.buffer }.side(self.address, self.size().into(), stores);
            shared.add_violation(Violation { thread: self.thread, site: Some(self.site), what });
        } else if let Some(violation) =
            Violation::reported(self.thread, self.site, self.what, self.address)
        {
            shared.add_violation(violation);
        }
    }

    /// Whether the fiber gives control back first, and as what. A thread that polls (the same
    /// atomics at the same places, with nothing in between) waits, whether it says so or not.
    fn suspends(&self, link: &Link, shared: &Shared) -> Option<u32> {
        if self.what & kind::REPORT_ONLY != 0 {
            return None;
        }
        match self.kind() {
            kind::TILE_STEP if !shared.tile_steps => None,
            kind::BARRIER | kind::WAVE_BARRIER | kind::TILE_STEP | kind::SPIN => {
                link.last_atomics.set(Polled::default());
                Some(self.kind())
            }
            kind::ATOMIC_LOAD
            | kind::VOLATILE_READ
            | kind::PACKET_LOAD
            | kind::ATOMIC_RMW
            | kind::COMPARE_AND_SWAP => {
                link.last_load.set((self.address, self.size()));
                let polls = self.polls(link);
                if !polls && self.kind() == kind::ATOMIC_RMW {
                    shared.progress.set(true);
                }
                if polls { Some(kind::SPIN) } else { self.gives_way(shared) }
            }
            kind::ATOMIC_STORE | kind::VOLATILE_WRITE | kind::PACKET_STORE => {
                link.last_atomics.set(Polled::default());
                self.gives_way(shared)
            }
            _ => {
                let way = self.gives_way(shared);
                if way.is_some() {
                    link.last_atomics.set(Polled::default());
                }
                way
            }
        }
    }

    /// Whether the thread has been here before and done nothing since but look at other places.
    fn polls(&self, link: &Link) -> bool {
        let here = (self.site, self.address);
        let mut last = link.last_atomics.get();
        let polls = last.contains(&here);
        if polls {
            // It will look at all of them again before it waits again.
            last = Polled::default();
        }
        last.rotate_right(1);
        last[0] = here;
        link.last_atomics.set(last);
        polls
    }

    /// Whether others may go first, though the thread need not wait.
    fn gives_way(&self, shared: &Shared) -> Option<u32> {
        let plain = matches!(self.kind(), kind::READ | kind::WRITE);
        let gives = match &shared.switches {
            Switches::Waits => false,
            Switches::Synchronisation => !plain,
            Switches::Accesses(heaps) => !plain || heaps.contains(&self.address),
        };
        gives.then_some(kind::SWITCH)
    }

    /// Notes that memory changes, and who may wait for that.
    fn note_change(&self, link: &Link, shared: &Shared, polls: bool) {
        match self.kind() {
            kind::ATOMIC_STORE | kind::VOLATILE_WRITE | kind::PACKET_STORE => {
                shared.progress.set(true);
            }
            // A polling update most likely writes what was there, which cannot be told: it wakes no
            // thread, and no deadlock is proved.
            kind::ATOMIC_RMW if polls => return shared.wrote.set(true),
            kind::ATOMIC_RMW => {}
            kind::WRITE if !link.stack.contains(&self.address) => return shared.wrote.set(true),
            _ => return,
        }
        shared.wrote.set(true);
        shared.stored.borrow_mut().push(self.address);
    }

    fn report(&self, shared: &Shared, observer: &mut dyn Observer) {
        if self.kind() == kind::FENCE {
            return observer.fence(self.thread, order(self.what), scope(self.what), self.site);
        }
        let Some(operation) = operation(self.kind()) else { return };
        let access = Access {
            thread: self.thread,
            operation,
            order: order(self.what),
            scope: scope(self.what),
            address: match self.shared_offset {
                Some(offset) => {
                    shared_memory::address_of(self.thread.rank, self.thread.block, offset)
                }
                None => self.address,
            },
            size: self.size(),
            site: self.site,
        };
        match operation {
            Operation::AtomicLoad
            | Operation::AtomicStore
            | Operation::AtomicUpdate
            | Operation::PacketStore
            | Operation::PacketLoad
            | Operation::PacketMatch => observer.atomic(&access),
            Operation::VolatileRead | Operation::VolatileWrite => observer.access(&access),
            // The kernel may report more than the observer asked for.
            Operation::Read | Operation::Write => {
                let end = self.address + access.size as usize;
                let watched = end > shared.watched.start && self.address < shared.watched.end;
                if watched || self.shared_offset.is_some() {
                    observer.access(&access);
                }
            }
        }
    }
}
