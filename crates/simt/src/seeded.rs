//! Schedules named by a seed: the same seed and object give the same interleaving everywhere.

use std::collections::VecDeque;
use std::ops::Range;

use collectives::fill::mix;
use serde::{Deserialize, Serialize};

use crate::observer::ThreadId;
use crate::schedule::{Idle, Live, Ready, Schedule, Switches};

/// How a seeded schedule chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Strategy {
    /// Each thread in its turn, until it must wait.
    RoundRobin,
    /// Any ready thread, all alike.
    Random,
    /// PCT (Burckhardt et al., ASPLOS 2010): the thread of highest random priority, with
    /// [`CHANGES`] random points at which the running thread falls to the lowest. Among `n`
    /// threads and `k` steps it meets an ordering fault of depth `d <= CHANGES + 1` with a
    /// probability of at least `1 / (n k^(d-1))`.
    Priorities,
}

/// Priority changes of a [`Strategy::Priorities`] run.
pub const CHANGES: usize = 2;

/// Every so many steps of a [`Strategy::Priorities`] run whoever waits longest has his turn.
const FAIR: u64 = 256;

/// A schedule named by a seed. 0 is the round robin; the others alternate between strategies,
/// and between switching at synchronisation only and at every access of a heap.
#[derive(Debug, Clone)]
pub struct Seeded {
    resident_blocks: u32,
    idle: Idle,
    strategy: Strategy,
    switches: Switches,
    state: u64,
    priorities: Priorities,
}

/// What [`Strategy::Priorities`] keeps.
#[derive(Debug, Clone)]
struct Priorities {
    seed: u64,
    step: u64,
    /// Steps before which a change happens, in ascending order.
    changes: [u64; CHANGES],
    /// Threads that fell, the lowest last.
    fallen: Vec<ThreadId>,
    running: Option<ThreadId>,
}

impl Seeded {
    /// The schedule of `seed` for heaps at `heaps`.
    pub fn new(seed: u64, resident_blocks: u32, idle: Idle, heaps: Range<usize>) -> Seeded {
        let (strategy, accesses) = match seed % 4 {
            _ if seed == 0 => (Strategy::RoundRobin, false),
            0 => (Strategy::Priorities, false),
            1 => (Strategy::Random, false),
            2 => (Strategy::Priorities, true),
            _ => (Strategy::Random, true),
        };
        let switches = match strategy {
            Strategy::RoundRobin => Switches::Waits,
            _ if accesses => Switches::Accesses(heaps),
            _ => Switches::Synchronisation,
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
        let mut state = mix(seed ^ 0x5c4e_d01e);
        // How long the run will be is not known, so the scale is drawn too: 16 to 8192 steps.
        let steps = 16 << (next(&mut state) % 10);
        let mut changes = [(); CHANGES].map(|()| next(&mut state) % steps);
        changes.sort_unstable();
        let priorities =
            Priorities { seed: state, step: 0, changes, fallen: Vec::new(), running: None };
        Seeded { resident_blocks, idle, strategy, switches, state, priorities }
    }
}

/// The next number of a sequence (splitmix64).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mix(*state)
}

impl Priorities {
    fn pick(&mut self, ready: &VecDeque<Ready>) -> usize {
        while self.changes.contains(&self.step) {
            if let Some(running) = self.running {
                self.fallen.retain(|thread| *thread != running);
                self.fallen.push(running);
            }
            self.step += 1;
        }
        self.step += 1;
        let best = (0..ready.len()).max_by_key(|index| self.priority(ready[*index].thread));
        // Threads that poll in a way that nobody can tell would keep the others out for ever.
        let fair = self.step.is_multiple_of(FAIR);
        let best = best.filter(|_| !fair).unwrap_or(0);
        self.running = Some(ready[best].thread);
        best
    }

    fn priority(&self, thread: ThreadId) -> u64 {
        match self.fallen.iter().position(|fallen| *fallen == thread) {
            Some(depth) => (CHANGES - depth.min(CHANGES)) as u64,
            None => mix(self.seed ^ thread.key()) | 1 << 63,
        }
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
    fn pick(&mut self, ready: &VecDeque<Ready>, _: Option<usize>) -> usize {
        match self.strategy {
            Strategy::RoundRobin => 0,
            Strategy::Random => (next(&mut self.state) % ready.len() as u64) as usize,
            Strategy::Priorities => self.priorities.pick(ready),
        }
    }
}
