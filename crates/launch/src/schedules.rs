//! Under which schedules a case with co-resident ranks runs.

use std::time::Duration;

use collectives::Rank;
use device::Interleave;
use simt::{Branch, Late, ThreadId, Turn};
use verdict::{KernelThread, Switch};

/// How interleavings are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// Each by a seed.
    Seeded,
    /// All of them, as long as they are not too many.
    Exhaustive,
}

/// Which interleaving of each call an attempt takes, of those that its seed leaves open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interleaves {
    /// By call; the last one stands for all further calls.
    calls: Vec<Interleave>,
    /// The only rank, a process of its own, that they are for; the others follow the seed.
    only: Option<Rank>,
}

impl Interleaves {
    /// The ones that the seed names.
    pub fn seed() -> Interleaves {
        Interleaves { calls: vec![Interleave::Seed], only: None }
    }

    /// The ones that the seed names, with a record of them.
    pub fn recorded() -> Interleaves {
        Interleaves { calls: vec![Interleave::Recorded], only: None }
    }

    /// The ones with these switches, in a case of so many calls.
    pub fn switched(switches: &[Switch], calls: usize) -> Interleaves {
        let of = |call: usize| {
            let here = switches.iter().filter(|switch| switch.call == call);
            Interleave::Turns(here.map(turn).collect())
        };
        Interleaves { calls: (0..calls).map(of).collect(), only: None }
    }

    /// Parts of an exploration, by call.
    pub fn explored(branches: impl IntoIterator<Item = Branch>) -> Interleaves {
        Interleaves { calls: branches.into_iter().map(Interleave::Explore).collect(), only: None }
    }

    /// The ones that the seed names, but `rank` is late by `time` at a place of its kernel.
    pub fn late(rank: Rank, late: Late, time: Duration) -> Interleaves {
        Interleaves { calls: vec![Interleave::Late(late, time)], only: Some(rank) }
    }

    /// The one of a call for the process of `rank` (any, where all ranks share one).
    pub(crate) fn of(&self, call: usize, rank: Rank) -> Interleave {
        match self.only {
            Some(only) if only != rank => Interleave::Seed,
            _ => self.calls[call.min(self.calls.len() - 1)].clone(),
        }
    }
}

/// The executor's turn for a switch.
fn turn(switch: &Switch) -> Turn {
    let thread =
        |KernelThread { rank, call, block, thread }| ThreadId { rank, call, block, thread };
    Turn { after: switch.after.map(|(after, steps)| (thread(after), steps)), to: thread(switch.to) }
}

/// The switch for an executor's turn in a call.
pub(crate) fn switch(call: usize, turn: &Turn) -> Switch {
    let thread =
        |ThreadId { rank, call, block, thread }| KernelThread { rank, call, block, thread };
    Switch {
        call,
        after: turn.after.map(|(after, steps)| (thread(after), steps)),
        to: thread(turn.to),
    }
}

/// What the user asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedules {
    /// How schedules are chosen.
    pub strategy: Strategy,
    /// How many schedules run; at most so many, where all are wanted.
    pub count: u64,
    /// The first schedule's seed; the others follow.
    pub first: u64,
    /// Whether data races are looked for.
    pub race: bool,
    /// Whether ranks run at once also where they do not wait for each other (logical mode).
    pub everywhere: bool,
    /// Whether plain stores show late and out of order.
    pub weak: bool,
    /// Blocks a rank that are resident at once; absent where all are.
    pub residency: Option<u32>,
    /// How late each rank is in turn, in process mode, at each [`simt::Late`]; absent where none is.
    pub delay: Option<Duration>,
    /// Of the first seed's schedule, these switches only; absent where all of them count.
    pub switches: Option<Vec<Switch>>,
}

impl Schedules {
    /// The seeds of the schedules, in order.
    pub fn seeds(&self) -> impl Iterator<Item = u64> + use<> {
        let first = self.first;
        let count = self.count;
        (0..count).map(move |index| first.wrapping_add(index))
    }
}

impl Default for Schedules {
    /// Enough to have every strategy of [`simt::Seeded`] once.
    fn default() -> Schedules {
        Schedules {
            strategy: Strategy::Seeded,
            count: 5,
            first: 0,
            race: true,
            everywhere: false,
            weak: false,
            residency: None,
            delay: None,
            switches: None,
        }
    }
}
