//! An interleaving as people read it: step, rank, block, thread, line, what.

use std::collections::{HashMap, HashSet};

use device::Launched;
use simt::{Act, End, Next, Operation, ThreadId, Wait};

use super::context::Context;
use super::lines::SourceLine;
use super::races::order_and_scope;

/// No more lines than this are shown, the last ones.
const SHOWN: usize = 48;
/// Threads of a deadlock that are followed.
const FOLLOWED: usize = 4;

/// The threads that a launch's findings are about.
pub(crate) fn involved(launched: &Launched) -> Vec<ThreadId> {
    let mut threads: Vec<ThreadId> = Vec::new();
    if let Some(race) = launched.races.first() {
        let flag = race.flag.iter().flat_map(|flag| [flag.store, flag.load]);
        threads.extend([race.first, race.second].into_iter().chain(flag).map(|a| a.thread));
    } else if let End::Deadlock(waiting) = &launched.outcome.end {
        let on_memory = waiting.iter().filter(|waiting| waiting.wait == Wait::Memory);
        threads.extend(on_memory.take(FOLLOWED).map(|waiting| waiting.thread));
    }
    let mut seen = HashSet::new();
    threads.retain(|thread| seen.insert(*thread));
    threads
}

impl Context<'_> {
    /// What happened, one line an event; of threads other than `followed` (all, if it is empty)
    /// only that they went on.
    pub(crate) fn trace(&self, events: &[(ThreadId, Next)], followed: &[ThreadId]) -> Vec<String> {
        let shown = |thread: &ThreadId| followed.is_empty() || followed.contains(thread);
        let again = polls(events);
        let mut lines: HashMap<usize, Option<SourceLine>> = HashMap::new();
        let mut rows = Vec::new();
        let mut others: HashSet<ThreadId> = HashSet::new();
        let mut between = 0;
        for (step, (thread, next)) in events.iter().enumerate() {
            if again.contains(&step) {
                continue;
            }
            if !shown(thread) {
                others.insert(*thread);
                between += 1;
                continue;
            }
            if between > 0 {
                let (events, threads) =
                    (count(between, "event"), count(others.len(), "other thread"));
                rows.push(format!("{:>6}  {events} of {threads}", ""));
                (others, between) = (HashSet::new(), 0);
            }
            let line = lines.entry(next.site).or_insert_with(|| self.line(next.site));
            let line = match (next.act, line) {
                (Act::Barrier, _) | (_, None) => String::new(),
                (_, Some(line)) => line.to_string(),
            };
            let ThreadId { rank, block, thread: number, .. } = thread;
            let call = self.call_of(*thread);
            let (block, number) = match thread.is_host() {
                true => ("host".to_owned(), String::new()),
                false => (block.to_string(), number.to_string()),
            };
            let what = self.what(next, call);
            rows.push(format!(
                "{:>6}{:>6}{block:>7}{number:>8}   {line:<24}  {what}",
                step + 1,
                rank.0
            ));
        }
        let cut = rows.len().saturating_sub(SHOWN);
        let mut shown = vec![format!(
            "{:>6}{:>6}{:>7}{:>8}   {:<24}  what",
            "step", "rank", "block", "thread", "line"
        )];
        if cut > 0 {
            shown.push(format!("{:>6}  {} before", "", count(cut, "line")));
        }
        shown.extend(rows.drain(cut..));
        shown
    }

    fn what(&self, next: &Next, call: usize) -> String {
        let (operation, order, scope) = match next.act {
            Act::Barrier => return "has met its block at a barrier".into(),
            Act::WaveBarrier => return "has met its wave at a barrier".into(),
            Act::Fence(order, scope) => return format!("fence {}", order_and_scope(order, scope)),
            Act::Begin => return "begins".into(),
            Act::CallEnds => return format!("reads what call {call} has left"),
            Act::CallBegins => return format!("has written what call {call} begins with"),
            Act::Look => return "waits".into(),
            Act::Tile => return "ends a tile".into(),
            Act::Access(operation, order, scope) => (operation, order, scope),
        };
        let strength = order_and_scope(order, scope);
        let how = match operation {
            Operation::Read => "reads".to_owned(),
            Operation::Write => "writes".to_owned(),
            Operation::VolatileRead => "reads, volatile,".to_owned(),
            Operation::VolatileWrite => "writes, volatile,".to_owned(),
            Operation::AtomicLoad => format!("loads {strength}"),
            Operation::AtomicStore => format!("stores {strength}"),
            Operation::AtomicUpdate => format!("updates {strength}"),
            Operation::PacketStore => "stores a packet,".to_owned(),
            Operation::PacketLoad => "loads a packet,".to_owned(),
            Operation::PacketMatch => "has the packet that it waited for,".to_owned(),
        };
        format!("{how} {}, {} bytes", self.element(next.address, next.size), next.size)
    }
}

/// `1 event`, `2 events`.
fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Looks at the same place that are neither the first nor the last of their row.
fn polls(events: &[(ThreadId, Next)]) -> HashSet<usize> {
    let mut last: HashMap<ThreadId, (usize, usize)> = HashMap::new();
    let mut dropped = HashSet::new();
    for (index, (thread, next)) in events.iter().enumerate() {
        let same = |before: usize| events[before].1 == *next;
        let row = match last.get(thread) {
            Some((before, row)) if same(*before) => {
                if *row > 1 {
                    dropped.insert(*before);
                }
                row + 1
            }
            _ => 1,
        };
        last.insert(*thread, (index, row));
    }
    dropped
}
