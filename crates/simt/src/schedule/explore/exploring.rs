//! One run of an exploration.

use std::collections::VecDeque;

use super::dependence::depend;
use super::explorer::Branch;
use crate::observe::access::ThreadId;
use crate::observe::next::{Act, Next};
use crate::schedule::contract::{Idle, Live, Look, Ready, Schedule, Switches};
use crate::schedule::recorder::{Recorded, Step};
use crate::schedule::turns::{Steps, Turn, by_itself};

/// A schedule that follows a [`Branch`] and records which threads could have been picked.
#[derive(Debug)]
pub struct Exploring {
    resident_blocks: u32,
    switches: Switches,
    branch: Branch,
    /// The threads that sleep once the prefix is over, and what they would do.
    asleep: Option<Vec<(ThreadId, Next)>>,
    steps: Steps,
    recorded: Recorded,
    /// The ready thread that goes on, decided where the schedule was asked who gives up.
    decided: Option<usize>,
}

impl Exploring {
    /// A run along `branch`.
    pub fn new(branch: Branch, resident_blocks: u32, switches: Switches) -> Exploring {
        let recorded = Recorded::default();
        Exploring {
            resident_blocks,
            switches,
            branch,
            asleep: None,
            steps: Steps::default(),
            recorded,
            decided: None,
        }
    }

    /// What was recorded of the run.
    pub fn into_recorded(self) -> Recorded {
        self.recorded
    }

    /// The index of the thread that makes the next step, which is recorded: among the threads that
    /// are ready, and behind them those that could give up.
    fn decide(&mut self, all: &[Ready], look: Look<'_>) -> usize {
        let led = self.branch.prefix.get(self.recorded.steps.len());
        let led = led.and_then(|thread| all.iter().position(|ready| ready.thread == *thread));
        let pick = led.unwrap_or_else(|| self.choose(all, look));
        let (thread, next) = (all[pick].thread, look(&all[pick]));
        let others = all.iter().enumerate().filter(|(index, _)| *index != pick);
        let others = others.map(|(_, ready)| (ready.thread, look(ready))).collect();
        self.recorded.steps.push(Step { thread, next, others });
        pick
    }

    /// Beyond the prefix: any thread that does not sleep.
    fn choose(&mut self, all: &[Ready], look: Look<'_>) -> usize {
        let asleep = self.asleep.get_or_insert_with(|| {
            let sleeps = all.iter().filter(|ready| self.branch.asleep.contains(&ready.thread));
            sleeps.map(|ready| (ready.thread, look(ready))).collect()
        });
        // Where threads begin, nothing is shared yet: the order does not matter.
        let begins = all.iter().position(|ready| look(ready).act == Act::Begin);
        let awake = |ready: &Ready| !asleep.iter().any(|(thread, _)| *thread == ready.thread);
        let pick = begins.or_else(|| all.iter().position(awake));
        let pick = pick.unwrap_or_else(|| {
            self.recorded.redundant.get_or_insert(self.recorded.steps.len());
            0
        });
        let (thread, next) = (all[pick].thread, look(&all[pick]));
        asleep.retain(|(sleeper, would)| *sleeper != thread && !depend(would, &next));
        pick
    }

    fn note_turn(&mut self, to: ThreadId) {
        self.recorded.turns.push(Turn { after: self.steps.last(), to });
    }
}

impl Schedule for Exploring {
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
        Idle::Deadlock
    }
    fn switches(&self) -> Switches {
        self.switches.clone()
    }
    fn gives_up(
        &mut self,
        bounded: &[Ready],
        ready: &VecDeque<Ready>,
        look: Look<'_>,
    ) -> Option<usize> {
        let all: Vec<Ready> = ready.iter().chain(bounded).copied().collect();
        let pick = self.decide(&all, look);
        let Some(index) = pick.checked_sub(ready.len()) else {
            self.decided = Some(pick);
            return None;
        };
        let thread = all[pick].thread;
        self.note_turn(thread);
        self.steps.count(thread);
        Some(index)
    }
    fn pick(&mut self, ready: &VecDeque<Ready>, going: Option<usize>, look: Look<'_>) -> usize {
        let pick = self.decided.take().unwrap_or_else(|| {
            let all: Vec<Ready> = ready.iter().copied().collect();
            self.decide(&all, look)
        });
        let thread = ready[pick].thread;
        if pick != by_itself(going) {
            self.note_turn(thread);
        }
        self.steps.count(thread);
        pick
    }
}
