//! Calls that follow each other on a rank as on a stream: the next one begins when the rank's own call has
//! ended, whatever the other ranks do.
//!
//! Between two calls stands the rank's host. It reads what the call left, and writes what the next one
//! begins with, and the schedule decides when the next call begins, as a machine's other work would.

use std::ops::Range;

use super::engine::Engine;
use super::launch::RankLaunch;
use crate::observe::access::ThreadId;
use crate::schedule::contract::{Ready, Task};

/// What the hosts of ranks do at the borders of calls. Launches are named by their index in the list that
/// was given to [`run_calls`](crate::run_calls).
pub trait Host {
    /// The addresses that the host of a launch's rank reads when the launch has ended and writes before the
    /// next one begins.
    fn touches(&self, launch: usize) -> &[Range<usize>];
    /// Every thread of a launch has returned.
    fn ended(&mut self, launch: usize);
    /// A launch that follows another one of its rank is about to begin.
    fn begins(&mut self, launch: usize);
}

impl Engine<'_, '_> {
    /// A launch's last block has ended. Where calls follow each other, its rank's host looks, and the rank's next
    /// launch may begin.
    pub(super) fn launch_ends(&mut self, launch: usize) {
        let ended = &self.launches[launch];
        self.records[launch] = ended.module.record();
        let Some(host) = &mut self.host else { return };
        let touched = host.touches(launch);
        // What the observer holds back is visible when the host looks.
        self.shared.observe(|observer| observer.call_ends(ended.rank, ended.call, touched));
        host.ended(launch);
        if let Some(next) = self.successor(launch) {
            let RankLaunch { rank, call, .. } = self.launches[next];
            let thread = ThreadId::host(rank, call);
            self.ready.push_back(Ready { thread, task: Task::Launch(next) });
        }
    }

    /// A rank's next launch begins.
    pub(super) fn launch_begins(&mut self, launch: usize) {
        let begun = &self.launches[launch];
        begun.module.clear_record();
        if let Some(host) = &mut self.host {
            let touched = host.touches(launch);
            self.shared.observe(|observer| observer.call_begins(begun.rank, begun.call, touched));
            host.begins(launch);
        }
        self.residency.open(launch);
        self.note_progress();
        // Whoever waits for memory that the host has written looks again.
        self.bounded.clear();
        for fiber in self.waiting.take_all() {
            self.resume_later(fiber);
        }
    }

    /// The launch that follows another one of its rank.
    fn successor(&self, launch: usize) -> Option<usize> {
        let rank = self.launches[launch].rank;
        (launch + 1..self.launches.len()).find(|later| self.launches[*later].rank == rank)
    }
}
