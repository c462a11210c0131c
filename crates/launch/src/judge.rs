//! The process that judges on GPUs: it owns the heaps, fills them and compares them, and has never
//! loaded a kernel under test. Here is its parent's side; [`crate::judge_process`] is its own.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use collectives::rank::MAX_WORLD;
use collectives::{Finding, HeapPlan, Problem, Rank};
use device::HeapHandle;
use device::cpu::Control;
use serde::{Deserialize, Serialize};

use crate::measure::Speeds;
use crate::pool::{HELLO, PoolError};
use crate::process::{self, Birth, CONTROL_FD, ChildProcess};
use crate::target::Target;

/// Its number on the control board, behind all ranks.
pub(crate) const NUMBER: usize = MAX_WORLD as usize;
/// Second argument behind its number.
pub(crate) const ROLE: &str = "judge";
/// Heaps get at least this much room, so that they seldom move.
const ROOM: u64 = 8 << 20;
/// A GPU has no page behind a heap that faults, so so many bytes there are watched instead.
pub(crate) const BEHIND: u64 = 64 << 10;
/// What filling or comparing may take, sizes aside.
const PATIENCE: Duration = Duration::from_secs(60);
/// Besides, it may take a second for this many bytes.
const BYTES_A_SECOND: u64 = 50 << 20;

/// What the parent says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Ask {
    /// Have heaps of so many bytes on these GPUs, by rank.
    Reserve { gpus: Vec<u32>, bytes: u64 },
    /// Fill every heap.
    Fill { problem: Box<Problem>, call: usize },
    /// Compare every heap.
    Judge { problem: Box<Problem>, call: usize },
    /// Measure how fast heaps are filled and compared.
    Measure { problem: Box<Problem> },
    /// Say what stands in a part of a heap.
    Read { rank: Rank, offset: u64, bytes: u64 },
}

/// What it answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// It lives, and is this version.
    Hello(String),
    /// How to open each heap.
    Reserved(Vec<HeapHandle>),
    /// Every heap is filled.
    Filled,
    /// What is wrong: findings, as JSON.
    Judged(String),
    /// How fast that is.
    Measured(Speeds),
    /// What stands there.
    Bytes(Vec<u8>),
    /// It could not.
    Failed(String),
}

/// The judging process.
#[derive(Debug)]
pub(crate) struct Judge {
    process: ChildProcess,
    interrupted: &'static AtomicBool,
    /// By rank, where its heap is.
    gpus: Vec<u32>,
    /// Room in each heap.
    bytes: u64,
    handles: Vec<HeapHandle>,
}

impl Judge {
    /// Starts it.
    pub(crate) fn start(
        target: &Target,
        control: &Control,
        mark: &str,
        interrupted: &'static AtomicBool,
    ) -> Result<Judge, PoolError> {
        let process = ChildProcess::start(Birth {
            number: NUMBER,
            arguments: vec![target.to_string(), ROLE.into()],
            // Not the mark of rank processes, which end with all that they started.
            mark: ("RANKCHECK_JUDGE", mark),
            descriptors: vec![(control.fd(), CONTROL_FD)],
            under: None,
        })?;
        let (gpus, handles) = (Vec::new(), Vec::new());
        let mut judge = Judge { process, interrupted, gpus, bytes: 0, handles };
        match judge.answer(control, HELLO)? {
            Answer::Hello(version) if version == env!("CARGO_PKG_VERSION") => Ok(judge),
            other => Err(unexpected("greeting", &other)),
        }
    }

    /// Whether making that room changes where heaps are.
    pub(crate) fn must_move(&self, gpus: &[u32], bytes: u64) -> bool {
        let known = self.gpus.len().min(gpus.len());
        known > 0 && (bytes + BEHIND > self.bytes || self.gpus[..known] != gpus[..known])
    }

    /// Sees that there is room; no rank may have a heap open that moves.
    pub(crate) fn reserve(
        &mut self,
        control: &Control,
        gpus: &[u32],
        bytes: u64,
    ) -> Result<(), PoolError> {
        let bytes = bytes + BEHIND;
        let same = self.gpus.get(..gpus.len()).is_some_and(|known| known == gpus);
        if same && bytes <= self.bytes {
            return Ok(());
        }
        let room = bytes.max(ROOM).max(self.bytes);
        let room = room.next_power_of_two().min(room.next_multiple_of(256 << 20));
        let ask = Ask::Reserve { gpus: gpus.to_vec(), bytes: room };
        match self.ask(control, &ask, room * gpus.len() as u64)? {
            Answer::Reserved(handles) => {
                (self.gpus, self.bytes, self.handles) = (gpus.to_vec(), room, handles);
                Ok(())
            }
            other => Err(unexpected("reserving heaps", &other)),
        }
    }

    /// How a rank process opens the first `ranks` heaps.
    pub(crate) fn handles(&self, ranks: u32) -> Vec<HeapHandle> {
        self.handles[..ranks as usize].to_vec()
    }

    /// Fills every heap for a call.
    pub(crate) fn fill(
        &mut self,
        control: &Control,
        problem: &Problem,
        plan: &HeapPlan,
        call: usize,
    ) -> Result<(), PoolError> {
        let bytes = plan.bytes * u64::from(problem.world);
        match self.ask(control, &Ask::Fill { problem: Box::new(problem.clone()), call }, bytes)? {
            Answer::Filled => Ok(()),
            other => Err(unexpected("filling heaps", &other)),
        }
    }

    /// What is wrong in the heaps after a call.
    pub(crate) fn judge(
        &mut self,
        control: &Control,
        problem: &Problem,
        plan: &HeapPlan,
        call: usize,
    ) -> Result<Vec<Finding>, PoolError> {
        let bytes = plan.bytes * u64::from(problem.world);
        match self.ask(control, &Ask::Judge { problem: Box::new(problem.clone()), call }, bytes)? {
            Answer::Judged(findings) => serde_json::from_str(&findings)
                .map_err(|error| unexpected("judging heaps", &Answer::Failed(error.to_string()))),
            other => Err(unexpected("judging heaps", &other)),
        }
    }

    /// How fast heaps are filled and compared.
    pub(crate) fn measure(
        &mut self,
        control: &Control,
        problem: &Problem,
    ) -> Result<Speeds, PoolError> {
        match self.ask(control, &Ask::Measure { problem: Box::new(problem.clone()) }, 0)? {
            Answer::Measured(speeds) => Ok(speeds),
            other => Err(unexpected("measuring", &other)),
        }
    }

    /// A copy of the first `bytes` of a heap, piece by piece.
    pub(crate) fn copy(
        &mut self,
        control: &Control,
        rank: Rank,
        bytes: u64,
    ) -> Result<Vec<u8>, PoolError> {
        const PIECE: u64 = 8 << 20;
        let mut copy = Vec::with_capacity(bytes as usize);
        while (copy.len() as u64) < bytes {
            let offset = copy.len() as u64;
            let piece = PIECE.min(bytes - offset);
            match self.ask(control, &Ask::Read { rank, offset, bytes: piece }, piece)? {
                Answer::Bytes(bytes) if bytes.len() as u64 == piece => copy.extend(bytes),
                other => return Err(unexpected("reading a heap", &other)),
            }
        }
        Ok(copy)
    }

    fn ask(&mut self, control: &Control, ask: &Ask, bytes: u64) -> Result<Answer, PoolError> {
        self.process.tell(ask);
        self.answer(control, PATIENCE + Duration::from_secs(bytes / BYTES_A_SECOND))
    }

    fn answer(&mut self, control: &Control, patience: Duration) -> Result<Answer, PoolError> {
        let mut asked = [&mut self.process];
        let answers = process::gather(&mut asked, control, self.interrupted, patience)?;
        let answer = answers.ok_or(PoolError::Interrupted)?.pop().expect("one was asked");
        answer.map_err(|loss| {
            PoolError::DeviceLost(format!(
                "the process that owns the heaps on the GPU was lost: {:?}; it printed: {}",
                loss.cause,
                loss.output.trim()
            ))
        })
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        self.process.kill();
        self.process.reap();
    }
}

fn unexpected(what: &str, answer: &Answer) -> PoolError {
    let reason = match answer {
        Answer::Failed(reason) => reason.clone(),
        other => format!("it answered {other:?}"),
    };
    PoolError::System { what: format!("{what} on the GPU"), reason }
}
