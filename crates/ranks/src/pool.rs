//! A pool of rank processes with their heaps: started once, reused from case to case, renewed
//! after anything but a pass.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use collectives::rank::MAX_WORLD;
use ipc::{Board, RankEntry};

use crate::command::{Command, PROTOCOL, Reply};
use crate::error::{HELLO, PoolError};
use crate::heaps::{HeapOwner, RemoteHeaps, SharedHeaps};
use crate::orphans;
use crate::process::{self, BOARD_FD, ChildProcess, Loss, Spawn};
use crate::target::Target;

/// Environment variable that marks a pool's processes.
pub const MARK: &str = "RANKCHECK_POOL";
/// Rank processes and their heaps.
#[derive(Debug)]
pub struct Pool {
    target: Target,
    board: Arc<Board>,
    heaps: Box<dyn HeapOwner>,
    processes: Vec<ChildProcess>,
    /// Stands in the environment of the pool's processes, and of any that a kernel starts.
    mark: String,
    interrupted: &'static AtomicBool,
}

impl Pool {
    /// An empty pool; processes start when they are needed.
    ///
    /// # Errors
    /// The system has no memory.
    pub fn new(target: Target, interrupted: &'static AtomicBool) -> Result<Pool, PoolError> {
        let board = Board::new().map_err(|error| PoolError::System {
            what: "shared memory for ranks".into(),
            reason: error.to_string(),
        })?;
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mark = format!("{}.{number}", std::process::id());
        let board = Arc::new(board);
        let heaps: Box<dyn HeapOwner> = match &target {
            Target::Cpu => Box::new(SharedHeaps::new(MAX_WORLD)?),
            Target::Gpus { .. } => {
                Box::new(RemoteHeaps::start(&target, &board, &mark, interrupted)?)
            }
        };
        Ok(Pool { target, board, heaps, processes: Vec::new(), mark, interrupted })
    }

    /// Makes room for heaps of `bytes` on `ranks` ranks and sees that `processes` processes live.
    ///
    /// # Errors
    /// The system refuses, or a process does not say hello.
    pub fn reserve(&mut self, ranks: u32, bytes: u64, processes: usize) -> Result<(), PoolError> {
        let gpus = self.target.gpus_of(ranks, processes);
        if self.heaps.must_move(&gpus, bytes) {
            // Nobody may have a heap open that moves.
            self.stop_processes();
        }
        self.heaps.reserve(ranks, &gpus, bytes)?;
        let first = self.processes.len();
        while self.processes.len() < processes {
            let process = self.start(self.processes.len())?;
            self.processes.push(process);
        }
        let started: Vec<usize> = (first..processes).collect();
        if started.is_empty() {
            return Ok(());
        }
        for (process, reply) in started.iter().zip(self.gather(&started, HELLO)?) {
            let wrong = match reply {
                Ok(Reply::Hello { protocol, .. }) if protocol == PROTOCOL => {
                    continue;
                }
                Ok(other) => format!("{other:?}"),
                Err(loss) => format!("{:?} {} {}", loss.cause, loss.phase.describe(), loss.output),
            };
            self.stop();
            return Err(PoolError::System {
                what: format!("rank process {process} did not say hello"),
                reason: wrong,
            });
        }
        Ok(())
    }

    fn start(&self, number: usize) -> Result<ChildProcess, PoolError> {
        let mut descriptors = vec![(self.board.fd(), BOARD_FD)];
        descriptors.extend(self.heaps.descriptors());
        ChildProcess::start(Spawn {
            number,
            arguments: vec![self.target.to_string()],
            mark: (MARK, &self.mark),
            descriptors,
            under: self.target.sanitizer().map(PathBuf::as_path),
        })
    }

    /// The heaps, to fill and compare while no rank runs.
    pub fn heaps(&mut self) -> &mut dyn HeapOwner {
        &mut *self.heaps
    }

    /// What a process has printed since this was last asked.
    pub fn printed(&mut self, process: usize) -> String {
        self.processes[process].printed()
    }

    /// A process's part of the control board.
    pub fn board(&self, process: usize) -> &RankEntry {
        self.board.rank(process)
    }

    /// How many times processes have met on the board, over all launches so far.
    pub fn met_so_far(&self) -> u32 {
        self.board.met_so_far()
    }

    /// Tells a process to do something. A process that is gone is noticed by [`Pool::gather`].
    pub fn tell(&mut self, process: usize, command: &Command) {
        self.processes[process].tell(command);
    }

    /// Waits for one reply of each of `processes`, for at most `patience`. Once one is lost, the
    /// others are given a moment, then stopped: their losses say so.
    ///
    /// # Errors
    /// Ctrl-C, or the system refuses to wait.
    pub fn gather(
        &mut self,
        processes: &[usize],
        patience: Duration,
    ) -> Result<Vec<Result<Reply, Loss>>, PoolError> {
        let mut all: Vec<Option<&mut ChildProcess>> = self.processes.iter_mut().map(Some).collect();
        let mut asked: Vec<&mut ChildProcess> = processes
            .iter()
            .map(|process| all[*process].take().expect("each is asked once"))
            .collect();
        let gathered = process::gather(&mut asked, &self.board, self.interrupted, patience)?;
        gathered.ok_or_else(|| {
            self.stop();
            PoolError::Interrupted
        })
    }

    /// How a process that was asked nothing has ended, if it has.
    pub fn lost(&mut self, process: usize) -> Option<Loss> {
        self.processes[process].ended(&self.board)
    }

    /// Ends all processes. Heaps stay.
    pub fn stop(&mut self) {
        if self.stop_processes() {
            orphans::kill(MARK, &self.mark);
        }
    }

    /// Whether there were any.
    fn stop_processes(&mut self) -> bool {
        for process in &self.processes {
            process.kill();
        }
        let started = !self.processes.is_empty();
        for mut process in self.processes.drain(..) {
            process.reap();
        }
        for number in 0..MAX_WORLD as usize {
            self.board.rank(number).reset();
        }
        started
    }

    /// Ends all processes and gives the heaps' memory back to the system.
    ///
    /// # Errors
    /// The system has no memory for an empty pool.
    pub fn renew(&mut self) -> Result<(), PoolError> {
        self.stop();
        *self = Pool::new(self.target.clone(), self.interrupted)?;
        Ok(())
    }

    /// Bytes of the host's memory that the heaps hold.
    pub fn held_bytes(&self) -> u64 {
        self.heaps.held_bytes()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.stop();
    }
}
