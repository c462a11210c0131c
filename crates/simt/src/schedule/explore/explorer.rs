//! The walk through all interleavings: where the next run departs from the last one.

use serde::{Deserialize, Serialize};

use super::dependence::depend;
use super::order::HappensBefore;
use crate::observe::access::ThreadId;
use crate::observe::next::{Act, Next};
use crate::schedule::recorder::{Recorded, Step};

/// The way of one call of a run: first these threads are picked, then any but those that sleep.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    /// The threads that are picked, step by step.
    pub prefix: Vec<ThreadId>,
    /// The threads whose next step need not come next, because it was tried there before.
    pub asleep: Vec<ThreadId>,
}

/// A place on the path of the last run.
#[derive(Debug)]
struct Node {
    call: usize,
    /// The threads that could be picked, and what they would do.
    ready: Vec<(ThreadId, Next)>,
    chosen: ThreadId,
    /// The threads that must be tried here.
    due: Vec<ThreadId>,
    /// The threads that were tried here, or need not be.
    asleep: Vec<ThreadId>,
}

impl Node {
    fn next_of(&self, thread: ThreadId) -> Option<Next> {
        self.ready.iter().find(|(ready, _)| *ready == thread).map(|(_, next)| *next)
    }

    /// The threads that still sleep after the chosen step.
    fn asleep_behind(&self) -> Vec<ThreadId> {
        let chosen = self.next_of(self.chosen).expect("it was ready");
        let sleeps = |thread: &&ThreadId| {
            let next = self.next_of(**thread);
            **thread != self.chosen && next.is_some_and(|next| !depend(&next, &chosen))
        };
        self.asleep.iter().filter(sleeps).copied().collect()
    }
}

/// A walk through all interleavings of a case.
#[derive(Debug, Default)]
pub struct Explorer {
    path: Vec<Node>,
    /// Every order of steps, also of independent ones: what the reduction is tested against.
    brute: bool,
    complete: u64,
}

impl Explorer {
    /// A walk that takes one interleaving for all that differ in independent steps alone.
    pub fn new() -> Explorer {
        Explorer::default()
    }

    /// Every order of every step: what the reduction is compared with.
    #[cfg(test)]
    pub(super) fn without_reduction() -> Explorer {
        Explorer { brute: true, ..Explorer::default() }
    }

    /// The number of interleavings that ran to their end and were new.
    pub fn complete(&self) -> u64 {
        self.complete
    }

    /// The way of the next run in call number `call`, from 0.
    pub fn branch(&self, call: usize) -> Branch {
        let prefix: Vec<ThreadId> =
            self.path.iter().filter(|node| node.call == call).map(|node| node.chosen).collect();
        let last = self.path.last().filter(|node| node.call == call);
        Branch { prefix, asleep: last.map(Node::asleep_behind).unwrap_or_default() }
    }

    /// Learns from a run along [`Explorer::branch`], call by call. Returns whether there is
    /// another interleaving to run.
    pub fn ran(&mut self, calls: &[Recorded]) -> bool {
        let mut steps: Vec<(usize, &Step)> = Vec::new();
        let mut redundant = false;
        for (call, recorded) in calls.iter().enumerate() {
            let end = recorded.redundant.unwrap_or(recorded.steps.len());
            steps.extend(recorded.steps[..end].iter().map(|step| (call, step)));
            redundant |= recorded.redundant.is_some();
            if redundant {
                break;
            }
        }
        self.complete += u64::from(!redundant);
        for (call, step) in &steps[self.path.len().min(steps.len())..] {
            let asleep = match self.path.last() {
                Some(node) if node.call == *call => node.asleep_behind(),
                _ => Vec::new(),
            };
            let ready = [(step.thread, step.next)].into_iter().chain(step.others.iter().copied());
            let ready: Vec<_> = ready.collect();
            let due = match self.brute {
                true if step.next.act != Act::Begin => ready.iter().map(|(t, _)| *t).collect(),
                _ => vec![step.thread],
            };
            self.path.push(Node { call: *call, ready, chosen: step.thread, due, asleep });
        }
        if !self.brute {
            self.find_reversals(&steps);
        }
        self.go_back()
    }

    /// Every pair of dependent steps that could have come the other way round.
    fn find_reversals(&mut self, steps: &[(usize, &Step)]) {
        let order = HappensBefore::of(steps);
        for later in 0..steps.len() {
            for earlier in order.races_with(later) {
                let node = &mut self.path[earlier];
                let (_, step) = steps[later];
                let could = node.next_of(step.thread).is_some();
                if step.next.waits && !could {
                    // It looked again because of what was stored; before that it would have seen
                    // what it had seen already.
                    continue;
                }
                let initials = order.initials(steps, earlier, later);
                let ready: Vec<ThreadId> =
                    initials.into_iter().filter(|t| node.next_of(*t).is_some()).collect();
                if ready.is_empty() {
                    // It is not known which thread leads there, so all are tried.
                    node.due = node.ready.iter().map(|(thread, _)| *thread).collect();
                } else if !ready.iter().any(|thread| node.due.contains(thread)) {
                    node.due.push(ready[0]);
                }
            }
        }
    }

    /// To the last place where a thread is due.
    fn go_back(&mut self) -> bool {
        while let Some(node) = self.path.last_mut() {
            if !node.asleep.contains(&node.chosen) {
                node.asleep.push(node.chosen);
            }
            if self.brute {
                // Independent steps are reordered too, so no thread sleeps on behalf of others.
                let tried = node.due.iter().position(|thread| *thread == node.chosen);
                if let Some(next) = tried.and_then(|tried| node.due.get(tried + 1)) {
                    node.chosen = *next;
                    node.asleep.clear();
                    return true;
                }
            } else if let Some(next) = node.due.iter().find(|t| !node.asleep.contains(t)) {
                node.chosen = *next;
                return true;
            }
            self.path.pop();
        }
        false
    }
}
