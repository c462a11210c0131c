//! One thread after another: the plainest schedule.

use std::collections::VecDeque;

use super::contract::{Idle, Live, Look, Ready, Schedule, Switches};

/// A schedule that runs rank after rank and block after block; a thread runs until it suspends.
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
    fn admits_when_stuck(&self) -> bool {
        true
    }
    fn idle(&self) -> Idle {
        self.idle
    }
    fn switches(&self) -> Switches {
        Switches::Waits
    }
    fn gives_up(&mut self, _: &[Ready], _: &VecDeque<Ready>, _: Look<'_>) -> Option<usize> {
        None
    }
    fn pick(&mut self, _: &VecDeque<Ready>, _: Option<usize>, _: Look<'_>) -> usize {
        0
    }
}
