//! A deadlock, told to people: who waits for what, what stands there, who should change it.

use collectives::{DetailLabel, Finding, FindingKind, Rank};
use simt::{Access, Wait, Waiting};

use super::context::Context;

/// No more waiting threads than this are told.
const SHOWN: usize = 8;

impl Context<'_> {
    /// Nobody can go on; `flags` are the last stores to the flags of this call, as far as known.
    pub(crate) fn deadlock(&self, waiting: &[Waiting], flags: &[Access]) -> Finding {
        // Who waits for memory tells more than who waits for those in turn.
        let mut waiting = waiting.to_vec();
        waiting.sort_by_key(|waiting| waiting.wait != Wait::Memory);
        let lines: Vec<String> = waiting
            .iter()
            .map(|waiting| {
                let at = self.at(waiting.thread, Some(waiting.site));
                format!("{at} waits for {}", self.awaited(waiting))
            })
            .collect();
        let shown = lines.len().min(SHOWN);
        let more = match lines.len() - shown {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let hint = self.hint_to_wait();
        let text = format!("no thread can go on: {}{more}{hint}", lines[..shown].join("; "));
        let first = waiting.first();
        let rank = first.map(|waiting| waiting.thread.rank);
        let call = first.map_or(self.call, |waiting| self.call_of(waiting.thread));
        let mut finding = Finding::event(FindingKind::Deadlock, rank, Some(call), text);
        finding.writer = first.and_then(|first| self.writer(first.thread, Some(first.site)));
        if let Some(first) = first.filter(|first| !flags.is_empty() && first.wait == Wait::Memory) {
            finding.detail(DetailLabel::WaitsAt, self.at(first.thread, Some(first.site)));
            finding.detail(DetailLabel::Flag, self.who_sets(first, flags));
        }
        finding
    }

    fn awaited(&self, waiting: &Waiting) -> String {
        let address = match (waiting.wait, waiting.address) {
            (Wait::Barrier, _) => return "a barrier of its block".into(),
            (Wait::Wave, _) => return "a barrier of its wave".into(),
            (Wait::Memory, None) => return "memory to change".into(),
            (Wait::Memory, Some(address)) => address,
        };
        let viewer = if self.one_rank_a_process { waiting.thread.rank } else { Rank(0) };
        let place = match waiting.size {
            size if size > 0 && viewer == Rank(0) => self.element(address, size),
            _ => self.address(address as u64, viewer),
        };
        match (waiting.value, waiting.awaited) {
            (Some(value), Some(awaited)) if value != awaited => {
                format!("{place} to change, now {value}, awaited {awaited}")
            }
            (Some(value), Some(_)) => format!("{place} to change, now {value}, awaited any other"),
            (Some(value), None) => format!("{place} to change, now {value}"),
            (None, _) => format!("{place} to change"),
        }
    }

    /// Where the flag lies, and who has set it, or sets its neighbours.
    fn who_sets(&self, waiting: &Waiting, flags: &[Access]) -> String {
        let Some((address, (owner, offset))) =
            waiting.address.and_then(|address| Some((address, self.heap_of(address)?)))
        else {
            return "it lies in no heap".into();
        };
        let place = format!("offset {offset:#x} of rank {owner}'s heap");
        let set = flags
            .iter()
            .rev()
            .find(|store| (store.address..store.address + store.size as usize).contains(&address));
        if let Some(store) = set {
            return format!("{place}; set last by {}", self.at(store.thread, Some(store.site)));
        }
        match self.should_set(waiting.size, owner, offset, flags) {
            Some(rank) => format!(
                "{place}; nobody has set it in this call (the flags beside it are set by the ranks of their indices, so rank {rank} should)"
            ),
            None => format!("{place}; nobody has set it in this call"),
        }
    }

    /// The rank of a flag's index, if all flags around it are set by the ranks of theirs.
    fn should_set(&self, size: u32, owner: Rank, offset: u64, flags: &[Access]) -> Option<Rank> {
        let size = u64::from(size.max(1));
        let region = self.plan.regions.iter().find(|region| region.storage.contains(&offset))?;
        let members = self.problem.calls[self.call].group.members();
        let index = |offset: u64| ((offset - region.storage.start) / size) as usize % members.len();
        let beside: Vec<(Rank, usize)> = flags
            .iter()
            .filter_map(|store| Some((store.thread.rank, self.heap_of(store.address)?)))
            .filter(|(_, (heap, at))| *heap == owner && region.storage.contains(at))
            .map(|(setter, (_, at))| (setter, index(at)))
            .collect();
        let regular = beside.iter().all(|(setter, index)| members[*index] == *setter);
        (regular && !beside.is_empty()).then(|| members[index(offset)])
    }
}
