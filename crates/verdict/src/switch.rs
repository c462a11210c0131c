//! Switches between kernel threads: how an interleaving departs from the one that its seed names.

use std::fmt;
use std::str::FromStr;

use collectives::Rank;
use serde::{Deserialize, Serialize};

/// A thread of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct KernelThread {
    /// Its rank in the world.
    pub rank: Rank,
    /// Its call, counted from that of the switch.
    pub call: u32,
    /// Its block in the grid; [`KernelThread::HOST`] for the rank's host, which lets the call begin.
    pub block: u32,
    /// Its index in the block.
    pub thread: u32,
}

/// A place at which another thread goes on than would by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switch {
    /// The call of the case, from 0; the first of those that ran together.
    pub call: usize,
    /// The thread that ran last and the number of its steps so far; absent at the start of the call.
    pub after: Option<(KernelThread, u32)>,
    /// The thread that goes on.
    pub to: KernelThread,
}

/// A text that names no switch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no switch such as 0:r1b0t3@12>r0b0t5")]
pub struct SwitchError(String);

impl KernelThread {
    /// The block of a rank's host: no grid has so many.
    pub const HOST: u32 = u32::MAX;
}

/// `r1b0t3`: rank 1, block 0, thread 3; `r1c2b0t3` two calls later, `r1c2host` the rank's host there.
impl fmt::Display for KernelThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let KernelThread { rank, call, block, thread } = self;
        write!(f, "r{rank}")?;
        if *call > 0 {
            write!(f, "c{call}")?;
        }
        match *block {
            KernelThread::HOST => f.write_str("host"),
            block => write!(f, "b{block}t{thread}"),
        }
    }
}

/// `0:r1b0t3@12>r0b0t5`: in call 0, after step 12 of rank 1 block 0 thread 3, rank 0 block 0 thread 5 goes
/// on; `0:>r0b0t5`: it goes first.
impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.call)?;
        if let Some((thread, steps)) = self.after {
            write!(f, "{thread}@{steps}")?;
        }
        write!(f, ">{}", self.to)
    }
}

impl FromStr for Switch {
    type Err = SwitchError;

    fn from_str(text: &str) -> Result<Switch, SwitchError> {
        parse(text).ok_or_else(|| SwitchError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Switch> {
    let (call, turn) = text.split_once(':')?;
    let (after, to) = turn.split_once('>')?;
    let after = match after.split_once('@') {
        Some((thread, steps)) => Some((kernel_thread(thread)?, steps.parse().ok()?)),
        None if after.is_empty() => None,
        None => return None,
    };
    Some(Switch { call: call.parse().ok()?, after, to: kernel_thread(to)? })
}

fn kernel_thread(text: &str) -> Option<KernelThread> {
    let (rank, rest) = number(text.strip_prefix('r')?)?;
    let (rank, (call, rest)) =
        (Rank(rank), rest.strip_prefix('c').map_or(Some((0, rest)), number)?);
    if rest == "host" {
        return Some(KernelThread { rank, call, block: KernelThread::HOST, thread: 0 });
    }
    let (block, thread) = rest.strip_prefix('b')?.split_once('t')?;
    Some(KernelThread { rank, call, block: block.parse().ok()?, thread: thread.parse().ok()? })
}

/// The number that a text begins with, and what follows it.
fn number(text: &str) -> Option<(u32, &str)> {
    let (number, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    Some((number.parse().ok()?, rest))
}

/// Switches as the command line takes them: `0:r1b0t3@12>r0b0t5,1:>r0b0t1`, or `none`.
pub fn show_switches(switches: &[Switch]) -> String {
    match switches {
        [] => "none".into(),
        _ => switches.iter().map(Switch::to_string).collect::<Vec<_>>().join(","),
    }
}

/// Reads what [`show_switches`] writes.
///
/// # Errors
/// A part that names no switch.
pub fn switches_of(text: &str) -> Result<Vec<Switch>, SwitchError> {
    match text {
        "none" => Ok(Vec::new()),
        _ => text.split(',').map(str::parse).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_read_as_they_are_written() {
        for text in [
            "0:r1b0t3@12>r0b7t5",
            "3:>r10b0t0",
            "0:r1c2b0t3@4>r0c1host",
            "0:>r0b0t0,1:r1b0t0@1>r0b0t1",
            "none",
        ] {
            assert_eq!(show_switches(&switches_of(text).expect("switches")), text);
        }
        for text in [
            "",
            "0:",
            "r1b0t3@12>r0b0t0",
            "0:r1b0t3>r0b0t0",
            "0:r1t3@1>r0b0t0",
            "0:>r0b0",
            "0:>r0b0t0,",
        ] {
            assert!(switches_of(text).is_err(), "{text}");
        }
    }
}
