//! A rank that is late at one place of its kernel, so that the others meet it there.

use std::ops::Range;
use std::time::Duration;

use collectives::Rank;
use serde::{Deserialize, Serialize};

use super::access::{Access, Operation, Order, Scope, ThreadId};
use super::observer::Observer;

/// The places of a kernel at which a rank can be made late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Late {
    /// Before its first store to another rank.
    BeforeWrite,
    /// Between a store to another rank and the flag that it raises behind it.
    BeforeFlag,
    /// Between the first flag that it has seen and the data that it reads behind it.
    BeforeRead,
    /// When its kernel has returned.
    AfterReturn,
}

impl Late {
    /// All places, in the order in which a kernel reaches them.
    pub const ALL: [Late; 4] =
        [Late::BeforeWrite, Late::BeforeFlag, Late::BeforeRead, Late::AfterReturn];

    /// The place in words that go on after "it was late".
    pub fn describe(self) -> &'static str {
        match self {
            Late::BeforeWrite => "before its first store to a peer",
            Late::BeforeFlag => "between its data and its flag",
            Late::BeforeRead => "between the flag that it saw and the data behind it",
            Late::AfterReturn => "when its kernel had returned",
        }
    }
}

/// An observer that stops a rank's kernel once, for a given time, at a given place.
#[derive(Debug)]
pub struct Delay {
    late: Late,
    time: Duration,
    /// All heaps, and the rank's own one.
    heaps: Range<usize>,
    own: Range<usize>,
    wrote: bool,
    saw: bool,
    over: bool,
}

impl Delay {
    /// Stops the rank whose heap is `own` for `time` at a place. `heaps` are the addresses of all
    /// heaps.
    pub fn new(late: Late, time: Duration, heaps: Range<usize>, own: Range<usize>) -> Delay {
        Delay { late, time, heaps, own, wrote: false, saw: false, over: false }
    }

    /// Must be called when the kernel has returned, for [`Late::AfterReturn`].
    pub fn returned(&mut self) {
        self.be_late(self.late == Late::AfterReturn);
    }

    fn be_late(&mut self, here: bool) {
        if here && !self.over {
            self.over = true;
            std::thread::sleep(self.time);
        }
    }

    fn note(&mut self, access: &Access) {
        let far = self.heaps.contains(&access.address) && !self.own.contains(&access.address);
        let plain = matches!(access.operation, Operation::Read | Operation::Write);
        let (late, writes) = (self.late, access.operation.writes());
        self.be_late(match late {
            Late::BeforeWrite => far && writes,
            Late::BeforeFlag => !plain && writes && self.wrote,
            Late::BeforeRead => plain && !writes && self.saw,
            Late::AfterReturn => false,
        });
        self.wrote |= plain && writes && far;
        self.saw |= !plain && !writes;
    }
}

impl Observer for Delay {
    fn watches(&self) -> Range<usize> {
        self.heaps.clone()
    }
    fn watches_shared_memory(&self) -> bool {
        false
    }
    fn access(&mut self, access: &Access) {
        self.note(access);
    }
    fn atomic(&mut self, access: &Access) {
        self.note(access);
    }
    fn fence(&mut self, _: ThreadId, _: Order, _: Scope, _: usize) {}
    fn barrier(&mut self, _: Rank, _: u32, _: u32, _: Range<u32>) {}
    fn exit(&mut self, _: ThreadId) {}
    fn enters(&mut self, _: ThreadId) {}
    fn leaves(&mut self) -> Option<usize> {
        None
    }
    fn settle(&mut self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    /// After which of a producer's and consumer's events the rank was late; its heap is at 0..100.
    fn late_at(late: Late) -> Option<usize> {
        let mut delay = Delay::new(late, Duration::ZERO, 0..200, 0..100);
        let events = [
            (Operation::Read, 0),
            (Operation::Write, 40),
            (Operation::Write, 140),
            (Operation::Write, 144),
            (Operation::AtomicStore, 180),
            (Operation::AtomicLoad, 80),
            (Operation::Read, 40),
        ];
        let at = events.iter().position(|(operation, address)| {
            let thread = ThreadId { rank: Rank(0), call: 0, block: 0, thread: 0 };
            let (order, scope, site) = (Order::Relaxed, Scope::System, 0);
            let (operation, address, size) = (*operation, *address, 4);
            delay.note(&Access { thread, operation, order, scope, address, size, site });
            delay.over
        });
        delay.returned();
        assert!(delay.over);
        at
    }

    #[rstest]
    #[case(Late::BeforeWrite, Some(2))]
    #[case(Late::BeforeFlag, Some(4))]
    #[case(Late::BeforeRead, Some(6))]
    #[case(Late::AfterReturn, None)]
    fn a_rank_is_late_where_it_is_told(#[case] late: Late, #[case] event: Option<usize>) {
        assert_eq!(late_at(late), event);
    }
}
