//! How a run ends: the proof that no thread can go on, and what is left.

use super::engine::{EVERYWHERE, Engine};
use super::outcome::{End, Outcome, RankOutcome};
use super::waiting::waiting;

impl Engine<'_, '_> {
    pub(super) fn deadlock(&self) -> End {
        End::Deadlock(waiting(self.fibers.iter().map(|(_, fiber)| fiber)))
    }

    /// Whether it is proved that all waiting threads will wait for ever. Asked when none is ready.
    pub(super) fn is_quiescent(&mut self) -> bool {
        if !self.provable {
            return false;
        }
        if self.shared.wrote.replace(false) {
            self.quiescence.forget();
        }
        // From now on every write counts, wherever it is; the observer still sees its range only.
        self.shared.ask_for(&EVERYWHERE);
        let fibers = &self.fibers;
        self.quiescence.repeats(self.waiting.iter().filter_map(|fiber| fibers.get(fiber)))
    }

    /// What the run left.
    pub(super) fn into_outcome(mut self, end: End) -> Outcome {
        for (_, block) in &self.blocks {
            self.shared.note_overrun(&self.launches[block.launch], block);
        }
        for fiber in self.fibers.drain() {
            self.stacks.give_back(fiber.into_stack());
        }
        let ranks = self
            .launches
            .iter()
            .zip(self.finished.iter().zip(&self.records))
            .map(|(launch, (finished, record))| RankOutcome {
                rank: launch.rank,
                call: launch.call,
                threads_finished: *finished,
                record: *record,
            })
            .collect();
        self.stacks.keep();
        let Engine { divergences, open_waits, hash: schedule_hash, steps, .. } = self;
        let violations = self.shared.violations.take();
        Outcome { ranks, end, divergences, violations, open_waits, schedule_hash, steps }
    }
}
