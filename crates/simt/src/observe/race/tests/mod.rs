//! What the detector once got wrong, or would if a rule were turned round. Each test reads as the
//! threads' events in the order of one schedule.

use collectives::Rank;

use super::detector::Races;
use super::history::Missing;
use crate::observe::access::{Access, Operation, Order, Scope, ThreadId};
use crate::observe::observer::Observer as _;

mod calls;

const X: usize = 0x1000;
const Y: usize = 0x1040;
const FLAG: usize = 0x1100;

/// Rank, block, thread.
fn thread(rank: u32, block: u32, thread: u32) -> ThreadId {
    ThreadId { rank: Rank(rank), call: 0, block, thread }
}

struct Events(Races);

impl Events {
    fn new() -> Events {
        Events(Races::new(0x1000..0x2000))
    }

    fn access(&mut self, thread: ThreadId, operation: Operation, address: usize, size: u32) {
        let (order, scope, site) = (Order::Relaxed, Scope::System, address);
        self.0.access(&Access { thread, operation, order, scope, address, size, site });
    }

    fn write(&mut self, thread: ThreadId, address: usize) {
        self.access(thread, Operation::Write, address, 4);
    }

    fn read(&mut self, thread: ThreadId, address: usize) {
        self.access(thread, Operation::Read, address, 4);
    }

    fn atomic(&mut self, thread: ThreadId, operation: Operation, order: Order, scope: Scope) {
        let (address, size, site) = (FLAG, 4, FLAG);
        self.0.atomic(&Access { thread, operation, order, scope, address, size, site });
    }

    fn release(&mut self, thread: ThreadId) {
        self.atomic(thread, Operation::AtomicStore, Order::Release, Scope::System);
    }

    fn acquire(&mut self, thread: ThreadId) {
        self.atomic(thread, Operation::AtomicLoad, Order::Acquire, Scope::System);
    }

    fn fence(&mut self, thread: ThreadId, scope: Scope) {
        self.0.fence(thread, Order::SequentiallyConsistent, scope, 0);
    }

    /// The addresses of the races so far.
    fn races(&self) -> Vec<usize> {
        self.0.found.iter().map(|race| race.address).collect()
    }
}

#[test]
fn what_follows_a_release_is_not_published_by_it() {
    let (one, other) = (thread(0, 0, 0), thread(1, 0, 0));
    let mut events = Events::new();
    events.write(one, X);
    events.release(one);
    events.write(one, Y);
    events.acquire(other);
    events.read(other, X);
    assert_eq!(events.races(), []);
    events.read(other, Y);
    assert_eq!(events.races(), [Y]);
}

#[test]
fn a_fence_acquires_from_writers_within_its_scope_only_and_a_wider_one_later() {
    let (one, other) = (thread(0, 0, 0), thread(1, 0, 0));
    let mut events = Events::new();
    events.write(one, X);
    events.write(one, Y);
    events.release(one);
    events.atomic(other, Operation::AtomicLoad, Order::Relaxed, Scope::System);
    events.fence(other, Scope::Agent);
    events.read(other, X);
    assert_eq!(events.races(), [X], "the writer is on another rank");
    events.fence(other, Scope::System);
    events.read(other, Y);
    assert_eq!(events.races(), [X]);
}

#[test]
fn a_release_goes_on_through_an_update_but_not_through_a_store_of_another_thread() {
    for (operation, races) in [(Operation::AtomicUpdate, vec![]), (Operation::AtomicStore, vec![X])]
    {
        let [one, two, three] = [0, 1, 2].map(|rank| thread(rank, 0, 0));
        let mut events = Events::new();
        events.write(one, X);
        events.release(one);
        events.atomic(two, operation, Order::Relaxed, Scope::System);
        events.acquire(three);
        events.read(three, X);
        assert_eq!(events.races(), races, "{operation:?}");
    }
}

#[test]
fn an_update_of_too_narrow_a_scope_ends_what_was_released() {
    let [one, two, three] = [0, 1, 2].map(|rank| thread(rank, 0, 0));
    let mut events = Events::new();
    events.write(one, X);
    events.release(one);
    events.atomic(two, Operation::AtomicUpdate, Order::Relaxed, Scope::Agent);
    events.acquire(three);
    events.read(three, X);
    assert!(events.races().contains(&X), "{:?}", events.races());
}

#[test]
fn those_who_have_left_are_missed_by_no_barrier() {
    let [one, two, gone] = [0, 1, 2].map(|index| thread(0, 0, index));
    let mut events = Events::new();
    events.write(gone, Y);
    events.0.exit(gone);
    events.write(one, X);
    events.0.barrier(Rank(0), 0, 0, 0..3);
    events.read(two, X);
    assert_eq!(events.races(), []);
    events.read(two, Y);
    assert_eq!(events.races(), [Y], "it ended before, but met no other thread");
}

#[test]
fn bytes_beside_each_other_do_not_meet() {
    let (one, other) = (thread(0, 0, 0), thread(1, 0, 0));
    let mut events = Events::new();
    events.access(one, Operation::Write, X, 2);
    events.access(other, Operation::Write, X + 2, 2);
    assert_eq!(events.races(), []);
    events.access(other, Operation::Write, X - 12, 16);
    assert_eq!(events.races(), [X]);
}

#[test]
fn a_fence_in_front_of_a_barrier_releases_nothing_of_the_others() {
    let [writer, setter, reader] = [thread(0, 0, 1), thread(0, 0, 0), thread(1, 0, 0)];
    for behind in [false, true] {
        let mut events = Events::new();
        events.write(writer, X);
        events.fence(writer, Scope::System);
        events.fence(setter, Scope::System);
        events.0.barrier(Rank(0), 0, 0, 0..2);
        if behind {
            events.fence(setter, Scope::System);
        }
        events.atomic(setter, Operation::AtomicStore, Order::Relaxed, Scope::System);
        events.acquire(reader);
        events.read(reader, X);
        assert_eq!(events.races().is_empty(), behind);
        let told = events.0.found.iter().all(|race| race.missing == Missing::FenceBehindBarrier);
        assert!(told, "{:?}", events.0.found);
    }
}

#[test]
fn stores_that_are_late_show_before_a_thread_is_stuck() {
    let mut memory = [0u32; 4];
    let address = memory.as_mut_ptr() as usize;
    let one = thread(0, 0, 0);
    let mut races = Races::with_late_stores(address..address + 16, 1);
    races.enters(one);
    let (order, scope, operation) = (Order::Relaxed, Scope::System, Operation::Write);
    races.access(&Access { thread: one, operation, order, scope, address, size: 4, site: 0 });
    // SAFETY: the array lives on, and no other thread looks at it.
    unsafe { (address as *mut u32).write_volatile(7) };
    races.exit(one);
    // SAFETY: the address is that of the array, which lives until the end of the test.
    let seen = || unsafe { (address as *const u32).read_volatile() };
    assert_eq!(seen(), 0, "it is kept back");
    assert!(races.settle());
    assert_eq!(seen(), 7);
    assert!(!races.settle(), "nothing is left");
}

#[test]
fn sixty_four_ranks_are_told_apart() {
    let ranks: Vec<ThreadId> = (0..64).map(|rank| thread(rank, 0, 0)).collect();
    let keys: std::collections::HashSet<u64> = ranks.iter().map(|id| id.key()).collect();
    assert_eq!(keys.len(), 64);
    let place = |rank: usize| 0x1400 + 16 * rank;
    // Each rank adds to a counter in turn, behind what it wrote; the last one has heard of all.
    let update = |events: &mut Events, id: ThreadId| {
        events.atomic(id, Operation::AtomicUpdate, Order::AcquireRelease, Scope::System);
    };
    let mut events = Events::new();
    for (at, id) in ranks.iter().enumerate() {
        events.write(*id, place(at));
        update(&mut events, *id);
    }
    let last = ranks[63];
    (0..64).for_each(|at| events.read(last, place(at)));
    assert_eq!(events.races(), []);
    // The first one has not heard of the last one.
    events.read(ranks[0], place(63));
    assert_eq!(events.races(), [place(63)]);
    // A block's shared memory is no other rank's.
    let mut events = Events::new();
    for id in &ranks {
        events.write(*id, crate::observe::shared_memory::address_of(id.rank, 0, 0));
    }
    assert_eq!(events.races(), []);
}

/// The wider fence is older: what was stored between the two is published by the narrower one.
#[test]
fn an_older_wider_fence_does_not_hide_a_newer_narrower_one() {
    let (one, other) = (thread(0, 0, 0), thread(0, 0, 1));
    let mut events = Events::new();
    events.fence(one, Scope::Agent);
    events.write(one, X);
    events.fence(one, Scope::Block);
    events.atomic(one, Operation::AtomicStore, Order::Relaxed, Scope::Block);
    events.atomic(other, Operation::AtomicLoad, Order::Relaxed, Scope::Block);
    events.fence(other, Scope::Block);
    events.read(other, X);
    assert_eq!(events.races(), []);
}
