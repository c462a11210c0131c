//! What comes before what in a run, whatever else happens in between.

use std::collections::HashMap;

use collectives::Rank;

use super::dependence::depend;
use crate::object::abi::WAVE;
use crate::observe::access::ThreadId;
use crate::observe::next::Act;
use crate::schedule::recorder::Step;

/// By thread: how many of its steps came before.
type Clock = Vec<u32>;

/// The partial order of a run's steps.
#[derive(Debug, Default)]
pub(super) struct HappensBefore {
    /// By step: the thread's number, and which of its steps it is, from 1.
    places: Vec<(usize, u32)>,
    /// By step, itself included.
    clocks: Vec<Clock>,
    /// By step: the dependent ones right before it, in the order of the run.
    races: Vec<Vec<usize>>,
}

/// What is known of a thread while its run is walked through.
#[derive(Debug, Default)]
struct Walked {
    last: Option<usize>,
    steps: u32,
    /// By barrier of the block, and of the wave: its last step before it.
    arrivals: [Vec<usize>; 2],
}

impl HappensBefore {
    /// Of a run.
    pub(super) fn of(steps: &[(usize, &Step)]) -> HappensBefore {
        let mut order = HappensBefore::default();
        let mut numbers: HashMap<ThreadId, usize> = HashMap::new();
        for (_, step) in steps {
            let number = numbers.len();
            numbers.entry(step.thread).or_insert(number);
        }
        let mut threads: Vec<Walked> = numbers.values().map(|_| Walked::default()).collect();
        // A fiber begins with one thread and may suspend as a later one, of which that was the
        // first step.
        let mut begun: HashMap<(Rank, u32), Vec<(u32, usize)>> = HashMap::new();
        let mut boundary = vec![0; numbers.len()];
        let mut call = 0;
        for (index, (of, step)) in steps.iter().enumerate() {
            if *of != call {
                call = *of;
                // A call begins when the one before it has ended.
                boundary = threads.iter().map(|thread| thread.steps).collect();
                begun.clear();
                threads.iter_mut().for_each(|thread| thread.arrivals = Default::default());
            }
            let id = step.thread;
            let number = numbers[&id];
            let mut clock = boundary.clone();
            let before = threads[number].last.or_else(|| {
                let begun = begun.get(&(id.rank, id.block)).into_iter().flatten();
                begun.filter(|(first, _)| *first <= id.thread).max().map(|(_, index)| *index)
            });
            if let Some(before) = before {
                join(&mut clock, &order.clocks[before]);
            }
            match step.next.act {
                Act::Begin => {
                    let block = begun.entry((id.rank, id.block)).or_default();
                    // Threads of a block begin one after another.
                    if let Some((_, last)) = block.last() {
                        join(&mut clock, &order.clocks[*last]);
                    }
                    block.push((id.thread, index));
                }
                Act::Barrier | Act::WaveBarrier => {
                    let kind = usize::from(step.next.act == Act::WaveBarrier);
                    let passed = threads[number].arrivals[kind].len();
                    threads[number].arrivals[kind].extend(before);
                    for (other, number) in &numbers {
                        let meets = (other.rank, other.block) == (id.rank, id.block)
                            && (kind == 0 || other.thread / WAVE == id.thread / WAVE);
                        let thread = &threads[*number];
                        let arrived = thread.arrivals[kind].get(passed).copied().or(thread.last);
                        if let Some(arrived) = arrived.filter(|_| meets) {
                            join(&mut clock, &order.clocks[arrived]);
                        }
                    }
                }
                Act::Look
                | Act::Tile
                | Act::Fence(..)
                | Act::CallEnds
                | Act::CallBegins
                | Act::Access(..) => {}
            }
            let mut races = Vec::new();
            for earlier in (0..index).rev().filter(|at| steps[*at].0 == call) {
                let (of, count) = order.places[earlier];
                if of != number && clock[of] < count && depend(&steps[earlier].1.next, &step.next) {
                    races.push(earlier);
                    join(&mut clock, &order.clocks[earlier]);
                }
            }
            let thread = &mut threads[number];
            thread.steps += 1;
            thread.last = Some(index);
            clock[number] = thread.steps;
            order.places.push((number, thread.steps));
            order.clocks.push(clock);
            order.races.push(races);
        }
        order
    }

    /// Steps of other threads that `later` depends on, with nothing in between.
    pub(super) fn races_with(&self, later: usize) -> Vec<usize> {
        self.races[later].clone()
    }

    fn before(&self, one: usize, other: usize) -> bool {
        let (thread, count) = self.places[one];
        self.clocks[other][thread] >= count
    }

    /// Who may come first where `later` comes before `earlier`, and all else stays as it is.
    pub(super) fn initials(
        &self,
        steps: &[(usize, &Step)],
        earlier: usize,
        later: usize,
    ) -> Vec<ThreadId> {
        let mut rest: Vec<usize> =
            (earlier + 1..later).filter(|step| !self.before(earlier, *step)).collect();
        rest.push(later);
        let first = |at: &usize| !rest.iter().any(|m| m != at && m < at && self.before(*m, *at));
        rest.iter().filter(|at| first(at)).map(|at| steps[*at].1.thread).collect()
    }
}

fn join(clock: &mut Clock, other: &Clock) {
    for (own, other) in clock.iter_mut().zip(other) {
        *own = (*own).max(*other);
    }
}
