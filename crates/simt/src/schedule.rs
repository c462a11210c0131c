//! Which blocks live at once, and which of the ready threads runs next.

/// How many ranks run at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Live {
    /// One after another, in the order of the launches.
    OneRank,
    /// All of them.
    AllRanks,
}

/// What it means that no thread of this executor can go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idle {
    /// Nobody else exists who could change that.
    Deadlock,
    /// Ranks in other processes may: give the core away and look again.
    Elsewhere,
}

/// Decides the interleaving of a run.
pub trait Schedule {
    /// How many ranks run at once.
    fn live(&self) -> Live;
    /// How many blocks a rank are resident at once; more are admitted as blocks end.
    fn resident_blocks(&self) -> u32;
    /// What a run without progress means.
    fn idle(&self) -> Idle;
    /// Which of `ready` threads (0 is the one that became ready first) runs next.
    fn pick(&mut self, ready: usize) -> usize;
}

/// Rank after rank and block after block; a thread runs until it suspends.
#[derive(Debug, Clone, Copy)]
pub struct Sequential {
    /// What a run without progress means.
    pub idle: Idle,
}

impl Schedule for Sequential {
    fn live(&self) -> Live {
        Live::OneRank
    }
    fn resident_blocks(&self) -> u32 {
        1
    }
    fn idle(&self) -> Idle {
        self.idle
    }
    fn pick(&mut self, _: usize) -> usize {
        0
    }
}

/// All blocks of all ranks at once, each thread in its turn.
#[derive(Debug, Clone, Copy)]
pub struct RoundRobin {
    /// Blocks a rank that are resident at once.
    pub resident_blocks: u32,
    /// What a run without progress means.
    pub idle: Idle,
}

impl Schedule for RoundRobin {
    fn live(&self) -> Live {
        Live::AllRanks
    }
    fn resident_blocks(&self) -> u32 {
        self.resident_blocks
    }
    fn idle(&self) -> Idle {
        self.idle
    }
    fn pick(&mut self, _: usize) -> usize {
        0
    }
}
