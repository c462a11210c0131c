//! Interleavings spelled out: where one thread gives way to another though it need not.
//!
//! Left alone, a thread goes on until it must wait, and then the one that has been ready longest goes
//! on. An interleaving is what departs from that. A turn names its place by the thread's own
//! steps, so it stays where it is when other turns are taken away.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::contract::{Idle, Live, Look, Ready, Schedule, Switches};
use super::seeded::Seeded;
use crate::observe::access::ThreadId;

/// A place of a run where another thread goes on than would without the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Turn {
    /// The thread that ran last and the number of its steps so far; absent at the start of a run.
    pub after: Option<(ThreadId, u32)>,
    /// The thread that goes on; one that waits with a bound gives up.
    pub to: ThreadId,
}

/// `r1b0t3@12>r0b0t5`: after step 12 of rank 1 block 0 thread 3, rank 0 block 0 thread 5 goes on;
/// `>r0b0t5`: it goes first.
impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((thread, steps)) = self.after {
            write!(f, "{thread}@{steps}")?;
        }
        write!(f, ">{}", self.to)
    }
}

impl FromStr for Turn {
    type Err = String;

    fn from_str(text: &str) -> Result<Turn, String> {
        let wrong = || format!("`{text}` is no switch such as r1b0t3@12>r0b0t5");
        let (after, to) = text.split_once('>').ok_or_else(wrong)?;
        let after = match after.split_once('@') {
            Some((thread, steps)) => {
                let thread = thread.parse().map_err(|_| wrong())?;
                Some((thread, steps.parse().map_err(|_| wrong())?))
            }
            None if after.is_empty() => None,
            None => return Err(wrong()),
        };
        Ok(Turn { after, to: to.parse().map_err(|_| wrong())? })
    }
}

/// The index of the thread that goes on without a turn.
pub(crate) fn by_itself(going: Option<usize>) -> usize {
    going.unwrap_or(0)
}

/// How many steps each thread has made, and which thread made the last one.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    counts: HashMap<ThreadId, u32>,
    last: Option<(ThreadId, u32)>,
}

impl Steps {
    /// The thread that ran last, and its steps so far.
    pub(crate) fn last(&self) -> Option<(ThreadId, u32)> {
        self.last
    }

    pub(crate) fn count(&mut self, thread: ThreadId) {
        let count = self.counts.entry(thread).or_default();
        *count += 1;
        self.last = Some((thread, *count));
    }
}

/// A schedule that switches threads at the turns of a list and nowhere else.
#[derive(Debug)]
pub struct Directed {
    seeded: Seeded,
    turns: HashMap<Option<(ThreadId, u32)>, ThreadId>,
    steps: Steps,
}

impl Directed {
    /// Takes these turns, at the places where `seeded` may switch.
    pub fn new(seeded: Seeded, turns: &[Turn]) -> Directed {
        let turns = turns.iter().map(|turn| (turn.after, turn.to)).collect();
        Directed { seeded, turns, steps: Steps::default() }
    }
}

impl Schedule for Directed {
    fn live(&self) -> Live {
        self.seeded.live()
    }
    fn resident_blocks(&self) -> u32 {
        self.seeded.resident_blocks()
    }
    fn admits_when_stuck(&self) -> bool {
        self.seeded.admits_when_stuck()
    }
    fn idle(&self) -> Idle {
        self.seeded.idle()
    }
    fn switches(&self) -> Switches {
        self.seeded.switches()
    }
    fn gives_up(&mut self, bounded: &[Ready], _: &VecDeque<Ready>, _: Look<'_>) -> Option<usize> {
        let to = self.turns.get(&self.steps.last())?;
        let index = bounded.iter().position(|waiting| waiting.thread == *to)?;
        self.steps.count(*to);
        Some(index)
    }
    fn pick(&mut self, ready: &VecDeque<Ready>, going: Option<usize>, _: Look<'_>) -> usize {
        let to = self.turns.get(&self.steps.last());
        let turn = to.and_then(|to| ready.iter().position(|ready| ready.thread == *to));
        let pick = turn.unwrap_or(by_itself(going));
        self.steps.count(ready[pick].thread);
        pick
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_read_as_it_is_written() {
        for text in ["r1b0t3@12>r0b7t5", ">r10b0t0", "r1c2b0t3@4>r0c1host"] {
            assert_eq!(text.parse::<Turn>().expect("a turn").to_string(), text);
        }
        for text in ["", "r1b0t3@12", "r1b0t3>r0b0t0", "r1b0t3@>r0b0t0", "r1t3@1>r0b0t0", ">r0b0"] {
            assert!(text.parse::<Turn>().is_err(), "{text}");
        }
    }
}
