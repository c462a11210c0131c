//! What running fibers and the engine share.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use super::block::Block;
use super::launch::RankLaunch;
use super::outcome::LISTED;
use super::violation::{Violation, ViolationKind};
use crate::object::abi;
use crate::observe::access::ThreadId;
use crate::observe::observer::Observer;
use crate::schedule::contract::Switches;

/// What running fibers share with the engine. It lives on the stack of [`run`](super::run).
pub(super) struct Shared {
    pub(super) host: abi::Host,
    /// Whether a thread did something that others may wait for.
    pub(super) progress: Cell<bool>,
    /// Whether memory other than a fiber's own stack may have changed.
    pub(super) wrote: Cell<bool>,
    /// Addresses of flags that were written since the engine looked last.
    pub(super) stored: RefCell<Vec<usize>>,
    pub(super) switches: Switches,
    /// Whether the end of a tile is a place to switch. Among the blocks of one rank it is not: a
    /// switch costs more than the better order of stores gains.
    pub(super) tile_steps: bool,
    /// What the observer wants to see.
    pub(super) watched: Range<usize>,
    /// Whether the observer wants to see block-shared memory.
    pub(super) watches_shared_memory: bool,
    /// The addresses whose plain accesses kernels report as a rule: those that the observer wants
    /// to see and those at which the schedule switches.
    pub(super) reported: Range<usize>,
    /// Used by [`Shared::observe`] alone.
    pub(super) observer: *mut dyn Observer,
    /// What no GPU would let pass, once for each place.
    pub(super) violations: RefCell<Vec<Violation>>,
}

impl Shared {
    /// Gives the observer to `tell`, which must neither resume a fiber nor call this again.
    pub(super) fn observe<R>(&self, tell: impl FnOnce(&mut dyn Observer) -> R) -> R {
        // SAFETY: the pointer comes from the `&mut dyn Observer` given to `run`, whose borrow lasts
        // longer than `self`. The engine and all fibers run on one OS thread, and `tell` calls the
        // observer's methods only, which know neither the engine nor `Shared`: so no other
        // reference to the observer exists meanwhile.
        tell(unsafe { &mut *self.observer })
    }

    /// Notes something that no GPU would let pass, once for each place.
    pub(super) fn add_violation(&self, violation: Violation) {
        let mut violations = self.violations.borrow_mut();
        if violations.len() < LISTED && !violations.iter().any(|other| other.is_like(&violation)) {
            violations.push(violation);
        }
    }

    /// Notes what a block wrote beside its shared memory, if no access was seen to do it.
    pub(super) fn note_overrun(&self, launch: &RankLaunch<'_>, block: &Block) {
        let seen =
            |violation: &Violation| matches!(violation.what, ViolationKind::OutsideShared { .. });
        if self.violations.borrow().iter().any(seen) {
            return;
        }
        if let Some(what) = block.shared.overrun() {
            let RankLaunch { rank, call, .. } = *launch;
            let thread = ThreadId { rank, call, block: block.index, thread: 0 };
            self.add_violation(Violation { thread, site: None, what });
        }
    }

    /// Makes kernels report their plain accesses to these addresses.
    pub(super) fn ask_for(&self, addresses: &Range<usize>) {
        self.host.watch_first.set(addresses.start);
        self.host.watch_end.set(addresses.end);
    }
}
