//! Which blocks are admitted: as many of each launch as the schedule lets live at once.

use super::launch::RankLaunch;
use crate::schedule::contract::Live;

/// One launch's blocks.
#[derive(Debug)]
struct Blocks {
    /// Whether it has begun: not before the rank's launch before has ended.
    open: bool,
    grid: u32,
    /// The next block that has not been admitted.
    next: u32,
    /// Admitted blocks that have not ended.
    resident: u32,
}

impl Blocks {
    fn admit(&mut self) -> Option<u32> {
        let block = self.next;
        (self.open && block < self.grid).then(|| {
            self.next += 1;
            self.resident += 1;
            block
        })
    }

    fn have_ended(&self) -> bool {
        self.next == self.grid && self.resident == 0
    }
}

/// The blocks of all launches, by launch.
#[derive(Debug)]
pub(super) struct Residency {
    launches: Vec<Blocks>,
}

impl Residency {
    /// No block has been admitted. The first launch of every rank has begun.
    pub(super) fn new(launches: &[RankLaunch<'_>]) -> Residency {
        let follows = |at: usize| launches[..at].iter().any(|one| one.rank == launches[at].rank);
        let grids = launches.iter().enumerate().map(|(at, launch)| (!follows(at), launch.grid));
        Residency::of(grids)
    }

    /// Launches that have begun or not, with their grids.
    fn of(launches: impl Iterator<Item = (bool, u32)>) -> Residency {
        let blocks = |(open, grid)| Blocks { open, grid, next: 0, resident: 0 };
        Residency { launches: launches.map(blocks).collect() }
    }

    /// A launch begins.
    pub(super) fn open(&mut self, launch: usize) {
        self.launches[launch].open = true;
    }

    /// The next block to admit, as (launch, block), where at most `resident` blocks of a launch
    /// live at once. `None` where no more fit.
    pub(super) fn admit(&mut self, resident: u32, live: Live) -> Option<(usize, u32)> {
        for (launch, blocks) in self.launches.iter_mut().enumerate() {
            if blocks.resident < resident
                && let Some(block) = blocks.admit()
            {
                return Some((launch, block));
            }
            if live == Live::OneRank && !blocks.have_ended() {
                return None;
            }
        }
        None
    }

    /// One more block than fit, of a launch that has begun. `None` where all are admitted.
    pub(super) fn admit_beyond(&mut self) -> Option<(usize, u32)> {
        let mut begun = self.launches.iter_mut().enumerate().filter(|(_, b)| b.resident > 0);
        begun.find_map(|(launch, blocks)| Some((launch, blocks.admit()?)))
    }

    /// An admitted block of a launch has ended. Returns whether it was the last one.
    pub(super) fn ended(&mut self, launch: usize) -> bool {
        let blocks = &mut self.launches[launch];
        blocks.resident -= 1;
        blocks.have_ended()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_follow_each_other_where_one_rank_lives_at_a_time() {
        let mut residency = Residency::of([(true, 2), (true, 1)].into_iter());
        assert_eq!(residency.admit(1, Live::OneRank), Some((0, 0)));
        assert_eq!(residency.admit(1, Live::OneRank), None);
        // The resident block waits for another one.
        assert_eq!(residency.admit_beyond(), Some((0, 1)));
        assert_eq!(residency.admit_beyond(), None);
        residency.ended(0);
        assert_eq!(residency.admit(1, Live::OneRank), None);
        residency.ended(0);
        assert_eq!(residency.admit(1, Live::OneRank), Some((1, 0)));
    }

    #[test]
    fn all_launches_are_filled_where_all_ranks_live() {
        let mut residency = Residency::of([(true, 3), (true, 1)].into_iter());
        let admitted = std::iter::from_fn(|| residency.admit(2, Live::AllRanks));
        assert_eq!(admitted.collect::<Vec<_>>(), [(0, 0), (0, 1), (1, 0)]);
    }

    #[test]
    fn a_launch_that_follows_another_begins_when_it_is_told() {
        let mut residency = Residency::of([(true, 1), (false, 1)].into_iter());
        assert_eq!(residency.admit(4, Live::AllRanks), Some((0, 0)));
        assert_eq!(residency.admit(4, Live::AllRanks), None);
        assert!(residency.ended(0));
        assert_eq!(residency.admit(4, Live::AllRanks), None);
        residency.open(1);
        assert_eq!(residency.admit(4, Live::AllRanks), Some((1, 0)));
    }
}
