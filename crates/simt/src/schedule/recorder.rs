//! What happened in a run: who went on when, and what each thread did.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::contract::{Idle, Live, Look, Ready, Schedule, Switches};
use super::turns::{Steps, Turn, by_itself};
use crate::observe::access::ThreadId;
use crate::observe::next::Next;

/// A thread that was picked, and what it did first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Who.
    pub thread: ThreadId,
    /// What.
    pub next: Next,
    /// Who else could have been picked, and would have done what.
    pub others: Vec<(ThreadId, Next)>,
}

/// How a run went.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// Step by step, where the run is one of an exploration.
    pub steps: Vec<Step>,
    /// The step from which on nobody was left to pick whose steps had not come here already in
    /// another interleaving.
    pub redundant: Option<usize>,
    /// Where somebody else went on than would have by himself.
    pub turns: Vec<Turn>,
    /// What the threads did, the last of it.
    pub events: Vec<(ThreadId, Next)>,
}

/// A schedule whose turns are noted.
#[expect(missing_debug_implementations, reason = "it borrows any schedule")]
pub struct Recorder<'a> {
    schedule: &'a mut dyn Schedule,
    steps: Steps,
    turns: Vec<Turn>,
}

impl<'a> Recorder<'a> {
    /// Records `schedule`.
    pub fn new(schedule: &'a mut dyn Schedule) -> Recorder<'a> {
        Recorder { schedule, steps: Steps::default(), turns: Vec::new() }
    }

    /// Where somebody else went on than would have by himself.
    pub fn into_turns(self) -> Vec<Turn> {
        self.turns
    }
}

impl Schedule for Recorder<'_> {
    fn live(&self) -> Live {
        self.schedule.live()
    }
    fn resident_blocks(&self) -> u32 {
        self.schedule.resident_blocks()
    }
    fn admits_when_stuck(&self) -> bool {
        self.schedule.admits_when_stuck()
    }
    fn idle(&self) -> Idle {
        self.schedule.idle()
    }
    fn switches(&self) -> Switches {
        self.schedule.switches()
    }
    fn pick(&mut self, ready: &VecDeque<Ready>, going: Option<usize>, look: Look<'_>) -> usize {
        let pick = self.schedule.pick(ready, going, look);
        let to = ready[pick].thread;
        if pick != by_itself(going) {
            self.turns.push(Turn { after: self.steps.last(), to });
        }
        self.steps.count(to);
        pick
    }
}
