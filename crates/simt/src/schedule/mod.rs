//! Schedules: which blocks live at once, where threads give way, and which ready thread runs next.

pub(crate) mod contract;
mod explore;
mod priorities;
mod recorder;
mod seeded;
mod sequential;
mod turns;

pub use contract::{Idle, Live, Look, Ready, Schedule, Switches};
pub use explore::{Branch, Explorer, Exploring};
pub use priorities::CHANGES;
pub use recorder::{Recorded, Recorder, Step};
pub use seeded::{Places, Seeded, Strategy};
pub use sequential::Sequential;
pub use turns::{Directed, Turn};
