//! Probabilistic concurrency testing: the ready thread of highest priority runs.
//!
//! A step costs the logarithm of the number of ready threads: who became ready is put into a heap,
//! and where each stands in the executor's list is known from what that list does on its own.

use std::collections::{BinaryHeap, VecDeque};

use collectives::draw::{Draw, mix};

use super::contract::Ready;
use crate::observe::access::ThreadId;
use crate::observe::numbers::NumberMap;

/// Priority changes of a [`Strategy::Priorities`](crate::Strategy::Priorities) run.
pub const CHANGES: usize = 2;

/// Every so many steps the thread runs that has been ready longest.
const FAIR: u64 = 256;

/// What a run by priorities keeps.
#[derive(Debug, Clone)]
pub(crate) struct Priorities {
    seed: u64,
    step: u64,
    /// Steps before which a change happens, in ascending order.
    changes: [u64; CHANGES],
    /// Threads that fell, the lowest last.
    fallen: Vec<ThreadId>,
    running: Option<ThreadId>,
    /// Ready threads by priority; one that fell since may stand too high.
    heap: BinaryHeap<(u64, u64)>,
    /// Threads by their keys, and where they stand: their index, and how many were taken from the
    /// front before.
    places: NumberMap<u64, (ThreadId, usize)>,
    /// Taken from the front of the executor's list.
    taken: usize,
    /// Ready threads after the last step.
    known: usize,
}

impl Priorities {
    /// Priorities and changes drawn from a sequence.
    pub(crate) fn draw(draw: &mut Draw) -> Priorities {
        // How long the run will be is not known, so the scale is drawn too: 16 to 8192 steps.
        let steps = 16 << draw.below(10);
        let mut changes = [(); CHANGES].map(|()| draw.below(steps));
        changes.sort_unstable();
        Priorities {
            seed: draw.seed(),
            step: 0,
            changes,
            fallen: Vec::new(),
            running: None,
            heap: BinaryHeap::new(),
            places: NumberMap::default(),
            taken: 0,
            known: 0,
        }
    }

    /// Which of the ready threads runs next.
    pub(crate) fn pick(&mut self, ready: &VecDeque<Ready>) -> usize {
        let first_new = self.taken + self.known;
        for (place, Ready { thread, .. }) in (first_new..).zip(ready.range(self.known..)) {
            self.places.insert(thread.key(), (*thread, place));
            self.heap.push((self.priority(*thread), thread.key()));
        }
        while self.changes.contains(&self.step) {
            if let Some(running) = self.running {
                self.fallen.retain(|thread| *thread != running);
                self.fallen.push(running);
            }
            self.step += 1;
        }
        self.step += 1;
        // Threads that poll in a way that cannot be told would keep the others out for ever.
        let pick = match self.step.is_multiple_of(FAIR) {
            true => 0,
            false => self.highest(),
        };
        self.remove(pick, ready);
        self.running = Some(ready[pick].thread);
        pick
    }

    /// Where the ready thread of highest priority stands.
    fn highest(&mut self) -> usize {
        loop {
            let (priority, key) = self.heap.pop().expect("a ready thread");
            // Those that had their turn out of order are not ready any more.
            let Some((thread, place)) = self.places.get(&key).copied() else { continue };
            match self.priority(thread) {
                now if now == priority => return place - self.taken,
                now => self.heap.push((now, key)),
            }
        }
    }

    /// Follows what the executor does with its list: the first one leaves at the front, and the
    /// last one takes the place of any other.
    fn remove(&mut self, pick: usize, ready: &VecDeque<Ready>) {
        self.places.remove(&ready[pick].thread.key());
        let last = ready.len() - 1;
        if pick == 0 {
            self.taken += 1;
        } else if pick != last {
            let moved = ready[last].thread;
            self.places.insert(moved.key(), (moved, self.taken + pick));
        }
        self.known = last;
    }

    fn priority(&self, thread: ThreadId) -> u64 {
        match self.fallen.iter().position(|fallen| *fallen == thread) {
            Some(depth) => (CHANGES - depth.min(CHANGES)) as u64,
            None => mix(self.seed ^ thread.key()) | 1 << 63,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::contract::Task;
    use collectives::Rank;

    #[test]
    fn the_highest_of_the_ready_ones_runs_however_they_come_and_go() {
        let mut numbers = Draw::new(3);
        let mut draw = |below: usize| numbers.below(below as u64) as usize;
        let mut priorities = Priorities::draw(&mut Draw::new(7));
        let mut ready: VecDeque<Ready> = VecDeque::new();
        let mut away: Vec<u32> = (0..40).collect();
        for _ in 0..4000 {
            let come = draw(4) + usize::from(ready.is_empty());
            for _ in 0..come.min(away.len()) {
                let thread = away.swap_remove(draw(away.len()));
                let thread =
                    ThreadId { rank: Rank(thread % 3), call: 0, block: thread % 2, thread };
                ready.push_back(Ready { thread, task: Task::Resume(0) });
            }
            let pick = priorities.pick(&ready);
            let priority = |r: &Ready| priorities.priority(r.thread);
            let highest = ready.iter().map(priority).max().expect("a ready thread");
            let fair = priorities.step.is_multiple_of(FAIR);
            // Two that fell may have fallen equally low.
            assert!(if fair { pick == 0 } else { priority(&ready[pick]) == highest });
            let gone = match pick {
                0 => ready.pop_front(),
                _ => ready.swap_remove_back(pick),
            };
            away.push(gone.expect("it was picked").thread.thread);
        }
    }
}
