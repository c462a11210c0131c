//! Schedules named by a seed: the same seed and object give the same interleaving everywhere.

use std::collections::VecDeque;
use std::ops::Range;

use collectives::draw::{Draw, mix};
use serde::{Deserialize, Serialize};

use super::contract::{Idle, Live, Look, Ready, Schedule, Switches};
use super::priorities::Priorities;

/// How a seeded schedule chooses among the ready threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Strategy {
    /// The thread that has been ready longest, until it must wait.
    RoundRobin,
    /// Any ready thread, all with the same probability.
    Random,
    /// PCT (Burckhardt et al., ASPLOS 2010): the thread of highest random priority, with
    /// [`CHANGES`](crate::CHANGES) random points at which the running thread falls to the lowest. Among `n`
    /// threads and `k` steps it meets an ordering fault of depth `d <= CHANGES + 1` with a
    /// probability of at least `1 / (n k^(d-1))`.
    Priorities,
}

/// Where the threads of a seeded schedule may be switched though they need not wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Places {
    /// At barriers, spin hints, atomics, volatile accesses and fences.
    Synchronisation,
    /// There, and at every plain access of a heap.
    EveryAccess,
}

impl Places {
    /// A seed whose schedule switches at these places: the one to use where a seed names the places
    /// and nothing else, as beside an exploration or a list of turns.
    pub fn seed(self) -> u64 {
        match self {
            Places::Synchronisation => 1,
            Places::EveryAccess => 3,
        }
    }

    /// These places, for heaps at `heaps`.
    pub fn switches(self, heaps: Range<usize>) -> Switches {
        match self {
            Places::Synchronisation => Switches::Synchronisation,
            Places::EveryAccess => Switches::Accesses(heaps),
        }
    }

    /// The places and the strategy of a seed; seed 0 switches nowhere.
    fn of_seed(seed: u64) -> Option<(Strategy, Places)> {
        match seed % 4 {
            _ if seed == 0 => None,
            0 => Some((Strategy::Priorities, Places::Synchronisation)),
            1 => Some((Strategy::Random, Places::Synchronisation)),
            2 => Some((Strategy::Priorities, Places::EveryAccess)),
            _ => Some((Strategy::Random, Places::EveryAccess)),
        }
    }
}

/// A schedule named by a seed. 0 is the round robin; the others alternate between strategies,
/// and between switching at synchronisation only and at every access of a heap.
#[derive(Debug, Clone)]
pub struct Seeded {
    resident_blocks: u32,
    idle: Idle,
    strategy: Strategy,
    switches: Switches,
    draw: Draw,
    priorities: Priorities,
    patience: Patience,
}

/// When threads give up that wait with a bound: at random, a sequence of its own, so that schedules of
/// kernels without such waits do not depend on it.
#[derive(Debug, Clone)]
struct Patience {
    draw: Draw,
    /// One step in so many is one in which such a thread gives up.
    steps: u64,
}

impl Patience {
    fn of_seed(seed: u64) -> Patience {
        let mut draw = Draw::new(mix(seed ^ 0x9a7e_1ce0));
        let steps = 1 << (2 + 2 * (draw.number() % 5));
        Patience { draw, steps }
    }

    /// Which of so many waiting threads gives up now.
    fn ends(&mut self, bounded: usize) -> Option<usize> {
        let drawn = self.draw.number();
        drawn.is_multiple_of(self.steps).then(|| (drawn >> 32) as usize % bounded)
    }
}

impl Seeded {
    /// The schedule of `seed` for heaps at `heaps`.
    pub fn new(seed: u64, resident_blocks: u32, idle: Idle, heaps: Range<usize>) -> Seeded {
        let (strategy, switches) = match Places::of_seed(seed) {
            None => (Strategy::RoundRobin, Switches::Waits),
            Some((strategy, places)) => (strategy, places.switches(heaps)),
        };
        Seeded::with(strategy, switches, seed, resident_blocks, idle)
    }

    /// A schedule of a chosen strategy.
    pub fn with(
        strategy: Strategy,
        switches: Switches,
        seed: u64,
        resident_blocks: u32,
        idle: Idle,
    ) -> Seeded {
        let mut draw = Draw::new(mix(seed ^ 0x5c4e_d01e));
        let priorities = Priorities::draw(&mut draw);
        let patience = Patience::of_seed(seed);
        Seeded { resident_blocks, idle, strategy, switches, draw, priorities, patience }
    }
}

impl Schedule for Seeded {
    fn live(&self) -> Live {
        Live::AllRanks
    }
    fn resident_blocks(&self) -> u32 {
        self.resident_blocks
    }
    fn admits_when_stuck(&self) -> bool {
        false
    }
    fn idle(&self) -> Idle {
        self.idle
    }
    fn switches(&self) -> Switches {
        self.switches.clone()
    }
    fn gives_up(
        &mut self,
        bounded: &[Ready],
        ready: &VecDeque<Ready>,
        _: Look<'_>,
    ) -> Option<usize> {
        match self.strategy {
            // Nothing else can happen.
            _ if ready.is_empty() => Some(0),
            Strategy::RoundRobin => None,
            Strategy::Random | Strategy::Priorities => self.patience.ends(bounded.len()),
        }
    }
    fn pick(&mut self, ready: &VecDeque<Ready>, _: Option<usize>, _: Look<'_>) -> usize {
        match self.strategy {
            Strategy::RoundRobin => 0,
            Strategy::Random => self.draw.below(ready.len() as u64) as usize,
            Strategy::Priorities => self.priorities.pick(ready),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(Places::Synchronisation)]
    #[case(Places::EveryAccess)]
    fn a_seed_that_names_places_switches_there(#[case] places: Places) {
        let seeded = Seeded::new(places.seed(), 1, Idle::Deadlock, 16..32);
        assert_eq!(seeded.switches(), places.switches(16..32));
    }
}
