//! Weak memory: plain stores to a heap that others see late and out of order.
//!
//! A plain store stays aside until a thread is known to come after it (happens-before), or until
//! a seeded drain shows it to all. While a thread runs, memory holds what it may see; when
//! it gives way, memory is as all see it. No thread is misled that waits as the memory
//! model wants it: the last write before a race-free read is always seen. Atomics, volatile
//! accesses and packets are never late: what is late is the data that a flag should publish.

use collectives::draw::Draw;

use super::clock::Epoch;
use super::threads::Threads;

/// More stores than this are not kept aside.
const ASIDE: usize = 256;
/// An access has no more bytes.
const LONGEST: usize = 16;
/// A plain vector of that size is so many stores of this size, in no order (PTX ISA 8.2.4).
const PIECE: usize = 4;

/// A store that not every thread sees.
#[derive(Debug, Clone, Copy)]
struct Entry {
    epoch: Epoch,
    address: usize,
    size: usize,
    /// What it wrote.
    new: [u8; LONGEST],
    /// What stands beneath it, while it is shown.
    old: [u8; LONGEST],
    shown: bool,
}

impl Entry {
    fn show(&mut self) {
        self.old = load(self.address, self.size);
        store(self.address, &self.new[..self.size]);
        self.shown = true;
    }

    fn hide(&mut self) {
        if self.shown {
            self.new = load(self.address, self.size);
            store(self.address, &self.old[..self.size]);
            self.shown = false;
        }
    }

    fn overlaps(&self, address: usize, size: usize) -> bool {
        self.address < address + size && address < self.address + self.size
    }
}

fn load(address: usize, size: usize) -> [u8; LONGEST] {
    let mut bytes = [0; LONGEST];
    for (at, byte) in bytes[..size].iter_mut().enumerate() {
        // SAFETY: a kernel thread has accessed these bytes of a heap or is about to, and heaps
        // stay mapped during a run; everything runs on one OS thread.
        *byte = unsafe { ((address + at) as *const u8).read_volatile() };
    }
    bytes
}

fn store(address: usize, bytes: &[u8]) {
    for (at, byte) in bytes.iter().enumerate() {
        // SAFETY: a kernel thread has stored to these bytes of a heap, and heaps stay mapped during
        // a run; everything runs on one OS thread.
        unsafe { ((address + at) as *mut u8).write_volatile(*byte) };
    }
}

/// Stores that not every thread sees, the oldest first.
#[derive(Debug)]
pub(super) struct Weak {
    entries: Vec<Entry>,
    /// A store that was announced and may not have happened yet.
    announced: Option<Entry>,
    draw: Draw,
    /// One step in so many drains a store.
    rarely: u64,
}

impl Weak {
    pub(super) fn new(seed: u64) -> Weak {
        let mut draw = Draw::new(seed);
        let rarely = 4 << (2 * (draw.below(3)));
        Weak { entries: Vec::new(), announced: None, draw, rarely }
    }

    /// A thread goes on: memory becomes what it may see.
    pub(super) fn enters(&mut self, slot: usize, threads: &Threads) {
        let thread = threads.get(slot);
        for entry in self.entries.iter_mut().filter(|entry| thread.follows(entry.epoch)) {
            entry.show();
        }
    }

    /// It gives way: memory becomes what all see. Returns the address that was drained, if any.
    pub(super) fn leaves(&mut self) -> Option<usize> {
        self.hide();
        let number = self.draw.number();
        let full = self.entries.len() > ASIDE;
        if self.entries.is_empty() || (!full && !number.is_multiple_of(self.rarely)) {
            return None;
        }
        let pick = if full { 0 } else { (number >> 32) as usize % self.entries.len() };
        let Entry { address, size, .. } = self.entries[pick];
        // The order of stores to one byte is the same for all threads.
        let older = self.entries[..pick].iter().any(|entry| entry.overlaps(address, size));
        (!older).then(|| {
            let entry = self.entries.remove(pick);
            store(entry.address, &entry.new[..entry.size]);
            entry.address
        })
    }

    /// A plain store is about to happen.
    pub(super) fn announce(&mut self, epoch: Epoch, address: usize, size: usize) {
        let old = load(address, size);
        self.announced = Some(Entry { epoch, address, size, new: old, old, shown: true });
    }

    /// The store that was announced has happened.
    pub(super) fn happened(&mut self) {
        let Some(whole) = self.announced.take() else { return };
        let piece = if whole.size == LONGEST { PIECE } else { whole.size };
        for at in (0..whole.size).step_by(piece) {
            let mut entry = Entry { address: whole.address + at, size: piece, ..whole };
            entry.old[..piece].copy_from_slice(&whole.old[at..at + piece]);
            self.entries.push(entry);
        }
    }

    /// All threads see these bytes as they are now, the running thread too.
    pub(super) fn settle_bytes(
        &mut self,
        address: usize,
        size: usize,
        slot: usize,
        threads: &Threads,
    ) {
        if let Some(last) = self.entries.iter().rposition(|entry| entry.overlaps(address, size)) {
            self.hide();
            for entry in self.entries.drain(..=last) {
                store(entry.address, &entry.new[..entry.size]);
            }
            self.enters(slot, threads);
        }
    }

    /// All threads see all stores. Returns whether that changed anything.
    pub(super) fn settle(&mut self) -> bool {
        self.hide();
        let any = !self.entries.is_empty();
        for entry in self.entries.drain(..) {
            store(entry.address, &entry.new[..entry.size]);
        }
        any
    }

    /// What a thread may see has grown.
    pub(super) fn refresh(&mut self, slot: usize, threads: &Threads) {
        if self.entries.iter().any(|entry| !entry.shown) {
            self.hide();
            self.enters(slot, threads);
        }
    }

    /// Memory becomes what all see.
    pub(super) fn hide(&mut self) {
        self.happened();
        self.entries.iter_mut().rev().for_each(Entry::hide);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which words of a plain vector of 16 bytes others see, drain after drain.
    fn drained(seed: u64) -> Vec<[bool; 4]> {
        let mut vector = [0u32; 4];
        let address = vector.as_mut_ptr() as usize;
        let word = |at: usize| {
            let bytes: [u8; 4] = load(address + 4 * at, 4)[..4].try_into().expect("four bytes");
            u32::from_ne_bytes(bytes)
        };
        let mut weak = Weak::new(seed);
        weak.announce(Epoch { slot: 0, count: 1 }, address, 16);
        let new = [1u32, 2, 3, 4].map(u32::to_ne_bytes).concat();
        store(address, &new);
        let mut seen = Vec::new();
        while seen.last() != Some(&[true; 4]) {
            weak.leaves();
            let now = [0, 1, 2, 3].map(|at| word(at) == at as u32 + 1);
            if seen.last() != Some(&now) {
                seen.push(now);
            }
        }
        seen
    }

    #[test]
    fn a_plain_vector_shows_word_by_word_in_any_order() {
        let orders: Vec<Vec<[bool; 4]>> = (0..16).map(drained).collect();
        let torn = orders.iter().all(|order| {
            order.windows(2).all(|pair| {
                let words = |of: &[bool; 4]| of.iter().filter(|seen| **seen).count();
                words(&pair[1]) == words(&pair[0]) + 1
            })
        });
        assert!(torn, "{orders:?}");
        assert!(orders.iter().any(|order| order != &orders[0]), "{orders:?}");
    }
}
