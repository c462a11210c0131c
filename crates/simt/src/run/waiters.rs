//! Fibers that wait for memory, in the order in which they came, and by the place they wait for.

use std::collections::BTreeMap;

use crate::observe::numbers::NumberMap;
use crate::schedule::contract::PLACE_BITS;

/// Fibers that wait for memory.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    arrivals: u64,
    /// (fiber, place), by arrival.
    waiting: BTreeMap<u64, (usize, usize)>,
    /// Arrivals by place.
    places: NumberMap<usize, Vec<u64>>,
}

impl Waiters {
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// `fiber` waits for `address` to change (0: it is not known what it waits for).
    pub(crate) fn add(&mut self, fiber: usize, address: usize) {
        let place = address >> PLACE_BITS;
        self.arrivals += 1;
        self.waiting.insert(self.arrivals, (fiber, place));
        self.places.entry(place).or_default().push(self.arrivals);
    }

    /// The fibers that wait for `address`, which no longer wait.
    pub(crate) fn take(&mut self, address: usize) -> Vec<usize> {
        let arrivals = self.places.get_mut(&(address >> PLACE_BITS)).map(std::mem::take);
        let arrivals = arrivals.unwrap_or_default();
        arrivals.iter().filter_map(|arrival| self.waiting.remove(arrival)).map(|w| w.0).collect()
    }

    /// Takes one fiber, which no longer waits.
    pub(crate) fn take_one(&mut self, fiber: usize) {
        self.waiting.retain(|_, (waiting, _)| *waiting != fiber);
    }

    /// All of them, which no longer wait.
    pub(crate) fn take_all(&mut self) -> Vec<usize> {
        self.places.clear();
        std::mem::take(&mut self.waiting).into_values().map(|(fiber, _)| fiber).collect()
    }

    /// All fibers that wait.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        self.waiting.values().map(|(fiber, _)| *fiber)
    }
}
