//! What a race is, and what would have ordered it.

use serde::{Deserialize, Serialize};

use super::shadow::{FlagStore, Record};
use super::threads::{FlagLoad, Thread, distance, includes, index};
use crate::observe::access::{Access, Scope};

/// The kinds of races.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RaceKind {
    /// At least one access is plain.
    Plain,
    /// Both are atomic, on overlapping but different bytes.
    MixedSize,
    /// Both are atomic on the same bytes, but a scope leaves the other thread out.
    Scope,
    /// A packet is overwritten before it is known to have been read.
    Overwrite,
}

/// Two accesses of which at least one writes, and which nothing orders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Race {
    /// The kind of race.
    pub kind: RaceKind,
    /// The access that came first in this schedule.
    pub first: Access,
    /// The access that came later in this schedule.
    pub second: Access,
    /// The address of the first byte that both touch.
    pub address: usize,
    /// The flag between them; absent where the second thread saw none.
    pub flag: Option<Flag>,
    /// What would have ordered them.
    pub missing: Missing,
}

/// A flag that was set after the first access and seen before the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flag {
    /// The store that set it.
    pub store: Access,
    /// The load that saw it.
    pub load: Access,
}

/// What would have ordered the two accesses of a race.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Missing {
    /// The access itself needs a wider scope.
    WiderScope,
    /// Atomics of one size.
    OneSize,
    /// No flag was set by the first thread's block and seen by the second thread.
    Flag,
    /// The flag's store releases nothing.
    Release,
    /// The release fence stands behind the flag's store.
    FenceBeforeStore,
    /// The release leaves the reader out.
    ReleaseScope,
    /// The flag's load acquires nothing.
    Acquire,
    /// The acquire fence stands in front of the flag's load.
    FenceAfterLoad,
    /// The acquire leaves the writer out.
    AcquireScope,
    /// Another thread of the first one's block set the flag, and no barrier stands between.
    BarrierBeforeStore,
    /// Another thread of the first one's block set the flag behind a barrier, but what it releases
    /// by is a fence in front of that.
    FenceBehindBarrier,
    /// Another thread of the second one's block saw the flag, and no barrier stands between.
    BarrierAfterLoad,
    /// The packet's reader has not told the writer that it has read.
    Acknowledgement,
    /// The flag was set by another block, which has not heard of the first access.
    Signal,
}

/// The flag between two accesses and what would have ordered `first` by `one` against an access of `other`, whose block is
/// `block`.
pub(super) fn history<'a>(
    first: &Record,
    one: &Thread,
    other: &'a Thread,
    block: impl Iterator<Item = &'a Thread>,
) -> (Option<Flag>, Missing) {
    // The nearest flag: set by the thread itself or else by its block or rank, seen by the other
    // thread itself or else by its block.
    let loads = block.flat_map(|thread| thread.loads.iter().map(move |load| (thread, load)));
    let usable = loads.filter(|(_, load)| {
        let setter = load.store.access.thread;
        let same_block = distance(setter, other.id) == Scope::Block;
        // Another thread of the block may have set it too early: that is a missing barrier.
        let early =
            first.class.writes && setter != one.id && distance(one.id, setter) == Scope::Block;
        (early || load.store.time > first.time) && setter.rank == one.id.rank && !same_block
    });
    let near = |(thread, load): &(&Thread, &FlagLoad)| {
        let setter = load.store.access.thread;
        let far = if setter == one.id { 0 } else { 1 + index(distance(one.id, setter)) };
        let early = load.store.time < first.time;
        (early, far, thread.id != other.id, std::cmp::Reverse(load.time))
    };
    let Some((loader, load)) = usable.min_by_key(near) else {
        let own = other
            .loads
            .iter()
            .rev()
            .find(|load| load.store.time > first.time && load.store.access.thread == one.id);
        return match own {
            Some(load) => flag(one, other, other, load),
            None => (None, Missing::Flag),
        };
    };
    flag(one, other, loader, load)
}

fn flag(one: &Thread, other: &Thread, loader: &Thread, load: &FlagLoad) -> (Option<Flag>, Missing) {
    let flag = Flag { store: load.store.access, load: load.access };
    (Some(flag), what_is_missing(&load.store, load, one, other, loader))
}

fn what_is_missing(
    store: &FlagStore,
    load: &FlagLoad,
    one: &Thread,
    other: &Thread,
    loader: &Thread,
) -> Missing {
    let setter = store.access.thread;
    let Some(released) = store.released else {
        let behind = setter == one.id && one.release_fence.is_some_and(|time| time > store.time);
        return if behind { Missing::FenceBeforeStore } else { Missing::Release };
    };
    if !includes(setter, released, loader.id) {
        return Missing::ReleaseScope;
    }
    if !load.access.order.acquires() {
        match loader.acquire_fence {
            Some(time) if time < load.time => return Missing::FenceAfterLoad,
            Some(_) => {}
            None => return Missing::Acquire,
        }
    }
    if !includes(loader.id, load.access.scope, setter) {
        return Missing::AcquireScope;
    }
    match distance(one.id, setter) {
        _ if setter == one.id && loader.id != other.id => Missing::BarrierAfterLoad,
        _ if setter == one.id => Missing::Acquire,
        Scope::Block => Missing::BarrierBeforeStore,
        _ => Missing::Signal,
    }
}
