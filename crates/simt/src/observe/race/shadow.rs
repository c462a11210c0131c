//! What is known about memory: per 16 bytes, the accesses that a later one may race with, and
//! the atomic locations.

use std::ops::Range;

use super::clock::{Epoch, Stamp};
use crate::observe::access::{Access, Scope};
use crate::observe::numbers::NumberMap;

/// Bytes of a granule.
pub(super) const GRANULE: usize = 16;
const GRANULES: usize = 256;

/// An access that has not been superseded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    /// Which bytes of the granule.
    pub(super) mask: u16,
    pub(super) epoch: Epoch,
    pub(super) class: Class,
    pub(super) access: Access,
    /// When, in events of the run.
    pub(super) time: u64,
}

/// What an access is to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) writes: bool,
    /// The scope of an atomic one.
    pub(super) atomic: Option<Scope>,
}

impl Record {
    fn place(&self) -> (usize, u32) {
        (self.access.address, self.access.size)
    }

    /// Both atomic on exactly the same bytes; scopes aside.
    pub(super) fn is_same_atomic(&self, other: &Record) -> bool {
        self.class.atomic.is_some() && other.class.atomic.is_some() && self.place() == other.place()
    }

    /// Whether whatever races with `older`, which happened before, races with this one too.
    pub(super) fn supersedes(&self, older: &Record) -> bool {
        let writes = self.class.writes || !older.class.writes;
        let atomic = match (self.class.atomic, older.class.atomic) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(own), Some(other)) => own <= other && self.place() == older.place(),
        };
        writes && atomic
    }
}

/// What was released at an atomic location.
#[derive(Debug, Clone)]
pub(super) struct Head {
    pub(super) scope: Scope,
    pub(super) stamp: Stamp,
}

/// An atomic store, for the history of a flag.
#[derive(Debug, Clone, Copy)]
pub(super) struct FlagStore {
    pub(super) access: Access,
    /// The widest scope at which it published anything.
    pub(super) released: Option<Scope>,
    pub(super) time: u64,
}

/// An atomic location.
#[derive(Debug, Clone)]
pub(super) struct Location {
    pub(super) address: usize,
    pub(super) size: u32,
    pub(super) heads: Vec<Head>,
    /// The slot and scope of its last write.
    pub(super) last: Option<(u32, Scope)>,
    pub(super) store: Option<FlagStore>,
    pub(super) packet: Option<Packet>,
}

/// A packet that was stored.
#[derive(Debug, Clone)]
pub(super) struct Packet {
    pub(super) store: Access,
    pub(super) stamp: Stamp,
    /// Who waited for it and got it, and when.
    pub(super) reads: Vec<(Access, Epoch)>,
}

/// Sixteen bytes of memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Cell {
    pub(super) records: Vec<Record>,
    pub(super) locations: Vec<Location>,
}

impl Cell {
    /// The atomic location of exactly these bytes.
    pub(super) fn location(&mut self, address: usize, size: u32) -> &mut Location {
        let known = self.locations.iter().position(|l| (l.address, l.size) == (address, size));
        let index = known.unwrap_or_else(|| {
            let (heads, last, store, packet) = (Vec::new(), None, None, None);
            self.locations.push(Location { address, size, heads, last, store, packet });
            self.locations.len() - 1
        });
        &mut self.locations[index]
    }
}

/// What a rank's host did last to all bytes of a range of addresses.
#[derive(Debug, Clone)]
pub(super) struct HostAccess {
    pub(super) range: Range<usize>,
    /// As of its first granule.
    pub(super) record: Record,
}

impl HostAccess {
    /// The record of it for a granule; `None` where it touches no byte of that.
    pub(super) fn record_of(&self, granule: usize) -> Option<Record> {
        let (from, to) = (self.range.start.max(granule), self.range.end.min(granule + GRANULE));
        (from < to).then(|| {
            let bits = (1u32 << (to - from)) - 1;
            let access = Access { address: from, size: (to - from) as u32, ..self.record.access };
            Record { mask: (bits << (from - granule)) as u16, access, ..self.record }
        })
    }
}

/// Pages of cells, by address.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    pages: NumberMap<usize, usize>,
    cells: Vec<Box<[Cell]>>,
    /// The page used last.
    last: (usize, usize),
    /// What hosts did last, for pages that nobody has touched yet.
    hosts: Vec<HostAccess>,
}

impl Shadow {
    /// The last store to every atomic location.
    pub(super) fn flags(&self) -> impl Iterator<Item = &FlagStore> {
        let cells = self.cells.iter().flat_map(|page| page.iter());
        cells.flat_map(|cell| &cell.locations).filter_map(|location| location.store.as_ref())
    }

    pub(super) fn cell(&mut self, address: usize) -> &mut Cell {
        let granule = address / GRANULE;
        let page = granule / GRANULES;
        if self.cells.is_empty() || self.last.0 != page {
            let (cells, hosts) = (&mut self.cells, &self.hosts);
            let index = *self.pages.entry(page).or_insert_with(|| {
                cells.push(new_page(page, hosts));
                cells.len() - 1
            });
            self.last = (page, index);
        }
        &mut self.cells[self.last.1][granule % GRANULES]
    }

    /// Notes what a host does to all bytes of a range, in place of what it did there before. Returns the
    /// granules that somebody may have touched: the caller checks them, and notes it there.
    pub(super) fn note_host(&mut self, access: HostAccess) -> Vec<usize> {
        const PAGE: usize = GRANULE * GRANULES;
        let range = access.range.clone();
        let slot = access.record.epoch.slot;
        self.hosts.retain(|old| old.record.epoch.slot != slot || old.range != range);
        self.hosts.push(access);
        let overlaps = |page: &&usize| *page * PAGE < range.end && range.start < (*page + 1) * PAGE;
        let mut pages: Vec<usize> = self.pages.keys().filter(overlaps).copied().collect();
        pages.sort_unstable();
        let granules =
            pages.iter().flat_map(|page| (*page * PAGE..).step_by(GRANULE).take(GRANULES));
        granules.filter(|granule| *granule < range.end && range.start < granule + GRANULE).collect()
    }
}

/// A page that nobody has touched but hosts.
fn new_page(page: usize, hosts: &[HostAccess]) -> Box<[Cell]> {
    let mut cells = vec![Cell::default(); GRANULES].into_boxed_slice();
    let first = page * GRANULES * GRANULE;
    for (granule, cell) in (first..).step_by(GRANULE).zip(&mut cells) {
        cell.records.extend(hosts.iter().filter_map(|host| host.record_of(granule)));
    }
    cells
}
