//! Heaps on GPUs, owned by a process that fills and compares them and has never loaded a kernel under
//! test. This is its parent's side; [`super::server`] is its own.

use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use collectives::{Finding, HeapPlan, Problem, Rank};
use ipc::{Board, HeapHandle};

use super::HeapOwner;
use super::message::{Answer, Ask, BEHIND, NUMBER, ROLE};
use super::speed::Speeds;
use crate::command::PROTOCOL;
use crate::error::{HELLO, PoolError};
use crate::process::{self, BOARD_FD, ChildProcess, Spawn};
use crate::target::Target;

/// Heaps get at least this much room, so that they seldom move.
const ROOM: u64 = 8 << 20;
/// What filling or comparing may take, sizes aside.
const PATIENCE: Duration = Duration::from_secs(60);
/// Besides, it may take a second for this many bytes.
const BYTES_A_SECOND: u64 = 50 << 20;

/// The heap server, as its parent sees it.
#[derive(Debug)]
pub struct RemoteHeaps {
    process: ChildProcess,
    board: Arc<Board>,
    interrupted: &'static AtomicBool,
    /// By rank, where its heap is.
    gpus: Vec<u32>,
    /// Room in each heap.
    bytes: u64,
    handles: Vec<HeapHandle>,
}

impl RemoteHeaps {
    /// Starts the process, which says hello.
    ///
    /// # Errors
    /// The system refuses, or the process does not say hello in time.
    pub fn start(
        target: &Target,
        board: &Arc<Board>,
        mark: &str,
        interrupted: &'static AtomicBool,
    ) -> Result<RemoteHeaps, PoolError> {
        let process = ChildProcess::start(Spawn {
            number: NUMBER,
            arguments: vec![target.to_string(), ROLE.into()],
            // Not the mark of rank processes, which end with all that they started.
            mark: ("RANKCHECK_HEAPS", mark),
            descriptors: vec![(board.fd(), BOARD_FD)],
            under: None,
        })?;
        let (gpus, handles) = (Vec::new(), Vec::new());
        let board = board.clone();
        let mut heaps = RemoteHeaps { process, board, interrupted, gpus, bytes: 0, handles };
        match heaps.answer(HELLO)? {
            Answer::Hello(protocol) if protocol == PROTOCOL => Ok(heaps),
            other => Err(unexpected("greeting", &other)),
        }
    }

    /// How fast heaps are filled and compared.
    ///
    /// # Errors
    /// The device is lost.
    pub fn measure(&mut self, problem: &Problem) -> Result<Speeds, PoolError> {
        match self.ask(&Ask::Measure { problem: Box::new(problem.clone()) }, 0)? {
            Answer::Measured(speeds) => Ok(speeds),
            other => Err(unexpected("measuring", &other)),
        }
    }

    fn ask(&mut self, ask: &Ask, bytes: u64) -> Result<Answer, PoolError> {
        self.process.tell(ask);
        self.answer(PATIENCE + Duration::from_secs(bytes / BYTES_A_SECOND))
    }

    fn answer(&mut self, patience: Duration) -> Result<Answer, PoolError> {
        let mut asked = [&mut self.process];
        let answers = process::gather(&mut asked, &self.board, self.interrupted, patience)?;
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

impl HeapOwner for RemoteHeaps {
    fn must_move(&self, gpus: &[u32], bytes: u64) -> bool {
        let known = self.gpus.len().min(gpus.len());
        known > 0 && (bytes + BEHIND > self.bytes || self.gpus[..known] != gpus[..known])
    }

    fn descriptors(&self) -> Vec<(BorrowedFd<'_>, i32)> {
        Vec::new()
    }

    /// No rank may have a heap open that moves.
    fn reserve(&mut self, _ranks: u32, gpus: &[u32], bytes: u64) -> Result<(), PoolError> {
        let bytes = bytes + BEHIND;
        let same = self.gpus.get(..gpus.len()).is_some_and(|known| known == gpus);
        if same && bytes <= self.bytes {
            return Ok(());
        }
        // Not the room that other ranks have already: 64 heaps as large as those of eight may not fit. What is
        // there stays, and counts as much as the smallest.
        let room = bytes.max(ROOM);
        let room = room.next_power_of_two().min(room.next_multiple_of(256 << 20));
        let ask = Ask::Reserve { gpus: gpus.to_vec(), bytes: room };
        match self.ask(&ask, room * gpus.len() as u64)? {
            Answer::Reserved(handles) => {
                (self.gpus, self.bytes, self.handles) = (gpus.to_vec(), room, handles);
                Ok(())
            }
            other => Err(unexpected("reserving heaps", &other)),
        }
    }

    fn handles(&self, ranks: u32) -> Vec<HeapHandle> {
        self.handles[..ranks as usize].to_vec()
    }

    fn fill(
        &mut self,
        problem: &Problem,
        plan: &HeapPlan,
        call: usize,
        at: u64,
    ) -> Result<(), PoolError> {
        assert_eq!(at, 0, "a device's memory holds heaps and nothing behind them");
        let bytes = plan.bytes * u64::from(problem.world);
        match self.ask(&Ask::Fill { problem: Box::new(problem.clone()), call }, bytes)? {
            Answer::Filled => Ok(()),
            other => Err(unexpected("filling heaps", &other)),
        }
    }

    fn compare(
        &mut self,
        problem: &Problem,
        plan: &HeapPlan,
        call: usize,
        at: u64,
    ) -> Result<Vec<Finding>, PoolError> {
        assert_eq!(at, 0, "a device's memory holds heaps and nothing behind them");
        let bytes = plan.bytes * u64::from(problem.world);
        match self.ask(&Ask::Compare { problem: Box::new(problem.clone()), call }, bytes)? {
            Answer::Compared(findings) => Ok(findings),
            other => Err(unexpected("comparing heaps", &other)),
        }
    }

    fn copy(&mut self, rank: Rank, bytes: u64) -> Result<Vec<u8>, PoolError> {
        const PIECE: u64 = 8 << 20;
        let mut copy = Vec::with_capacity(bytes as usize);
        while (copy.len() as u64) < bytes {
            let offset = copy.len() as u64;
            let piece = PIECE.min(bytes - offset);
            match self.ask(&Ask::Read { rank, offset, bytes: piece }, piece)? {
                Answer::Bytes(bytes) if bytes.len() as u64 == piece => copy.extend(bytes),
                other => return Err(unexpected("reading a heap", &other)),
            }
        }
        Ok(copy)
    }

    fn held_bytes(&self) -> u64 {
        0
    }
}

impl Drop for RemoteHeaps {
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
