//! The hosts of ranks in this process: what they do between calls.

use std::collections::BTreeMap;
use std::ops::Range;

use collectives::Rank;
use simt::Host;

use super::heap::MappedHeap;
use crate::borders::{Borders, Changed};
use crate::{DeviceError, Launch};

/// The hosts of all ranks that launch here. At the end of a call a host keeps the rank's heap; before the next
/// one it looks whether what it saw still stands there, and writes what the call begins with.
#[derive(Debug)]
pub(super) struct Hosts<'a> {
    borders: &'a Borders,
    launches: Vec<(Rank, u32)>,
    heaps: &'a BTreeMap<Rank, MappedHeap>,
    touched: BTreeMap<Rank, Vec<Range<usize>>>,
    /// The last call of each rank that has ended and that no other has followed.
    last: BTreeMap<Rank, u32>,
    /// How many launches of each call have not ended.
    running: Vec<usize>,
    changed: Vec<Changed>,
    failed: Option<DeviceError>,
}

impl<'a> Hosts<'a> {
    pub(super) fn new(
        borders: &'a Borders,
        launches: &[Launch],
        heaps: &'a BTreeMap<Rank, MappedHeap>,
    ) -> Hosts<'a> {
        let touched = |heap: &MappedHeap| {
            let at = |offset: u64| (heap.address() + offset) as usize;
            borders.touched.iter().map(|range| at(range.start)..at(range.end)).collect()
        };
        let launches: Vec<(Rank, u32)> = launches.iter().map(|l| (l.rank, l.call)).collect();
        let of_call = |call| launches.iter().filter(|(_, of)| *of == call).count();
        Hosts {
            running: (0..borders.calls).map(of_call).collect(),
            touched: heaps.iter().map(|(rank, heap)| (*rank, touched(heap))).collect(),
            launches,
            borders,
            heaps,
            last: BTreeMap::new(),
            changed: Vec::new(),
            failed: None,
        }
    }

    /// What has changed after calls had ended, to the end of the run.
    pub(super) fn finish(mut self) -> Result<Vec<Changed>, DeviceError> {
        for (rank, call) in std::mem::take(&mut self.last) {
            self.look_again(rank, call);
        }
        self.failed.map_or(Ok(self.changed), Err)
    }

    fn call_ends(&mut self, rank: Rank, call: u32) {
        let at = self.borders.left(call);
        self.heap(rank, |heap| heap.keep(at));
        self.last.insert(rank, call);
    }

    fn call_begins(&mut self, rank: Rank, call: u32) {
        if let Some(last) = self.last.remove(&rank) {
            self.look_again(rank, last);
        }
        let (at, touched) = (self.borders.before(call), &self.borders.touched);
        self.heap(rank, |heap| touched.iter().try_for_each(|range| heap.restore(range, at)));
    }

    fn look_again(&mut self, rank: Rank, call: u32) {
        let (at, touched) = (self.borders.left(call), &self.borders.touched);
        let mut changed = None;
        self.heap(rank, |heap| {
            let differs = |range: &Range<u64>| heap.first_difference(range, at).transpose();
            changed = touched.iter().find_map(differs).transpose()?;
            Ok(())
        });
        let changed = changed.map(|(offset, was, is)| Changed { rank, call, offset, was, is });
        self.changed.extend(changed);
    }

    /// Does something with a rank's heap; the first error is kept.
    fn heap(&mut self, rank: Rank, act: impl FnOnce(&MappedHeap) -> Result<(), DeviceError>) {
        let heap = self.heaps.get(&rank).ok_or(DeviceError::NoRank(rank, "heap"));
        if let Err(error) = heap.and_then(act) {
            self.failed.get_or_insert(error);
        }
    }
}

impl Host for Hosts<'_> {
    fn touches(&self, launch: usize) -> &[Range<usize>] {
        self.touched.get(&self.launches[launch].0).map_or(&[], Vec::as_slice)
    }

    fn ended(&mut self, launch: usize) {
        let (rank, call) = self.launches[launch];
        self.call_ends(rank, call);
        self.running[call as usize] -= 1;
        if self.running[call as usize] == 0 {
            for rank in &self.borders.idle {
                self.call_ends(*rank, call);
                if call + 1 < self.borders.calls {
                    self.call_begins(*rank, call + 1);
                }
            }
        }
    }

    fn begins(&mut self, launch: usize) {
        let (rank, call) = self.launches[launch];
        self.call_begins(rank, call);
    }
}
