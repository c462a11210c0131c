//! What a pass does not prove.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One thing that a pass leaves open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotProved {
    /// That bytes travel rightly between GPUs: no two ranks had a GPU each.
    Transport,
    /// The host code that launches the kernel in production.
    HostCode,
    /// Freedom from data races: the device does not report accesses.
    RacesOnDevice,
    /// Freedom from data races: they were not looked for.
    RacesNotSought,
    /// That no write hits memory far from every heap.
    FarWrites,
    /// That no element is written twice: the device does not report accesses.
    WriteOnce,
    /// Reads and writes in gaps between rows: they are judged by fault.
    Gaps,
    /// Ranks that run at once: they ran one after another.
    ConcurrentRanks,
    /// Orders of ranks beyond those that ran.
    OrdersBeyond(usize),
    /// Schedules beyond those that ran.
    SchedulesBeyond(usize),
    /// Interleavings beyond the one that happened.
    OtherInterleavings,
    /// Interleavings beyond those that happened, with one rank late at one place.
    OtherDelays {
        /// How many times it ran so.
        ran: usize,
        /// How many of them failed.
        failed: usize,
    },
    /// Calls that overlap: whoever calls this kernel waits for all ranks between calls, by its manifest or because
    /// it does not wait for peers itself.
    HostBarrier,
    /// Calls that overlap: between some calls all ranks waited for each other, though the kernel does not need it.
    CallsOverlap,
    /// That relaxed and volatile accesses may become visible late.
    LateVisibility,
    /// What a kernel does whose wait ends after more looks than were tried.
    LongWaits,
    /// That a host program launched what it says.
    ProgramsWord,
    /// Bytes of a host program's heaps behind those that the case needs.
    BytesBehind {
        /// How many bytes of each heap the case needs.
        needed: u64,
        /// How many bytes there are at most behind them.
        beyond: u64,
    },
}

impl fmt::Display for NotProved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotProved::OrdersBeyond(ran) => write!(f, "{} beyond the {ran} that ran", self.topic()),
            NotProved::SchedulesBeyond(ran) => {
                write!(f, "{} beyond the {ran} that ran", self.topic())
            }
            NotProved::OtherInterleavings => {
                write!(f, "{} beyond the one that happened", self.topic())
            }
            NotProved::OtherDelays { ran, failed } => {
                write!(
                    f,
                    "{} beyond those that happened ({failed} of {ran} delays failed)",
                    self.topic()
                )
            }
            NotProved::BytesBehind { needed, beyond } => {
                write!(f, "up to {beyond} bytes of the heaps behind the {needed} of the case")
            }
            NotProved::Transport
            | NotProved::HostCode
            | NotProved::RacesOnDevice
            | NotProved::RacesNotSought
            | NotProved::FarWrites
            | NotProved::WriteOnce
            | NotProved::Gaps
            | NotProved::ConcurrentRanks
            | NotProved::HostBarrier
            | NotProved::CallsOverlap
            | NotProved::LateVisibility
            | NotProved::LongWaits
            | NotProved::ProgramsWord => f.write_str(self.topic()),
        }
    }
}

impl NotProved {
    /// What is left open, without the numbers of this case: the same for all cases that leave it open.
    pub fn topic(&self) -> &'static str {
        match self {
            NotProved::Transport => "transport between GPUs",
            NotProved::HostCode => "the host code that launches the kernel in production",
            NotProved::RacesOnDevice => "data races (a GPU does not report accesses)",
            NotProved::RacesNotSought => "data races (--no-race)",
            NotProved::FarWrites => "writes far from a heap that hit other memory of the GPU",
            NotProved::WriteOnce => {
                "that no element is written twice (only the CPU's objects report accesses)"
            }
            NotProved::Gaps => {
                "reads and writes near rows only: gaps between rows are judged by fault"
            }
            NotProved::ConcurrentRanks => "concurrent ranks (they ran one after another)",
            NotProved::OrdersBeyond(_) => "orders of ranks",
            NotProved::SchedulesBeyond(_) => "schedules",
            NotProved::OtherInterleavings | NotProved::OtherDelays { .. } => "interleavings",
            NotProved::HostBarrier => {
                "calls without a host barrier in between (the kernel's contract has one)"
            }
            NotProved::CallsOverlap => "calls that overlap (all ranks waited between some of them)",
            NotProved::LateVisibility => "late visibility of relaxed and volatile accesses",
            NotProved::LongWaits => "waits that give up after more than 65536 looks",
            NotProved::ProgramsWord => "that the program launched what it says (it says so itself)",
            NotProved::BytesBehind { .. } => "bytes of the heaps behind those of the case",
        }
    }
}
