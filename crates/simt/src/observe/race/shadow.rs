//! What is known about memory: per 16 bytes, the accesses that a later one may race with, and
//! the atomic locations.

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

/// Pages of cells, by address.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    pages: NumberMap<usize, usize>,
    cells: Vec<Box<[Cell]>>,
    /// The page used last.
    last: (usize, usize),
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
            let cells = &mut self.cells;
            let index = *self.pages.entry(page).or_insert_with(|| {
                cells.push(vec![Cell::default(); GRANULES].into_boxed_slice());
                cells.len() - 1
            });
            self.last = (page, index);
        }
        &mut self.cells[self.last.1][granule % GRANULES]
    }
}
