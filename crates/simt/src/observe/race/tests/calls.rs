//! Calls that follow each other on a rank: what its host reads and writes in between races with peers that
//! nothing orders.

use rstest::rstest;

use super::*;
use crate::observe::race::history::Race;

/// Rank 0's own thread in its first and in its second call, and rank 1's thread in its first call.
const OWN: [ThreadId; 2] = [
    ThreadId { rank: Rank(0), call: 0, block: 0, thread: 0 },
    ThreadId { rank: Rank(0), call: 1, block: 0, thread: 0 },
];
const PEER: ThreadId = ThreadId { rank: Rank(1), call: 0, block: 0, thread: 0 };
/// What rank 0's host reads and writes: `X` and `Y`, not `FLAG`.
const HEAP: std::ops::Range<usize> = 0x1000..0x1100;

impl Events {
    fn between_calls(&mut self) {
        self.0.call_ends(Rank(0), 0, &[HEAP]);
        self.0.call_begins(Rank(0), 1, &[HEAP]);
    }
}

#[test]
fn a_rank_s_own_calls_are_in_order() {
    let mut events = Events::new();
    events.write(OWN[0], X);
    events.between_calls();
    events.write(OWN[1], X);
    events.read(OWN[1], Y);
    assert_eq!(events.races(), []);
}

#[rstest]
#[case::late_write(Operation::Write)]
#[case::late_read(Operation::Read)]
fn a_peer_that_nothing_orders_races_with_the_host(
    #[case] operation: Operation,
    #[values(false, true)] touched_before: bool,
    #[values(false, true)] peer_comes_first: bool,
) {
    let mut events = Events::new();
    if touched_before {
        events.read(OWN[0], X);
    }
    if peer_comes_first {
        events.access(PEER, operation, X, 4);
        events.between_calls();
    } else {
        events.between_calls();
        events.access(PEER, operation, X, 4);
    }
    let host = |race: &&Race| race.first.thread.is_host() || race.second.thread.is_host();
    let with_host: Vec<usize> =
        events.0.found.iter().filter(host).map(|race| race.address).collect();
    assert_eq!(with_host, [X]);
}

/// An exit wait: the peer's accesses come before the end of the rank's own call.
#[test]
fn a_peer_that_has_said_that_it_is_done_does_not() {
    let mut events = Events::new();
    events.write(PEER, X);
    events.read(PEER, Y);
    events.release(PEER);
    events.acquire(OWN[0]);
    events.between_calls();
    assert_eq!(events.races(), []);
}

/// An entry wait: the peer's accesses come after the beginning of the rank's next call.
#[test]
fn a_peer_that_has_heard_of_the_next_call_does_not() {
    let mut events = Events::new();
    events.between_calls();
    events.release(OWN[1]);
    events.acquire(PEER);
    events.write(PEER, X);
    events.read(PEER, Y);
    assert_eq!(events.races(), []);
}

/// What was released in the call before says nothing of the host's accesses behind it.
#[test]
fn a_flag_of_the_call_before_is_not_enough() {
    let mut events = Events::new();
    events.release(OWN[0]);
    events.between_calls();
    events.acquire(PEER);
    events.write(PEER, X);
    assert_eq!(events.races(), [X]);
}

/// The last call of a rank has no next one, but its host reads what it left.
#[test]
fn the_last_output_is_read_when_the_call_has_ended() {
    let mut events = Events::new();
    events.write(OWN[0], X);
    events.0.call_ends(Rank(0), 0, &[HEAP]);
    events.read(PEER, X + 4);
    assert_eq!(events.races(), []);
    events.write(PEER, Y);
    assert_eq!(events.races(), [Y]);
}

/// Blocks of one number in two calls are no block.
#[test]
fn a_barrier_orders_threads_of_its_own_call_only() {
    let mut events = Events::new();
    let other = ThreadId { thread: 1, ..OWN[0] };
    events.0.call_ends(Rank(0), 0, &[]);
    events.0.call_begins(Rank(0), 1, &[]);
    events.write(other, X);
    events.0.barrier(Rank(0), 1, 0, 0..2);
    events.write(OWN[1], X);
    assert_eq!(events.races(), [X]);
}
