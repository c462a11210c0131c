//! Waits that may end by themselves, of which not every end was tried.

use simt::{OpenWait, Unexplored};

use super::context::Context;

impl Context<'_> {
    /// What such a wait does, as a clause: who waits where, and what was not tried of it.
    pub(crate) fn open_wait(&self, open: &OpenWait) -> String {
        let place = self.at(open.thread, Some(open.site));
        match open.why {
            Unexplored::GivesUpLate => {
                format!("{place} counts while it waits, and still waited after 65536 looks")
            }
            Unexplored::GivesUpEarly => {
                format!("{place} gives up after so few looks that they cannot be told apart")
            }
            Unexplored::Writes => format!("{place} changes memory while it waits"),
        }
    }
}
