//! The reduction against every order of every step, on small programs over a toy memory.

use std::collections::{BTreeSet, VecDeque};

use collectives::Rank;
use collectives::draw::Draw;
use rstest::rstest;

use super::explorer::{Branch, Explorer};
use super::exploring::Exploring;
use crate::observe::access::{Operation, Order, Scope, ThreadId};
use crate::observe::next::{Act, Next};
use crate::schedule::contract::{Ready, Schedule as _, Switches, Task};
use crate::schedule::recorder::Recorded;

const PLACES: usize = 3;

/// One step of a toy thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Store(usize, u64),
    Load(usize),
    Add(usize, u64),
    /// Polls until the place holds at least this.
    Wait(usize, u64),
    /// Polls until the place holds at least this, or gives up; sees which.
    Try(usize, u64),
    Barrier,
}
use Op::{Add, Barrier, Load, Store, Try, Wait};

#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Outcome {
    memory: [u64; PLACES],
    /// What each thread saw.
    seen: Vec<Vec<u64>>,
    stuck: bool,
}

fn thread(number: usize) -> ThreadId {
    ThreadId { rank: Rank(0), call: 0, block: 0, thread: number as u32 }
}

fn next(op: Option<&Op>, begun: bool, waits: bool) -> Next {
    let access = |operation, place: usize| {
        let act = Act::Access(operation, Order::Relaxed, Scope::System);
        Next { act, site: 0, address: 0x1000 + 64 * place, size: 8, waits }
    };
    match op {
        _ if !begun => Next::BEGIN,
        Some(Store(place, _)) => access(Operation::AtomicStore, *place),
        Some(Load(place) | Wait(place, _) | Try(place, _)) => access(Operation::AtomicLoad, *place),
        Some(Add(place, _)) => access(Operation::AtomicUpdate, *place),
        Some(Barrier) | None => Next { act: Act::Barrier, ..Next::BEGIN },
    }
}

/// A toy of the executor: threads of one block, led along a branch.
fn run(program: &[Vec<Op>], branch: Branch) -> (Outcome, Recorded) {
    let mut schedule = Exploring::new(branch, 1, Switches::Synchronisation);
    let mut outcome = Outcome { seen: vec![Vec::new(); program.len()], ..Outcome::default() };
    let count = program.len();
    // Where each thread stands; whether it has begun, failed to see what it waits for, is ready.
    let (mut at, mut begun) = (vec![0; count], vec![false; count]);
    let (mut waits, mut blocked) = (vec![false; count], vec![false; count]);
    let mut met = vec![false; count];
    loop {
        let over = |t: usize| at[t] == program[t].len();
        let arrived = |t: usize| begun[t] && program[t].get(at[t]) == Some(&Barrier);
        if (0..count).all(|t| arrived(t) || (begun[t] && over(t)) || met[t]) {
            met = (0..count).map(|t| met[t] || arrived(t)).collect();
        }
        let ready: VecDeque<Ready> = (0..count)
            .filter(|t| !over(*t) || !begun[*t])
            .filter(|t| !blocked[*t] && (!arrived(*t) || met[*t]))
            .map(|t| Ready { thread: thread(t), task: Task::Resume(t) })
            .collect();
        let tries = |t: usize| matches!(program[t].get(at[t]), Some(Try(..)));
        let bounded: Vec<Ready> = (0..count)
            .filter(|t| blocked[*t] && tries(*t))
            .map(|t| Ready { thread: thread(t), task: Task::GiveUp(t) })
            .collect();
        if ready.is_empty() && bounded.is_empty() {
            outcome.stuck = (0..count).any(|t| !over(t));
            return (outcome, schedule.into_recorded());
        }
        let look = |ready: &Ready| {
            let t = ready.thread.thread as usize;
            next(program[t].get(at[t]), begun[t], waits[t])
        };
        let gives_up = match bounded.is_empty() {
            true => None,
            false => schedule.gives_up(&bounded, &ready, &look),
        };
        if let Some(index) = gives_up {
            let t = bounded[index].thread.thread as usize;
            outcome.seen[t].push(0);
            at[t] += 1;
            (waits[t], blocked[t]) = (false, false);
            continue;
        }
        let pick = schedule.pick(&ready, None, &look);
        let t = ready[pick].thread.thread as usize;
        if !std::mem::replace(&mut begun[t], true) {
            continue;
        }
        let mut stored = None;
        match program[t][at[t]] {
            Store(place, value) => {
                outcome.memory[place] = value;
                stored = Some(place);
            }
            Load(place) => outcome.seen[t].push(outcome.memory[place]),
            Add(place, value) => {
                outcome.seen[t].push(outcome.memory[place]);
                outcome.memory[place] += value;
                stored = Some(place);
            }
            Wait(place, value) | Try(place, value) if outcome.memory[place] < value => {
                (waits[t], blocked[t]) = (true, true);
                continue;
            }
            Wait(..) => {}
            Try(..) => outcome.seen[t].push(1),
            Barrier => met[t] = false,
        }
        at[t] += 1;
        waits[t] = false;
        for (other, blocked) in blocked.iter_mut().enumerate() {
            let place = match program[other].get(at[other]) {
                Some(Wait(place, _) | Try(place, _)) => Some(*place),
                _ => None,
            };
            *blocked &= stored.is_none() || place != stored;
        }
    }
}

/// All outcomes, and how many interleavings gave them.
fn explore(program: &[Vec<Op>], brute: bool) -> (BTreeSet<Outcome>, u64) {
    let mut explorer = if brute { Explorer::without_reduction() } else { Explorer::new() };
    let mut outcomes = BTreeSet::new();
    loop {
        let (outcome, recorded) = run(program, explorer.branch(0));
        outcomes.insert(outcome);
        if !explorer.ran(&[recorded]) {
            return (outcomes, explorer.complete());
        }
        assert!(explorer.complete() < 300_000, "{program:?}");
    }
}

#[rstest]
#[case::store_buffering(vec![vec![Store(0, 1), Load(1)], vec![Store(1, 1), Load(0)]], 3)]
#[case::message(vec![vec![Store(0, 7), Store(1, 1)], vec![Wait(1, 1), Load(0)]], 2)]
#[case::independent_reads_of_independent_writes(
    vec![vec![Store(0, 1)], vec![Store(1, 1)], vec![Load(0), Load(1)], vec![Load(1), Load(0)]], 15)]
#[case::independent(vec![vec![Store(0, 1); 4], vec![Store(1, 1); 4], vec![Store(2, 1); 4]], 1)]
#[case::counter(vec![vec![Add(0, 1)], vec![Add(0, 2)], vec![Add(0, 4)]], 6)]
#[case::ends_stuck(vec![vec![Store(0, 1), Store(0, 2)], vec![Wait(0, 3)]], 4)]
#[case::gives_up(vec![vec![Store(0, 7), Store(1, 1)], vec![Try(1, 1), Load(0)]], 4)]
#[case::nobody_comes(vec![vec![Try(0, 1)], vec![Try(1, 1)]], 1)]
#[case::barrier(vec![vec![Store(0, 1), Barrier, Load(1)], vec![Store(1, 1), Barrier, Load(0)]], 1)]
fn known_programs_have_so_many_interleavings(
    #[case] program: Vec<Vec<Op>>,
    #[case] interleavings: u64,
) {
    let (outcomes, count) = explore(&program, false);
    assert_eq!(outcomes, explore(&program, true).0);
    assert_eq!(count, interleavings);
}

#[test]
fn random_programs_have_the_outcomes_of_every_order() {
    let mut numbers = Draw::new(5);
    let mut draw = |below: u64| (numbers.number() >> 20) % below;
    let (mut reduced, mut all) = (0, 0);
    for _ in 0..150 {
        let threads = 2 + draw(2) as usize;
        let most = if threads == 2 { 5 } else { 3 };
        let program: Vec<Vec<Op>> = (0..threads)
            .map(|_| {
                let ops = (0..1 + draw(most)).map(|_| {
                    let (place, value) = (draw(PLACES as u64) as usize, 1 + draw(2));
                    match draw(10) {
                        0..3 => Store(place, value),
                        3..5 => Load(place),
                        5..7 => Add(place, value),
                        7 => Barrier,
                        8 => Try(place, value),
                        _ => Wait(place, value),
                    }
                });
                ops.collect()
            })
            .collect();
        let (outcomes, count) = explore(&program, false);
        let (expected, brute) = explore(&program, true);
        assert_eq!(outcomes, expected, "{program:?}");
        assert!(count <= brute, "{program:?}: {count} of {brute}");
        (reduced, all) = (reduced + count, all + brute);
    }
    println!("{reduced} interleavings stand for {all}");
    assert!(reduced * 3 < all, "{reduced} of {all}: no reduction to speak of");
}
