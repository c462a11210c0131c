//! Under which schedules a case with co-resident ranks runs.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use collectives::Rank;
use device::Plan;
use simt::{Branch, Late, Turn};

/// How interleavings are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// By seeds.
    Seeded,
    /// All of them, as long as they are not too many.
    Exhaustive,
}

/// A switch, and in which call of the case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallTurn {
    /// Which call.
    pub call: usize,
    /// The switch.
    pub turn: Turn,
}

/// `0:r1b0t3@12>r0b0t5`.
impl fmt::Display for CallTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.call, self.turn)
    }
}

impl FromStr for CallTurn {
    type Err = String;

    fn from_str(text: &str) -> Result<CallTurn, String> {
        let wrong = || format!("`{text}` is no switch such as 0:r1b0t3@12>r0b0t5");
        let (call, turn) = text.split_once(':').ok_or_else(wrong)?;
        Ok(CallTurn { call: call.parse().map_err(|_| wrong())?, turn: turn.parse()? })
    }
}

/// Which interleaving a run takes, of those that its seed leaves open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Way {
    /// The one that the seed names.
    Seed,
    /// The same, with a record of it.
    Recorded,
    /// The one with these switches.
    Turns(Vec<CallTurn>),
    /// A part of an exploration, by call.
    Explore(Vec<Branch>),
    /// This rank, a process of its own, is late at a place of its kernel.
    Late(Rank, Late, Duration),
}

impl Way {
    /// In one of the calls, for the process of `rank` (any, where all ranks share one).
    pub(crate) fn plan(&self, call: usize, rank: Rank) -> Plan {
        match self {
            Way::Seed => Plan::Seed,
            Way::Late(who, late, time) if *who == rank => Plan::Late(*late, *time),
            Way::Late(..) => Plan::Seed,
            Way::Recorded => Plan::Recorded,
            Way::Turns(turns) => {
                let here = turns.iter().filter(|turn| turn.call == call);
                Plan::Turns(here.map(|turn| turn.turn).collect())
            }
            Way::Explore(branches) => Plan::Explore(branches[call].clone()),
        }
    }
}

/// `0:r1b0t3@12>r0b0t5,1:>r0b0t1`, or `none`.
pub fn show_turns(turns: &[CallTurn]) -> String {
    match turns {
        [] => "none".into(),
        _ => turns.iter().map(CallTurn::to_string).collect::<Vec<_>>().join(","),
    }
}

/// What the user asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedules {
    /// How they are chosen.
    pub strategy: Strategy,
    /// How many; at most so many, where all are wanted.
    pub count: u64,
    /// The first one's seed; the others follow.
    pub first: u64,
    /// Whether data races are looked for.
    pub race: bool,
    /// Whether ranks run at once also where they do not wait for each other (logical mode).
    pub everywhere: bool,
    /// Whether plain stores show late and out of order.
    pub weak: bool,
    /// Blocks a rank that are resident at once; all where nobody says.
    pub residency: Option<u32>,
    /// How late each rank is in turn, in process mode, at each [`simt::Late`].
    pub delay: Option<Duration>,
    /// Of the first seed's schedule, these switches only.
    pub turns: Option<Vec<CallTurn>>,
}

impl Schedules {
    /// Their seeds.
    pub fn seeds(&self) -> impl Iterator<Item = u64> + use<> {
        let first = self.first;
        let count = self.count;
        (0..count).map(move |index| first.wrapping_add(index))
    }
}

impl Default for Schedules {
    /// Enough to have every strategy of [`simt::Seeded`] once.
    fn default() -> Schedules {
        Schedules {
            strategy: Strategy::Seeded,
            count: 5,
            first: 0,
            race: true,
            everywhere: false,
            weak: false,
            residency: None,
            delay: None,
            turns: None,
        }
    }
}
