//! How ranks ran in a case, and what belongs to that way alone.

use serde::{Deserialize, Serialize};

use crate::Switch;

/// How the ranks of a case ran.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// They did not.
    #[default]
    Nothing,
    /// One after another in one process, in several orders.
    Orders(OrdersRun),
    /// All at once in one process, under several schedules.
    Schedules(SchedulesRun),
    /// Each in a process of its own.
    Processes(ProcessesRun),
    /// In the user's own program, in orders that the judge asked for.
    Host(OrdersRun),
}

/// Orders of ranks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrdersRun {
    /// In how many orders the case ran.
    pub ran: usize,
    /// Whether these are all permutations of its ranks.
    pub complete: bool,
}

/// Schedules of ranks that are in the kernel at once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchedulesRun {
    /// Under how many schedules the case ran.
    pub ran: usize,
    /// How many of them failed.
    pub failed: usize,
    /// The seed of the first schedule that failed.
    pub first_failing: Option<u64>,
    /// The switches that make the failing schedule, of those that its seed could make; absent where the
    /// schedule is the seed's own.
    pub switches: Option<Vec<Switch>>,
    /// How many interleavings there are, where all of them ran.
    pub complete: Option<u64>,
    /// A hash of the interleavings of all calls, of the first schedule that failed or else of the last one.
    pub hash: Option<u64>,
    /// Whether data races were looked for.
    pub race: bool,
    /// Whether a wait that counts its looks still waited after as many as it was given.
    #[serde(default)]
    pub long_waits: bool,
}

/// Ranks as processes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessesRun {
    /// Whether all ranks were inside the kernel at one time in every call; absent where no call ended well.
    pub overlapped: Option<bool>,
    /// How many times the case ran with one rank late at one place, where that was asked for.
    pub delays: usize,
    /// How many of those runs failed.
    pub delays_failed: usize,
}

impl How {
    /// How many times the sequence of calls ran: orders or schedules; 0 in processes, which run it once.
    pub fn repetitions(&self) -> usize {
        match self {
            How::Nothing | How::Processes(_) => 0,
            How::Orders(orders) | How::Host(orders) => orders.ran,
            How::Schedules(schedules) => schedules.ran,
        }
    }

    /// In how many orders of ranks the case ran.
    pub fn orders(&self) -> usize {
        match self {
            How::Orders(orders) | How::Host(orders) => orders.ran,
            How::Nothing | How::Schedules(_) | How::Processes(_) => 0,
        }
    }

    /// The schedules, where ranks ran under some.
    pub fn schedules(&self) -> Option<&SchedulesRun> {
        match self {
            How::Schedules(schedules) => Some(schedules),
            How::Nothing | How::Orders(_) | How::Processes(_) | How::Host(_) => None,
        }
    }

    /// What belongs to processes, where ranks were some.
    pub fn processes(&self) -> Option<&ProcessesRun> {
        match self {
            How::Processes(processes) => Some(processes),
            How::Nothing | How::Orders(_) | How::Schedules(_) | How::Host(_) => None,
        }
    }

    /// The seed of the first schedule that failed, where one did.
    pub fn first_failing_seed(&self) -> Option<u64> {
        self.schedules().and_then(|schedules| schedules.first_failing)
    }
}
