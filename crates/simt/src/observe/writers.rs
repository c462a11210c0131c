//! Which thread wrote a byte last: the observer behind "written by".

use std::collections::HashMap;
use std::ops::Range;

use collectives::Rank;
use serde::{Deserialize, Serialize};

use super::access::{Access, Order, Scope, ThreadId};
use super::observer::Observer;

/// The writes of a watched byte in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Write {
    /// The thread that wrote it last.
    pub thread: ThreadId,
    /// The offset of that thread's instruction in the object, in bytes.
    pub site: usize,
    /// The thread that wrote it first, and the offset of its instruction.
    pub first: (ThreadId, usize),
    /// The number of times that the byte was written.
    pub count: u64,
}

/// An observer that notes the last write of each watched byte.
#[derive(Debug, Clone, Default)]
pub struct LastWriters {
    watched: Vec<Watched>,
    /// Indices in `watched`, by address.
    by_address: HashMap<usize, Vec<usize>>,
}

/// A byte in the heap of a rank, and what was written there in one of the rank's calls: from when it began to
/// when it ended.
#[derive(Debug, Clone)]
struct Watched {
    address: usize,
    rank: Rank,
    call: u32,
    over: bool,
    write: Option<Write>,
}

impl LastWriters {
    /// An observer of the bytes at these addresses, each in the heap of a rank and watched in one of that rank's
    /// calls.
    pub fn of(bytes: impl IntoIterator<Item = (usize, Rank, u32)>) -> LastWriters {
        let one = |(address, rank, call)| Watched { address, rank, call, over: false, write: None };
        let watched: Vec<Watched> = bytes.into_iter().map(one).collect();
        let mut by_address: HashMap<usize, Vec<usize>> = HashMap::new();
        for (index, watched) in watched.iter().enumerate() {
            by_address.entry(watched.address).or_default().push(index);
        }
        LastWriters { watched, by_address }
    }

    /// The last write of each address, in the order in which they were given.
    pub fn writes(&self) -> Vec<Option<Write>> {
        self.watched.iter().map(|watched| watched.write).collect()
    }

    fn note(&mut self, access: &Access) {
        let (thread, site) = (access.thread, access.site);
        let touched = access.address..access.address + access.size as usize;
        for index in touched.filter_map(|address| self.by_address.get(&address)).flatten() {
            let Watched { over: false, write, .. } = &mut self.watched[*index] else { continue };
            let count = write.map_or(0, |write| write.count) + 1;
            let first = write.map_or((thread, site), |write| write.first);
            *write = Some(Write { thread, site, first, count });
        }
    }
}

impl Observer for LastWriters {
    fn watches(&self) -> Range<usize> {
        let addresses = || self.watched.iter().map(|watched| watched.address);
        match (addresses().min(), addresses().max()) {
            (Some(first), Some(last)) => first..last + 1,
            _ => 0..0,
        }
    }

    fn watches_shared_memory(&self) -> bool {
        false
    }

    fn access(&mut self, access: &Access) {
        if access.operation.writes() {
            self.note(access);
        }
    }

    fn atomic(&mut self, access: &Access) {
        if access.operation.writes() {
            self.note(access);
        }
    }

    fn fence(&mut self, _: ThreadId, _: Order, _: Scope, _: usize) {}
    fn barrier(&mut self, _: Rank, _: u32, _: u32, _: Range<u32>) {}
    fn call_ends(&mut self, rank: Rank, call: u32, _: &[Range<usize>]) {
        for watched in self.watched.iter_mut().filter(|of| (of.rank, of.call) == (rank, call)) {
            watched.over = true;
        }
    }
    fn call_begins(&mut self, rank: Rank, call: u32, _: &[Range<usize>]) {
        for watched in self.watched.iter_mut().filter(|of| of.rank == rank && of.call >= call) {
            watched.write = None;
        }
    }
    fn exit(&mut self, _: ThreadId) {}
    fn enters(&mut self, _: ThreadId) {}
    fn leaves(&mut self) -> Option<usize> {
        None
    }
    fn settle(&mut self) -> bool {
        false
    }
}
