//! The detector itself: what each event means for the clocks, and which accesses race.

use std::collections::HashSet;
use std::ops::Range;

use collectives::Rank;

use super::clock::Epoch;
use super::conflict::{forget_releases, is_known, race_kind};
use super::history::{self, Flag, Missing, Race, RaceKind};
use super::shadow::{Class, FlagStore, GRANULE, HostAccess, Packet, Record, Shadow};
use super::synchronise::{acquire, release};
use super::threads::{Threads, index};
use super::weak::Weak;
use crate::observe::access::{Access, Operation, Order, Scope, ThreadId};
use crate::observe::observer::Observer;

/// No more races than this are kept.
const KEPT: usize = 64;

/// An observer that finds data races between the threads of all ranks.
#[derive(Debug)]
pub struct Races {
    watched: Range<usize>,
    threads: Threads,
    shadow: Shadow,
    weak: Option<Weak>,
    /// Events so far.
    time: u64,
    pub(super) found: Vec<Race>,
    known: HashSet<(usize, usize, RaceKind)>,
}

impl Races {
    /// A detector of races at the addresses `watched`, and in block-shared memory.
    pub fn new(watched: Range<usize>) -> Races {
        Races {
            watched,
            threads: Threads::default(),
            shadow: Shadow::default(),
            weak: None,
            time: 0,
            found: Vec::new(),
            known: HashSet::new(),
        }
    }

    /// A detector that also makes plain stores visible late and out of order, as `seed` decides.
    /// The addresses must be those of mapped heaps.
    pub fn with_late_stores(watched: Range<usize>, seed: u64) -> Races {
        Races { weak: Some(Weak::new(seed)), ..Races::new(watched) }
    }

    /// What the running thread may see has grown.
    fn refresh(&mut self, id: ThreadId) {
        if let Some(weak) = &mut self.weak {
            weak.refresh(self.threads.slot(id), &self.threads);
        }
    }

    /// Atomics are never late, and everything that was stored there before shows.
    fn settle_bytes(&mut self, access: &Access) {
        if let Some(weak) = &mut self.weak {
            let slot = self.threads.slot(access.thread);
            weak.happened();
            weak.settle_bytes(access.address, access.size as usize, slot, &self.threads);
        }
    }

    /// A plain store may be late.
    fn announce(&mut self, access: &Access) {
        if let Some(weak) = &mut self.weak {
            weak.happened();
            if access.operation == Operation::Write && self.watched.contains(&access.address) {
                let slot = self.threads.slot(access.thread);
                let epoch = self.threads.get(slot).epoch;
                weak.announce(epoch, access.address, access.size as usize);
            }
        }
    }

    /// The races that were found, at most one for each pair of places in the code and 64 in all.
    pub fn into_found(self) -> Vec<Race> {
        self.found
    }

    /// The last atomic or volatile store to each address, in the order of the stores.
    pub fn flags(&self) -> Vec<Access> {
        let mut stores: Vec<&FlagStore> = self.shadow.flags().collect();
        stores.sort_by_key(|store| store.time);
        stores.iter().map(|store| store.access).collect()
    }

    /// Checks an access against all that it may race with, and notes it.
    fn check(&mut self, access: &Access, class: Class) {
        self.time += 1;
        let slot = self.threads.slot(access.thread);
        let end = access.address + access.size as usize;
        let mut from = access.address;
        while from < end {
            let granule = from & !(GRANULE - 1);
            let to = end.min(granule + GRANULE);
            let bits = (1u32 << (to - from)) - 1;
            let mask = (bits << (from - granule)) as u16;
            let epoch = self.threads.get(slot).epoch;
            let record = Record { mask, epoch, class, access: *access, time: self.time };
            let cell = self.shadow.cell(granule);
            if class.writes && class.atomic.is_none() && !cell.locations.is_empty() {
                forget_releases(cell, from..to);
            }
            if !is_known(cell, &record) {
                self.check_cell(granule, slot, record);
            }
            from = to;
        }
    }

    /// A rank's host reads or writes all bytes of some ranges.
    fn host_accesses(&mut self, rank: Rank, call: u32, ranges: &[Range<usize>], writes: bool) {
        self.time += 1;
        let slot = self.threads.slot(ThreadId::host(rank, 0));
        let epoch = self.threads.get(slot).epoch;
        let class = Class { writes, atomic: None };
        let access = Access {
            thread: ThreadId::host(rank, call),
            operation: if writes { Operation::Write } else { Operation::Read },
            order: Order::Relaxed,
            scope: Scope::System,
            address: 0,
            size: 0,
            site: Access::NO_SITE,
        };
        let record = Record { mask: 0, epoch, class, access, time: self.time };
        for range in ranges {
            let host = HostAccess { range: range.clone(), record };
            for granule in self.shadow.note_host(host.clone()) {
                let Some(record) = host.record_of(granule) else { continue };
                if writes {
                    let bytes = record.access.address..record.access.address + GRANULE;
                    forget_releases(
                        self.shadow.cell(granule),
                        bytes.start..bytes.end.min(range.end),
                    );
                }
                self.check_cell(granule, slot, record);
            }
        }
    }

    fn check_cell(&mut self, granule: usize, slot: usize, new: Record) {
        let thread = self.threads.get(slot);
        let cell = self.shadow.cell(granule);
        let mut racing: Vec<(Record, RaceKind)> = Vec::new();
        cell.records.retain_mut(|old| {
            let both = old.mask & new.mask;
            if both == 0 {
                return true;
            }
            if !thread.follows(old.epoch) {
                match race_kind(old, &new) {
                    None => return true,
                    // Told once; as if ordered from here on, so that later races are seen too.
                    Some(kind) => racing.push((*old, kind)),
                }
            }
            if new.supersedes(old) {
                old.mask &= !new.mask;
            }
            old.mask != 0
        });
        cell.records.push(new);
        for (old, kind) in racing {
            self.note_race(&old, &new, kind, granule);
        }
    }

    fn note_race(&mut self, old: &Record, new: &Record, kind: RaceKind, granule: usize) {
        let sites = (old.access.site.min(new.access.site), old.access.site.max(new.access.site));
        if self.found.len() == KEPT || !self.known.insert((sites.0, sites.1, kind)) {
            return;
        }
        let one = self.threads.get(old.epoch.slot as usize);
        let other = self.threads.get(new.epoch.slot as usize);
        let (flag, missing) = match kind {
            RaceKind::Scope => (None, Missing::WiderScope),
            RaceKind::MixedSize => (None, Missing::OneSize),
            RaceKind::Plain | RaceKind::Overwrite => {
                history::history(old, one, other, self.threads.block_of(other.id))
            }
        };
        let setter = flag.map(|flag: Flag| self.threads.slot(flag.store.thread));
        let missing = match (missing, setter) {
            (Missing::BarrierBeforeStore, Some(setter))
                if flag.is_some_and(|flag| !flag.store.order.releases())
                    && self.threads.get(setter).follows(old.epoch) =>
            {
                Missing::FenceBehindBarrier
            }
            _ => missing,
        };
        let address = granule + (old.mask & new.mask).trailing_zeros() as usize;
        let (first, second) = (old.access, new.access);
        self.found.push(Race { kind, first, second, address, flag, missing });
    }

    /// A packet may overwrite another one that a thread has read, if the thread has heard of it.
    fn packet_store(&mut self, access: &Access) {
        self.check(access, Class { writes: true, atomic: Some(Scope::System) });
        let slot = self.threads.slot(access.thread);
        let location = self.shadow.cell(access.address).location(access.address, access.size);
        let thread = self.threads.get(slot);
        let unheard = location.packet.take().and_then(|packet| match packet.reads.is_empty() {
            true => Some(packet.store),
            false => {
                let unheard = |read: &&(Access, Epoch)| !thread.has_heard_of(read.1);
                packet.reads.iter().find(unheard).map(|read| read.0)
            }
        });
        let thread = self.threads.get_mut(slot);
        // Publish after the bump: who receives the packet has heard of everything up to it.
        thread.bump();
        location.packet = Some(Packet { store: *access, stamp: thread.stamp(), reads: Vec::new() });
        if let Some(first) = unheard {
            self.note_overwrite(first, *access);
        }
    }

    fn packet_match(&mut self, access: &Access) {
        let slot = self.threads.slot(access.thread);
        let location = self.shadow.cell(access.address).location(access.address, access.size);
        let thread = self.threads.get_mut(slot);
        thread.bump();
        if let Some(packet) = &mut location.packet {
            thread.receive(&packet.stamp);
            packet.reads.push((*access, thread.epoch));
        }
    }

    fn note_overwrite(&mut self, first: Access, second: Access) {
        let kind = RaceKind::Overwrite;
        if self.found.len() < KEPT && self.known.insert((first.site, second.site, kind)) {
            let (address, flag, missing) = (second.address, None, Missing::Acknowledgement);
            self.found.push(Race { kind, first, second, address, flag, missing });
        }
    }

    fn atomically(&mut self, access: &Access) {
        let (reads, writes) = match access.operation {
            Operation::AtomicUpdate => (true, true),
            operation => (!operation.writes(), operation.writes()),
        };
        self.check(access, Class { writes, atomic: Some(access.scope) });
        let slot = self.threads.slot(access.thread);
        let Races { threads, shadow, weak, time, .. } = self;
        let location = shadow.cell(access.address).location(access.address, access.size);
        if reads {
            acquire(threads, location, slot, access, *time);
            if let Some(weak) = weak
                && access.order.acquires()
            {
                weak.refresh(slot, threads);
            }
        }
        if writes {
            release(threads, location, slot, access, reads, *time);
        }
    }
}

impl Observer for Races {
    fn watches(&self) -> Range<usize> {
        self.watched.clone()
    }

    fn watches_shared_memory(&self) -> bool {
        true
    }

    fn access(&mut self, access: &Access) {
        match access.operation {
            Operation::VolatileRead | Operation::VolatileWrite => {
                self.settle_bytes(access);
                // Volatile is relaxed at system scope; what is wider than a word goes word by
                // word, in no order (PTX ISA 8.2.4 and 8.4.2).
                let word = access.size.min(8);
                let words = (0..access.size).step_by(word.max(1) as usize);
                for at in words {
                    let address = access.address + at as usize;
                    let size = word.min(access.size - at);
                    self.atomically(&Access { address, size, ..*access });
                }
            }
            _ => {
                let writes = access.operation == Operation::Write;
                self.check(access, Class { writes, atomic: None });
                self.announce(access);
            }
        }
    }

    fn atomic(&mut self, access: &Access) {
        self.settle_bytes(access);
        match access.operation {
            Operation::PacketStore => self.packet_store(access),
            Operation::PacketLoad => {
                self.check(access, Class { writes: false, atomic: Some(Scope::System) });
            }
            Operation::PacketMatch => self.packet_match(access),
            _ => self.atomically(access),
        }
    }

    fn fence(&mut self, id: ThreadId, order: Order, scope: Scope, _: usize) {
        self.time += 1;
        let slot = self.threads.slot(id);
        if let Some(weak) = &mut self.weak {
            // A store in front of a fence belongs to the epoch that the fence ends.
            weak.happened();
        }
        let thread = self.threads.get_mut(slot);
        let reach = index(scope);
        if order.acquires() {
            thread.acquire_fence = Some(self.time);
            // The scope must take in the writer; those farther away wait for a wider fence.
            for distance in 0..=reach {
                for stamp in std::mem::take(&mut thread.pending[distance]) {
                    thread.acquire(&stamp);
                }
            }
        }
        if order.releases() {
            thread.release_fence = Some(self.time);
            let stamp = thread.stamp();
            thread.fenced[..reach].fill(None);
            thread.fenced[reach] = Some(stamp);
            thread.bump();
        }
        if order.acquires() {
            self.refresh(id);
        }
    }

    fn barrier(&mut self, rank: Rank, call: u32, block: u32, threads: Range<u32>) {
        self.threads.barrier(rank, call, block, threads);
    }

    /// A kernel's end is a release to its host, and to nobody else.
    fn call_ends(&mut self, rank: Rank, call: u32, read: &[Range<usize>]) {
        if let Some(weak) = &mut self.weak {
            weak.settle();
        }
        self.threads.call_ends(rank, call);
        self.host_accesses(rank, call, read, false);
    }

    fn call_begins(&mut self, rank: Rank, call: u32, written: &[Range<usize>]) {
        self.host_accesses(rank, call, written, true);
        self.threads.call_begins(rank, call);
    }

    fn exit(&mut self, thread: ThreadId) {
        self.threads.exit(thread);
        if let Some(weak) = &mut self.weak {
            weak.hide();
        }
    }

    fn enters(&mut self, thread: ThreadId) {
        if let Some(weak) = &mut self.weak {
            weak.enters(self.threads.slot(thread), &self.threads);
        }
    }

    fn leaves(&mut self) -> Option<usize> {
        self.weak.as_mut()?.leaves()
    }

    fn settle(&mut self) -> bool {
        self.weak.as_mut().is_some_and(Weak::settle)
    }
}
