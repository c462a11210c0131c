//! Vector clocks, shared until they change.

use std::rc::Rc;

/// What a thread knows of all threads: by slot, the last epoch that happened before.
#[derive(Debug, Clone, Default)]
pub(super) struct Clock(Rc<Vec<u32>>);

/// A thread's own epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Epoch {
    pub(super) slot: u32,
    pub(super) count: u32,
}

/// What a thread knew when it published: its clock, and its own epoch, which that ended.
#[derive(Debug, Clone)]
pub(super) struct Stamp {
    pub(super) clock: Clock,
    /// What it knew through packets, which carry nothing but themselves.
    pub(super) packets: Clock,
    pub(super) epoch: Epoch,
}

impl Clock {
    /// Whether everything up to the end of `epoch` happened before.
    pub(super) fn knows(&self, epoch: Epoch) -> bool {
        self.0.get(epoch.slot as usize).is_some_and(|count| *count >= epoch.count)
    }

    /// Learns what another thread published. Who knows an epoch knows all that its owner knew
    /// when it ended.
    pub(super) fn join(&mut self, stamp: &Stamp) {
        if !self.knows(stamp.epoch) {
            self.merge(&stamp.clock);
            self.learn(stamp.epoch);
        }
    }

    /// Learns all that another clock knows.
    pub(super) fn merge(&mut self, other: &Clock) {
        if Rc::ptr_eq(&self.0, &other.0) || other.0.is_empty() {
            return;
        }
        if self.0.is_empty() {
            self.0 = other.0.clone();
            return;
        }
        let own = Rc::make_mut(&mut self.0);
        if own.len() < other.0.len() {
            own.resize(other.0.len(), 0);
        }
        for (own, other) in own.iter_mut().zip(other.0.iter()) {
            *own = (*own).max(*other);
        }
    }

    /// Learns one epoch.
    pub(super) fn learn(&mut self, epoch: Epoch) {
        let own = Rc::make_mut(&mut self.0);
        let slot = epoch.slot as usize;
        if own.len() <= slot {
            own.resize(slot + 1, 0);
        }
        own[slot] = own[slot].max(epoch.count);
    }

    /// Whether two clocks are one.
    pub(super) fn is(&self, other: &Clock) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}
