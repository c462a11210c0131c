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
        }
    }

    /// What was recorded of the run.
    pub fn into_recorded(self) -> Recorded {
        self.recorded
    }

    /// Beyond the prefix: any thread that does not sleep.
    fn choose(&mut self, ready: &VecDeque<Ready>, look: Look<'_>) -> usize {
        let asleep = self.asleep.get_or_insert_with(|| {
            let sleeps = ready.iter().filter(|ready| self.branch.asleep.contains(&ready.thread));
            sleeps.map(|ready| (ready.thread, look(ready))).collect()
        });
        // Where threads begin, nothing is shared yet: the order does not matter.
        let begins = ready.iter().position(|ready| look(ready).act == Act::Begin);
        let awake = |ready: &Ready| !asleep.iter().any(|(thread, _)| *thread == ready.thread);
        let pick = begins.or_else(|| ready.iter().position(awake));
        let pick = pick.unwrap_or_else(|| {
            self.recorded.redundant.get_or_insert(self.recorded.steps.len());
            0
        });
        let (thread, next) = (ready[pick].thread, look(&ready[pick]));
        asleep.retain(|(sleeper, would)| *sleeper != thread && !depend(would, &next));
        pick
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
    fn pick(&mut self, ready: &VecDeque<Ready>, going: Option<usize>, look: Look<'_>) -> usize {
        let led = self.branch.prefix.get(self.recorded.steps.len());
        let led = led.and_then(|thread| ready.iter().position(|ready| ready.thread == *thread));
        let pick = led.unwrap_or_else(|| self.choose(ready, look));
        let (thread, next) = (ready[pick].thread, look(&ready[pick]));
        let others = ready.iter().enumerate().filter(|(index, _)| *index != pick);
        let others = others.map(|(_, ready)| (ready.thread, look(ready))).collect();
        self.recorded.steps.push(Step { thread, next, others });
        if pick != by_itself(going) {
            self.recorded.turns.push(Turn { after: self.steps.last(), to: thread });
        }
        self.steps.count(thread);
        pick
    }
}
