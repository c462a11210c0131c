//! Data races, told to people: both accesses, the flag between them, what would have ordered them.

use collectives::{DetailLabel, Finding, FindingKind, Rank};
use simt::{Access, Missing, Operation, Order, Race, RaceKind, Scope};

use super::context::Context;

impl Context<'_> {
    /// A race as a finding.
    pub fn race(&self, race: &Race) -> Finding {
        let (first, second) = (&race.first, &race.second);
        let what = self.element(race.address, first.size.min(second.size));
        let (one, other) = (first.thread.rank, second.thread.rank);
        let sentence = match (race.kind, writes(first), writes(second)) {
            (RaceKind::Scope, _, _) => format!(
                "scope: ranks {one} and {other} use {what} atomically, but not at scopes that take in each other"
            ),
            (RaceKind::MixedSize, _, _) => format!(
                "mixed_size: {what} is used atomically with {} and with {} bytes at once",
                first.size, second.size
            ),
            (RaceKind::Overwrite, true, _) => {
                format!("{} overwrites a packet in {what} that nobody has read", who(second))
            }
            (RaceKind::Overwrite, false, _) => format!(
                "{} overwrites a packet in {what} before it knows that {} has read it",
                who(second),
                again(first, second)
            ),
            (RaceKind::Plain, true, false) => {
                format!(
                    "{} may read {what} before {} is visible",
                    who(second),
                    whose_write(first, second)
                )
            }
            (RaceKind::Plain, false, true) => {
                format!(
                    "{} may overwrite {what} before {} has read it",
                    who(second),
                    again(first, second)
                )
            }
            (RaceKind::Plain, _, _) => {
                format!(
                    "{} and {} both write {what}, in no order",
                    who(second),
                    again(first, second)
                )
            }
        };
        let heap = self.heap_of(race.address);
        let rank = heap.map(|(rank, _)| rank);
        let kind = match race.kind {
            RaceKind::Overwrite => FindingKind::PacketOverwrite,
            RaceKind::Plain | RaceKind::MixedSize | RaceKind::Scope => FindingKind::DataRace,
        };
        let context = self.of(second.thread);
        let mut finding = Finding::event(kind, rank, Some(context.call), sentence);
        finding.place = heap.map(|(_, offset)| context.place(offset));
        finding.writer = [first, second]
            .into_iter()
            .find(|access| writes(access) && !access.thread.is_host())
            .and_then(|access| self.writer(access.thread, Some(access.site)));
        for access in [first, second] {
            let told = match access.thread.is_host() {
                true => self.tell_host(access),
                false => self.tell(access),
            };
            finding.detail(label(access), told);
        }
        if let Some(flag) = &race.flag {
            let text = format!(
                "{} set {} at {} {}; {} saw it at {} {}",
                who(&flag.store),
                self.element(flag.store.address, flag.store.size),
                self.short_line(flag.store.site),
                strength(&flag.store),
                who(&flag.load),
                self.short_line(flag.load.site),
                strength(&flag.load),
            );
            finding.detail(DetailLabel::Flag, text);
        }
        finding.detail(DetailLabel::Why, self.why(race));
        finding
    }

    /// `rank 0 block 0 thread 3   one_shot.hip:41   staging[i] = v;   plain, 2 bytes, to rank 1's heap`
    fn tell(&self, access: &Access) -> String {
        let simt::ThreadId { rank, block, thread, .. } = access.thread;
        let line = self.line(access.site);
        let place = line.as_ref().map_or_else(|| "?".into(), ToString::to_string);
        let code = line.and_then(|line| self.code(&line)).unwrap_or_default();
        let heap = match self.heap_of(access.address) {
            Some((owner, _)) if owner != rank => format!(", rank {owner}'s heap"),
            Some(_) => ", its own heap".into(),
            None => String::new(),
        };
        let how = match access.operation {
            Operation::Read | Operation::Write => "plain".into(),
            Operation::VolatileRead | Operation::VolatileWrite => "volatile".into(),
            Operation::AtomicLoad | Operation::AtomicStore | Operation::AtomicUpdate => {
                format!("atomic {}", strength(access))
            }
            Operation::PacketStore | Operation::PacketLoad | Operation::PacketMatch => {
                "packet".into()
            }
        };
        format!(
            "{:<26}  {place}   {code}   {how}, {} bytes{heap}",
            format!("rank {rank} block {block} thread {thread}"),
            access.size
        )
    }

    fn short_line(&self, site: usize) -> String {
        self.line(site).map_or_else(|| "?".into(), |line| format!(":{}", line.line))
    }

    fn why(&self, race: &Race) -> String {
        let (one, other) = (&race.first, &race.second);
        let distance =
            match (one.thread.rank == other.thread.rank, one.thread.block == other.thread.block) {
                (true, true) => "workgroup",
                (true, false) => "agent",
                (false, _) => "system",
            };
        let at = |access: Option<&Access>| {
            access.map_or_else(String::new, |access| self.short_line(access.site))
        };
        let store = race.flag.as_ref().map(|flag| &flag.store);
        let load = race.flag.as_ref().map(|flag| &flag.load);
        let (store_at, load_at) = (at(store), at(load));
        match race.missing {
            Missing::WiderScope => {
                format!("both need {distance} scope: the threads are that far apart")
            }
            Missing::OneSize => {
                "atomics of different sizes give no order, not even among themselves".into()
            }
            Missing::Flag if let Some(why) = self.why_host(race) => why,
            Missing::Flag
                if other.thread.rank == one.thread.rank
                    && one.thread.block == other.thread.block =>
            {
                "no barrier of the block and no flag stands between them".into()
            }
            Missing::Flag => format!(
                "no flag that {} set afterwards was seen by {} before its access",
                who(one),
                who(other)
            ),
            Missing::Acknowledgement => format!(
                "needed before the store: a packet, flag or barrier by which {} says that it has read",
                who(one)
            ),
            Missing::Release => format!(
                "a relaxed store publishes nothing; needed at {store_at}: release at {distance} scope, or a {distance} fence before it"
            ),
            Missing::FenceBeforeStore => format!(
                "the fence stands behind the store of the flag at {store_at}; it must stand before it"
            ),
            Missing::ReleaseScope => format!(
                "what is released at {store_at} does not reach {}; needed: release or fence at {distance} scope",
                who(other)
            ),
            Missing::Acquire => format!(
                "a relaxed load acquires nothing; needed at {load_at}: acquire at {distance} scope, or a {distance} fence behind it"
            ),
            Missing::FenceAfterLoad => format!(
                "the fence stands before the load of the flag at {load_at}; it must stand behind it"
            ),
            Missing::AcquireScope => format!(
                "the load at {load_at} does not reach {}; needed: acquire at {distance} scope",
                who(one)
            ),
            Missing::BarrierBeforeStore => format!(
                "thread {} of the block set the flag at {store_at} and has not waited for thread {}; needed: a block barrier before it",
                store.map_or(0, |store| store.thread.thread),
                one.thread.thread
            ),
            Missing::FenceBehindBarrier => format!(
                "thread {} of the block set the flag at {store_at} behind a barrier, but its fence stands in front of that, and releases nothing of thread {}; needed: its fence behind the barrier, or a release at {store_at}",
                store.map_or(0, |store| store.thread.thread),
                one.thread.thread
            ),
            Missing::BarrierAfterLoad => format!(
                "thread {} of the block saw the flag at {load_at}, and thread {} has not met it since; needed: a block barrier behind it",
                load.map_or(0, |load| load.thread.thread),
                other.thread.thread
            ),
            Missing::Signal => format!(
                "block {} set the flag at {store_at} and has not heard of block {}",
                store.map_or(0, |store| store.thread.block),
                one.thread.block
            ),
        }
    }
}

fn writes(access: &Access) -> bool {
    access.operation.writes()
}

fn label(access: &Access) -> DetailLabel {
    match access.operation {
        Operation::AtomicUpdate => DetailLabel::Update,
        operation if operation.writes() => DetailLabel::Write,
        _ => DetailLabel::Read,
    }
}

fn who(access: &Access) -> String {
    let host = if access.thread.is_host() { "'s host" } else { "" };
    format!("rank {}{host}", access.thread.rank)
}

/// The other thread, as far as the rank does not say it already.
fn again(access: &Access, other: &Access) -> String {
    let Access { thread, .. } = access;
    match thread.rank == other.thread.rank && !thread.is_host() {
        true => format!("its block {} thread {}", thread.block, thread.thread),
        false => who(access),
    }
}

fn whose_write(access: &Access, other: &Access) -> String {
    match access.thread.rank == other.thread.rank {
        true => format!("the write of {}", again(access, other)),
        false if access.thread.is_host() => format!("the write of {}", who(access)),
        false => format!("rank {}'s write", access.thread.rank),
    }
}

fn strength(access: &Access) -> String {
    match access.operation {
        Operation::VolatileRead | Operation::VolatileWrite => "volatile".into(),
        _ => order_and_scope(access.order, access.scope),
    }
}

/// `release/system`.
pub(crate) fn order_and_scope(order: Order, scope: Scope) -> String {
    let order = match order {
        Order::Relaxed => "relaxed",
        Order::Acquire => "acquire",
        Order::Release => "release",
        Order::AcquireRelease => "acq_rel",
        Order::SequentiallyConsistent => "seq_cst",
    };
    let scope = match scope {
        Scope::Wave => "wave",
        Scope::Block => "workgroup",
        Scope::Agent => "agent",
        Scope::System => "system",
    };
    format!("{order}/{scope}")
}

/// A rank and an offset in its heap.
pub(crate) type HeapAddress = (Rank, u64);
