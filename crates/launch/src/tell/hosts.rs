//! What ranks' hosts do between calls that overlap, told to people.

use collectives::{Finding, FindingKind};
use device::Changed;
use simt::{Access, Race, ThreadId};

use super::context::Context;

impl<'a> Context<'a> {
    /// What findings about a thread refer to, where this is about the first of the calls that ran together.
    pub(crate) fn of(&self, thread: ThreadId) -> Context<'a> {
        Context { call: self.call_of(thread), ..*self }
    }

    /// The thread's call among those of the case.
    pub(crate) fn call_of(&self, thread: ThreadId) -> usize {
        self.call + thread.call as usize
    }

    /// A byte that did not stay as a rank's own call had left it.
    pub(crate) fn changed(&self, byte: &Changed) -> Finding {
        let Changed { rank, call, offset, was, is } = *byte;
        let call = self.call + call as usize;
        let place = Context { call, ..*self }.place(offset);
        let element = match (place.row, place.column) {
            (Some(row), Some(column)) => format!("{} ({row},{column})", place.region),
            _ => format!("{} at {offset:#x}", place.region),
        };
        let text = format!(
            "rank {rank}'s call {call} had ended and its host had read {element}; later it was another one (byte {was:#04x}, then {is:#04x}): a peer still writes there, and the call did not wait for it"
        );
        let mut finding =
            Finding::event(FindingKind::ChangedAfterEnd, Some(rank), Some(call), text);
        finding.place = Some(place);
        finding
    }

    /// What a rank's host does to the bytes of an access that is its own.
    pub(crate) fn tell_host(&self, access: &Access) -> String {
        let (rank, call) = (access.thread.rank, self.call_of(access.thread));
        let who = format!("rank {rank}'s host");
        match access.operation.writes() {
            true => format!("{who:<26}  writes what call {call} begins with, before it begins"),
            false => format!("{who:<26}  reads what call {call} has left, when it has ended"),
        }
    }

    /// What would have ordered a race with a host that no flag tells of; `None` where no host takes part.
    pub(crate) fn why_host(&self, race: &Race) -> Option<String> {
        let (first, second) = (race.first.thread, race.second.thread);
        if first.is_host() {
            let (rank, call) = (first.rank, self.call_of(first));
            let next = if race.first.operation.writes() { call } else { call + 1 };
            return Some(format!(
                "rank {} does not know that rank {rank}'s call {} is over and call {next} has begun: as on a stream, a rank's next call begins when its own has ended; needed before the access: a flag or barrier that rank {rank} sets in call {next}",
                second.rank,
                next - 1
            ));
        }
        second.is_host().then(|| {
            let (rank, call) = (second.rank, self.call_of(second));
            let ended = if race.second.operation.writes() { call - 1 } else { call };
            format!(
                "rank {rank}'s call {ended} ended without hearing that rank {} had done this: as on a stream, its host may then use its input and output; needed at the end of the call: a flag or barrier that rank {} sets afterwards",
                first.rank, first.rank
            )
        })
    }
}
