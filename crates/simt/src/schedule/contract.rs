//! Which blocks live at once, where threads give way, and which of the ready threads runs next.

use std::collections::VecDeque;
use std::ops::Range;

use crate::observe::access::ThreadId;
use crate::observe::next::Next;

/// A store wakes every thread that waits for memory in the same aligned `1 << PLACE_BITS` bytes.
pub(crate) const PLACE_BITS: u32 = 4;

/// The ranks that run at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Live {
    /// One after another, in the order of the launches.
    OneRank,
    /// All ranks.
    AllRanks,
}

/// What it means that no thread of this executor can go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idle {
    /// It is a deadlock: no other process could change that.
    Deadlock,
    /// Ranks in other processes may change that: the executor gives the core away and looks again.
    Elsewhere,
}

/// The places at which a thread may be switched, before the event there takes effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Switches {
    /// Only where it must wait.
    Waits,
    /// At every barrier, spin hint, atomic, volatile access and fence.
    Synchronisation,
    /// There, and at every plain access to these addresses (objects built as observed only).
    Accesses(Range<usize>),
}

/// What a ready thread does next.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Task {
    /// Begin the block's next threads on a fresh fiber.
    Begin(usize),
    Resume(usize),
    /// Look at what it waits for until it stops waiting, though nothing changed.
    GiveUp(usize),
    /// The host of a rank lets its next launch begin.
    Launch(usize),
}

/// A thread that can go on.
#[derive(Debug, Clone, Copy)]
pub struct Ready {
    /// The thread.
    pub thread: ThreadId,
    pub(crate) task: Task,
}

/// What a ready thread does first when it goes on.
pub type Look<'a> = &'a dyn Fn(&Ready) -> Next;

/// Decides the interleaving of a run.
pub trait Schedule {
    /// Which ranks run at once.
    fn live(&self) -> Live;
    /// How many blocks of each rank live at once; more are admitted as blocks end.
    fn resident_blocks(&self) -> u32;
    /// Whether more blocks are admitted when all resident ones wait. A GPU does not.
    fn admits_when_stuck(&self) -> bool;
    /// What a run without progress means.
    fn idle(&self) -> Idle;
    /// Where threads may be switched. Asked once, before the run.
    fn switches(&self) -> Switches;
    /// Of the threads that wait with a bound and could give up, which one does so before any ready
    /// thread goes on: an index in `bounded`. Asked where there are some, and then before
    /// [`Schedule::pick`]; where no thread is ready, `ready` is empty. To give up is one step,
    /// in which the thread looks until it stops waiting.
    fn gives_up(
        &mut self,
        bounded: &[Ready],
        ready: &VecDeque<Ready>,
        look: Look<'_>,
    ) -> Option<usize>;
    /// Picks the thread that runs next: an index in `ready`, where the first one became ready
    /// first, as a rule. `going` is the index of the thread that ran last, if it need not wait.
    /// `look` tells what a ready thread will do first.
    fn pick(&mut self, ready: &VecDeque<Ready>, going: Option<usize>, look: Look<'_>) -> usize;
}
