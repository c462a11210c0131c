//! Under which schedules a case with co-resident ranks runs.

/// What the user asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedules {
    /// How many.
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
}

impl Schedules {
    /// In one process: all ranks' accesses are seen. Races are looked for there alone, because
    /// order may come from a rank in another process.
    pub fn in_one_process(self, alone: bool) -> Schedules {
        Schedules { race: self.race && alone, weak: self.weak && alone, ..self }
    }

    /// Their seeds.
    pub fn seeds(&self) -> impl Iterator<Item = u64> {
        let first = self.first;
        (0..self.count).map(move |index| first.wrapping_add(index))
    }
}

impl Default for Schedules {
    /// Enough to have every strategy of [`simt::Seeded`] once.
    fn default() -> Schedules {
        Schedules {
            count: 5,
            first: 0,
            race: true,
            everywhere: false,
            weak: false,
            residency: None,
        }
    }
}
