//! Which accesses race with each other.

use std::ops::Range;

use super::history::RaceKind;
use super::shadow::{Cell, Record};
use super::threads::includes;

/// A plain store ends what was released at the atomic locations that it overlaps.
pub(super) fn forget_releases(cell: &mut Cell, bytes: Range<usize>) {
    for location in &mut cell.locations {
        if location.address < bytes.end && bytes.start < location.address + location.size as usize {
            location.heads.clear();
            location.store = None;
        }
    }
}

/// Whether the same thread has done the like in the same epoch: the common case.
pub(super) fn is_known(cell: &Cell, new: &Record) -> bool {
    cell.records
        .iter()
        .any(|old| old.epoch == new.epoch && old.mask & new.mask == new.mask && old.supersedes(new))
}

/// How two unordered overlapping accesses race, if they do.
pub(super) fn race_kind(old: &Record, new: &Record) -> Option<RaceKind> {
    if !old.class.writes && !new.class.writes {
        return None;
    }
    let (Some(old_scope), Some(new_scope)) = (old.class.atomic, new.class.atomic) else {
        return Some(RaceKind::Plain);
    };
    if !old.is_same_atomic(new) {
        return Some(RaceKind::MixedSize);
    }
    let (one, other) = (old.access.thread, new.access.thread);
    let mutual = includes(one, old_scope, other) && includes(other, new_scope, one);
    (!mutual).then_some(RaceKind::Scope)
}
