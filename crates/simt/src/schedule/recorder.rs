//! What happened in a run: which thread went on when, and what it did.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::contract::{Idle, Live, Look, Ready, Schedule, Switches};
use super::turns::{Steps, Turn, by_itself};
use crate::observe::access::ThreadId;
use crate::observe::next::Next;

/// A thread that was picked, and what it did first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The thread that was picked.
    pub thread: ThreadId,
    /// What it did first.
    pub next: Next,
    /// The other threads that could have been picked, and what they would have done.
    pub others: Vec<(ThreadId, Next)>,
}

/// What is recorded of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// Step by step, where the run is one of an exploration.
    pub steps: Vec<Step>,
    /// The step from which on only threads were left whose steps had come here already in another
    /// interleaving; absent where there is none.
    pub redundant: Option<usize>,
    /// The places where another thread went on than would have without a turn.
    pub turns: Vec<Turn>,
    /// What the threads did, in the order of the run; the last 20,000 events.
    pub events: Vec<(ThreadId, Next)>,
}

/// A schedule that follows another one and notes its turns.
#[expect(missing_debug_implementations, reason = "it borrows any schedule")]
pub struct Recorder<'a> {
    schedule: &'a mut dyn Schedule,
    steps: Steps,
    turns: Vec<Turn>,
}

impl<'a> Recorder<'a> {
    /// Follows `schedule`.
    pub fn new(schedule: &'a mut dyn Schedule) -> Recorder<'a> {
        Recorder { schedule, steps: Steps::default(), turns: Vec::new() }
    }

    /// The places where another thread went on than would have without a turn.
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
    fn gives_up(
        &mut self,
        bounded: &[Ready],
        ready: &VecDeque<Ready>,
        look: Look<'_>,
    ) -> Option<usize> {
        let index = self.schedule.gives_up(bounded, ready, look)?;
        let to = bounded[index].thread;
        self.turns.push(Turn { after: self.steps.last(), to });
        self.steps.count(to);
        Some(index)
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
