//! What the detector knows about each GPU thread.

use std::collections::VecDeque;
use std::ops::Range;

use collectives::Rank;

use super::clock::{Clock, Epoch, Stamp};
use super::shadow::FlagStore;
use crate::observe::access::{Access, Scope, ThreadId};
use crate::observe::numbers::NumberMap;

/// Atomic loads that a thread remembers, for the history of a flag.
const REMEMBERED: usize = 16;
/// Scopes that are told apart: block, agent, system.
pub(super) const SCOPES: usize = 3;

/// An atomic load, and the store whose value it saw.
#[derive(Debug, Clone, Copy)]
pub(super) struct FlagLoad {
    pub(super) access: Access,
    pub(super) store: FlagStore,
    pub(super) time: u64,
}

/// A GPU thread.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) id: ThreadId,
    pub(super) epoch: Epoch,
    pub(super) clock: Clock,
    /// What it knows through packets beyond that: enough to overwrite one, for nothing else.
    pub(super) packets: Clock,
    /// By scope: what its last release fence of that scope published.
    pub(super) fenced: [Option<Stamp>; SCOPES],
    /// By distance of the writer: what relaxed loads have seen and no fence has acquired.
    pub(super) pending: [Vec<Stamp>; SCOPES],
    pub(super) loads: VecDeque<FlagLoad>,
    /// When it last executed a release and an acquire fence.
    pub(super) release_fence: Option<u64>,
    pub(super) acquire_fence: Option<u64>,
    exited: bool,
}

impl Thread {
    /// What it knows now, itself included.
    pub(super) fn stamp(&self) -> Stamp {
        Stamp { clock: self.clock.clone(), packets: self.packets.clone(), epoch: self.epoch }
    }

    /// Learns what another thread published.
    pub(super) fn acquire(&mut self, stamp: &Stamp) {
        self.clock.join(stamp);
        self.packets.merge(&stamp.packets);
    }

    /// Learns of a packet.
    pub(super) fn receive(&mut self, stamp: &Stamp) {
        self.packets.merge(&stamp.packets);
        self.packets.merge(&stamp.clock);
        self.packets.learn(stamp.epoch);
    }

    /// Whether it has heard of `epoch`, be it through a packet.
    pub(super) fn has_heard_of(&self, epoch: Epoch) -> bool {
        self.follows(epoch) || self.packets.knows(epoch)
    }

    /// Ends its epoch. Publish first, bump after.
    pub(super) fn bump(&mut self) {
        self.epoch.count += 1;
    }

    /// Whether everything in `epoch` so far happened before.
    pub(super) fn follows(&self, epoch: Epoch) -> bool {
        self.epoch.slot == epoch.slot || self.clock.knows(epoch)
    }

    pub(super) fn remember(&mut self, load: FlagLoad) {
        let same = |other: &FlagLoad| {
            (other.access.address, other.access.site) == (load.access.address, load.access.site)
        };
        self.loads.retain(|other| !same(other));
        if self.loads.len() == REMEMBERED {
            self.loads.pop_front();
        }
        self.loads.push_back(load);
    }
}

/// The index of a scope among those that are told apart.
pub(super) fn index(scope: Scope) -> usize {
    match scope {
        Scope::Wave | Scope::Block => 0,
        Scope::Agent => 1,
        Scope::System => 2,
    }
}

/// How far apart two threads are: the narrowest scope that takes in both.
pub(super) fn distance(one: ThreadId, other: ThreadId) -> Scope {
    match (one.rank == other.rank, (one.call, one.block) == (other.call, other.block)) {
        (true, true) => Scope::Block,
        (true, false) => Scope::Agent,
        (false, _) => Scope::System,
    }
}

/// Whether an operation of `one` at `scope` takes in `other`.
pub(super) fn includes(one: ThreadId, scope: Scope, other: ThreadId) -> bool {
    index(distance(one, other)) <= index(scope)
}

/// Slots by thread.
#[derive(Debug, Default)]
struct Block {
    slots: Vec<Option<u32>>,
}

/// All threads seen so far.
#[derive(Debug, Default)]
pub(super) struct Threads {
    list: Vec<Thread>,
    /// By rank, call and block.
    blocks: NumberMap<(Rank, u32, u32), Block>,
    /// By rank and call: what its host knew when it let the call begin; nothing at a rank's first call.
    begun: NumberMap<(Rank, u32), Stamp>,
    /// The thread of the last event.
    last: Option<(ThreadId, usize)>,
}

impl Threads {
    /// The slot of a thread.
    pub(super) fn slot(&mut self, id: ThreadId) -> usize {
        if let Some((last, slot)) = self.last
            && last == id
        {
            return slot;
        }
        let block = self.blocks.entry((id.rank, id.call, id.block)).or_default();
        let index = id.thread as usize;
        if block.slots.len() <= index {
            block.slots.resize(index + 1, None);
        }
        let slot = *block.slots[index].get_or_insert_with(|| {
            let slot = self.list.len() as u32;
            let (mut clock, mut packets) = (Clock::default(), Clock::default());
            if let Some(host) = self.begun.get(&(id.rank, id.call)) {
                clock.join(host);
                packets.merge(&host.packets);
            }
            self.list.push(Thread {
                id,
                epoch: Epoch { slot, count: 1 },
                clock,
                packets,
                fenced: [const { None }; SCOPES],
                pending: [const { Vec::new() }; SCOPES],
                loads: VecDeque::new(),
                release_fence: None,
                acquire_fence: None,
                exited: false,
            });
            slot
        });
        self.last = Some((id, slot as usize));
        slot as usize
    }

    pub(super) fn get(&self, slot: usize) -> &Thread {
        &self.list[slot]
    }

    pub(super) fn get_mut(&mut self, slot: usize) -> &mut Thread {
        &mut self.list[slot]
    }

    /// The threads of a thread's block.
    pub(super) fn block_of(&self, id: ThreadId) -> impl Iterator<Item = &Thread> {
        let block = self.blocks.get(&(id.rank, id.call, id.block)).into_iter();
        block.flat_map(|block| block.slots.iter().flatten()).map(|slot| self.get(*slot as usize))
    }

    /// All threads of a rank's call have returned, and its host knows what they knew. Returns its slot: a
    /// host is one thread for all calls of its rank.
    pub(super) fn call_ends(&mut self, rank: Rank, call: u32) -> usize {
        let slot = self.slot(ThreadId::host(rank, 0));
        let (mut clock, mut packets) = (Clock::default(), Clock::default());
        let of_call = |thread: &&Thread| thread.id.rank == rank && thread.id.call == call;
        for thread in self.list.iter().filter(of_call).filter(|thread| !thread.id.is_host()) {
            clock.merge(&thread.clock);
            packets.merge(&thread.packets);
            clock.learn(thread.epoch);
        }
        let host = &mut self.list[slot];
        host.clock.merge(&clock);
        host.packets.merge(&packets);
        host.bump();
        slot
    }

    /// The host of a rank lets its call begin: the call's threads know what it knows.
    pub(super) fn call_begins(&mut self, rank: Rank, call: u32) {
        let slot = self.slot(ThreadId::host(rank, 0));
        let host = &mut self.list[slot];
        self.begun.insert((rank, call), host.stamp());
        host.bump();
    }

    pub(super) fn exit(&mut self, id: ThreadId) {
        let slot = self.slot(id);
        self.list[slot].exited = true;
    }

    /// All threads of the block that still run met: each knows what any of them knew.
    pub(super) fn barrier(&mut self, rank: Rank, call: u32, block: u32, threads: Range<u32>) {
        for thread in threads.clone() {
            self.slot(ThreadId { rank, call, block, thread });
        }
        let block = &self.blocks[&(rank, call, block)];
        let slots = block.slots[threads.start as usize..threads.end as usize].iter().flatten();
        let members: Vec<usize> =
            slots.map(|slot| *slot as usize).filter(|slot| !self.list[*slot].exited).collect();
        let (mut all, mut packets) = (Clock::default(), Clock::default());
        let mut merged = all.clone();
        for slot in &members {
            let thread = &self.list[*slot];
            packets.merge(&thread.packets);
            // After a barrier most members share one clock.
            if !thread.clock.is(&merged) {
                all.merge(&thread.clock);
                merged = thread.clock.clone();
            }
            all.learn(thread.epoch);
        }
        for slot in members {
            let thread = &mut self.list[slot];
            thread.clock = all.clone();
            thread.packets = packets.clone();
            thread.bump();
        }
    }
}
