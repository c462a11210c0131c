//! The threads that cannot go on, and what they wait for.

use super::fiber::{Fiber, Suspension};
use super::outcome::{LISTED, Wait, Waiting};
use crate::object::abi::kind;

/// One waiting thread for each rank, block and place.
pub(super) fn waiting<'a>(fibers: impl Iterator<Item = &'a Fiber>) -> Vec<Waiting> {
    let mut list: Vec<Waiting> = Vec::new();
    for fiber in fibers {
        let Some(suspension) = fiber.suspended else { continue };
        let (wait, address) = match suspension.kind {
            kind::BARRIER => (Wait::Barrier, None),
            kind::WAVE_BARRIER => (Wait::Wave, None),
            _ => (Wait::Memory, Some(suspension.address).filter(|address| *address != 0)),
        };
        let value = address.and_then(|address| value_at(address, suspension.size));
        let awaited = value.and_then(|value| fiber.thread.compared_with(value));
        let Suspension { site, size, .. } = suspension;
        let waiting = Waiting { thread: fiber.id(), wait, site, address, size, value, awaited };
        let same = |other: &Waiting| {
            (other.thread.rank, other.thread.block, other.site)
                == (waiting.thread.rank, waiting.thread.block, waiting.site)
        };
        if !list.iter().any(same) && list.len() < LISTED {
            list.push(waiting);
        }
    }
    list
}

/// What stands at an address from which a suspended thread has read this many bytes.
pub(super) fn value_at(address: usize, size: u32) -> Option<u64> {
    let mut bytes = [0; 8];
    let known = bytes.get_mut(..size as usize).filter(|bytes| !bytes.is_empty())?;
    for (at, byte) in known.iter_mut().enumerate() {
        // SAFETY: a kernel thread has loaded these bytes through this address, what it may access
        // stays mapped during a run, and no thread runs now.
        *byte = unsafe { ((address + at) as *const u8).read_volatile() };
    }
    Some(u64::from_le_bytes(bytes))
}
