//! Which blocks are admitted: as many of each launch as the schedule lets live at once.

use crate::schedule::contract::Live;

/// One launch's blocks.
#[derive(Debug)]
struct Blocks {
    grid: u32,
    /// The next block that has not been admitted.
    next: u32,
    /// Admitted blocks that have not ended.
    resident: u32,
}

impl Blocks {
    fn admit(&mut self) -> Option<u32> {
        let block = self.next;
        (block < self.grid).then(|| {
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
    /// No block of these grids has been admitted.
    pub(super) fn new(grids: impl Iterator<Item = u32>) -> Residency {
        Residency { launches: grids.map(|grid| Blocks { grid, next: 0, resident: 0 }).collect() }
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

    /// An admitted block of a launch has ended.
    pub(super) fn ended(&mut self, launch: usize) {
        self.launches[launch].resident -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_follow_each_other_where_one_rank_lives_at_a_time() {
        let mut residency = Residency::new([2, 1].into_iter());
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
        let mut residency = Residency::new([3, 1].into_iter());
        let admitted = std::iter::from_fn(|| residency.admit(2, Live::AllRanks));
        assert_eq!(admitted.collect::<Vec<_>>(), [(0, 0), (0, 1), (1, 0)]);
    }
}
