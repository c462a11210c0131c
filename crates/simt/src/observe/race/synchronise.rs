//! What atomics publish at their location, and what those who read there learn from it.

use super::shadow::{FlagStore, Head, Location};
use super::threads::{FlagLoad, Threads, distance, includes, index};
use crate::observe::access::{Access, Scope};

/// The acquiring side of an atomic: what the thread in `slot` learns from what was released at its
/// location.
pub(super) fn acquire(
    threads: &mut Threads,
    location: &Location,
    slot: usize,
    access: &Access,
    time: u64,
) {
    let thread = threads.get(slot);
    let mut learned = Vec::new();
    for Head { scope, stamp } in &location.heads {
        let owner = threads.get(stamp.epoch.slot as usize).id;
        if includes(owner, *scope, thread.id) && includes(thread.id, access.scope, owner) {
            learned.push((index(distance(thread.id, owner)), stamp.clone()));
        }
    }
    let thread = threads.get_mut(slot);
    for (distance, stamp) in learned {
        if access.order.acquires() {
            thread.acquire(&stamp);
        } else if !thread.clock.knows(stamp.epoch) {
            let pending = &mut thread.pending[distance];
            pending.retain(|other| other.epoch.slot != stamp.epoch.slot);
            pending.push(stamp);
        }
    }
    if let Some(store) = location.store.filter(|store| store.access.thread != access.thread) {
        thread.remember(FlagLoad { access: *access, store, time });
    }
}

/// The releasing side of an atomic write by the thread in `slot`; `updates` where it also reads.
pub(super) fn release(
    threads: &mut Threads,
    location: &mut Location,
    slot: usize,
    access: &Access,
    updates: bool,
    time: u64,
) {
    let thread = threads.get(slot);
    let new: Vec<Head> = if access.order.releases() {
        vec![Head { scope: access.scope, stamp: thread.stamp() }]
    } else {
        // A fence in front of it publishes, at the narrower of both scopes. Where two come to one scope, the
        // narrower fence is the later one: a wider one would have taken its place.
        let fences = [Scope::Block, Scope::Agent, Scope::System].into_iter();
        let fences = fences.zip(&thread.fenced).rev();
        let heads = fences.filter_map(|(fence, stamp)| {
            Some(Head { scope: fence.min(access.scope), stamp: stamp.clone()? })
        });
        heads.collect()
    };
    if updates {
        // A read-modify-write goes on with the release sequence, if every link holds.
        let linked = location.last.is_none_or(|(last, scope)| {
            let last = threads.get(last as usize).id;
            includes(thread.id, access.scope, last) && includes(last, scope, thread.id)
        });
        if !linked {
            location.heads.clear();
        }
    } else if access.order.releases() {
        location.heads.clear();
    } else {
        // A thread's own relaxed store goes on with its own release (PTX ISA 8.8, pattern 2).
        location.heads.retain(|head| head.stamp.epoch.slot as usize == slot);
    }
    for head in new {
        location
            .heads
            .retain(|old| (old.stamp.epoch.slot, old.scope) != (head.stamp.epoch.slot, head.scope));
        location.heads.push(head);
    }
    location.last = Some((slot as u32, access.scope));
    let released = location.heads.iter().map(|head| head.scope).max();
    location.store = Some(FlagStore { access: *access, released, time });
    if access.order.releases() {
        threads.get_mut(slot).bump();
    }
}
