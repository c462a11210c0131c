//! Waits that may end by themselves: found, and ended.
//!
//! A loop that waits and does nothing else comes back to the state in which it was. One that counts its
//! looks, or reads a clock, does not: on a real machine it may give up before the flag comes, in any
//! schedule. So a thread that begins to wait looks again at once, and where its state differs it can
//! be told to give up: it then looks until it stops waiting.

use slab::Slab;

use super::engine::{EVERYWHERE, Engine};
use super::fiber::{Fiber, Suspension, TRAIL};
use super::outcome::{LISTED, OpenWait, Unexplored};
use super::quiescence::state;
use super::waiting::value_at;
use crate::object::abi::kind;
use crate::observe::next::Next;
use crate::schedule::contract::{Ready, Schedule, Task};

/// Looks that tell a loop which counts from one that does not: in the first one, registers may still hold
/// what was there before the loop.
const LOOKS: usize = 2;
/// Looks after which a thread that was told to give up goes on waiting.
const MOST_LOOKS: usize = 1 << 16;

impl Engine<'_, '_> {
    /// The thread that gives up its wait now, if the schedule says so.
    pub(super) fn gives_up(&mut self, schedule: &mut dyn Schedule) -> Option<Ready> {
        if self.bounded.is_empty() {
            return None;
        }
        let fibers = &self.fibers;
        let look = |ready: &Ready| first_of(fibers, ready);
        let index = schedule.gives_up(&self.bounded, &self.ready, &look)?;
        let next = self.bounded.swap_remove(index);
        if let Task::GiveUp(fiber) = next.task {
            self.waiting.take_one(fiber);
        }
        Some(next)
    }

    /// Where a fiber has begun to wait for memory: what it does when it looks again, and whether its wait
    /// may end by itself. A state in which it looks the same again is the same wait.
    pub(super) fn look_again(
        &mut self,
        id: usize,
        suspension: Option<Suspension>,
    ) -> (Option<Suspension>, bool) {
        let Some(wait) = suspension.filter(|_| self.provable).filter(waits_for_memory) else {
            return (suspension, false);
        };
        // Asked first: such a thread may look ten million times, and its state is long.
        if self.fibers[id].patient == Some(wait.site) {
            return (suspension, false);
        }
        let mut before = state(&self.fibers[id]);
        if self.fibers[id].endless == Some(before) {
            return (suspension, false);
        }
        for _ in 0..LOOKS {
            let standing = value_at(wait.address, wait.size);
            let (again, wrote) = self.look_once(id);
            if !again.is_some_and(|again| is_same_wait(&again, &wait)) {
                self.leave_open(id, wait.site, Unexplored::GivesUpEarly);
                return (again, false);
            }
            let changed = value_at(wait.address, wait.size) != standing;
            // A polling update counts as a write whether it changes anything or not.
            let writes = changed || (wrote && wait.what & 0x7f != kind::ATOMIC_RMW);
            if writes {
                self.leave_open(id, wait.site, Unexplored::Writes);
            }
            let now = state(&self.fibers[id]);
            if now == before && !writes {
                self.fibers[id].endless = Some(now);
                return (again, false);
            }
            before = now;
        }
        (self.fibers[id].suspended, true)
    }

    /// Lets a fiber look once, and says whether it wrote anything, wherever that is.
    fn look_once(&mut self, id: usize) -> (Option<Suspension>, bool) {
        let host = &self.shared.host;
        let reported = host.watch_first.get()..host.watch_end.get();
        let before = self.shared.wrote.replace(false);
        self.shared.ask_for(&EVERYWHERE);
        let mut again = self.go_on(id, true);
        // Where the schedule may switch at a look, the loop suspends there too.
        let mut passed = 0;
        while passed < TRAIL && again.is_some_and(|s| self.fibers[id].has_looked_at(&s)) {
            again = self.go_on(id, true);
            passed += 1;
        }
        self.shared.ask_for(&reported);
        let wrote = self.shared.wrote.get();
        self.shared.wrote.set(before || wrote);
        (again, wrote)
    }

    /// A fiber that waits looks until it does not, or has looked very often.
    pub(super) fn look_until_it_gives_up(&mut self, id: usize) -> Option<Suspension> {
        let wait = self.fibers[id].suspended.expect("a fiber that waits is suspended");
        for _ in 0..MOST_LOOKS {
            let (again, _) = self.look_once(id);
            if !again.is_some_and(|again| is_same_wait(&again, &wait)) {
                return again;
            }
        }
        self.fibers[id].patient = Some(wait.site);
        self.leave_open(id, wait.site, Unexplored::GivesUpLate);
        Some(wait)
    }

    fn leave_open(&mut self, id: usize, site: usize, why: Unexplored) {
        let known = |open: &OpenWait| (open.site, open.why) == (site, why);
        if self.open_waits.len() < LISTED && !self.open_waits.iter().any(known) {
            // A fiber that has ended has no thread any more; its last one is as good.
            let thread = self.fibers[id].id();
            self.open_waits.push(OpenWait { thread, site, why });
        }
    }
}

fn waits_for_memory(suspension: &Suspension) -> bool {
    suspension.kind == kind::SPIN
}

fn is_same_wait(one: &Suspension, other: &Suspension) -> bool {
    (one.kind, one.site, one.address) == (other.kind, other.site, other.address)
}

/// What a ready thread does first.
pub(super) fn first_of(fibers: &Slab<Fiber>, ready: &Ready) -> Next {
    match ready.task {
        Task::Begin(_) | Task::Launch(_) => Next::BEGIN,
        Task::Resume(fiber) | Task::GiveUp(fiber) => {
            fibers.get(fiber).map_or(Next::BEGIN, Fiber::next)
        }
    }
}
