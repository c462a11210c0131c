//! Who wrote a byte last: the observer behind "written by".

use std::ops::Range;

use collectives::Rank;
use serde::{Deserialize, Serialize};

use crate::observer::{Access, Observer, Order, Scope, ThreadId};

/// A write of a watched byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Write {
    /// Who.
    pub thread: ThreadId,
    /// Offset of the instruction in the rank's object.
    pub site: usize,
    /// How many times the byte was written in this run.
    pub count: u64,
}

/// Notes the last write of each watched byte.
#[derive(Debug, Clone, Default)]
pub struct LastWriters {
    watched: Vec<(usize, Option<Write>)>,
}

impl LastWriters {
    /// Watches these addresses.
    pub fn of(addresses: impl IntoIterator<Item = usize>) -> LastWriters {
        LastWriters { watched: addresses.into_iter().map(|address| (address, None)).collect() }
    }

    /// The last write of each address, in the order in which they were given.
    pub fn writes(&self) -> Vec<Option<Write>> {
        self.watched.iter().map(|(_, write)| *write).collect()
    }

    fn note(&mut self, access: &Access) {
        let touched = access.address..access.address + access.size as usize;
        for (address, write) in &mut self.watched {
            if touched.contains(address) {
                let count = write.map_or(0, |write| write.count) + 1;
                *write = Some(Write { thread: access.thread, site: access.site, count });
            }
        }
    }
}

impl Observer for LastWriters {
    fn watches(&self) -> Range<usize> {
        let addresses = || self.watched.iter().map(|(address, _)| *address);
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
    fn barrier(&mut self, _: Rank, _: u32, _: Range<u32>) {}
    fn exit(&mut self, _: ThreadId) {}
    fn enters(&mut self, _: ThreadId) {}
    fn leaves(&mut self) -> Option<usize> {
        None
    }
    fn settle(&mut self) -> bool {
        false
    }
}
