//! What parent and rank processes tell each other without words: phases, start, last words.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use collectives::rank::MAX_WORLD;
use rustix::thread::futex;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::{FaultRecord, IpcError, SharedMemory};

/// What a rank process is doing, so that a hang or a death names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u32)]
pub enum Phase {
    /// Starting, before it has said hello.
    Starting,
    /// It has said hello and waits for work.
    Hello,
    /// It has mapped the heaps and loaded its object.
    Mapped,
    /// The heaps are filled; it waits for the others to be ready.
    Filled,
    /// The kernel runs.
    Launched,
    /// The kernel has returned.
    Done,
    /// The parent has judged.
    Judged,
}

impl Phase {
    const ALL: [Phase; 7] = [
        Phase::Starting,
        Phase::Hello,
        Phase::Mapped,
        Phase::Filled,
        Phase::Launched,
        Phase::Done,
        Phase::Judged,
    ];

    /// What the rank was doing, for people.
    pub fn describe(self) -> &'static str {
        match self {
            Phase::Starting => "while starting, before it said hello",
            Phase::Hello => "while mapping heaps and loading its object",
            Phase::Mapped => "while waiting for the heaps to be filled",
            Phase::Filled => "while waiting for the other ranks to be ready",
            Phase::Launched => "inside the kernel",
            Phase::Done => "after the kernel returned, before it was judged",
            Phase::Judged => "after it was judged",
        }
    }
}

/// One process's part.
#[repr(C)]
#[derive(Debug, Default)]
pub struct RankEntry {
    phase: AtomicU32,
    entered: AtomicU64,
    left: AtomicU64,
    /// What the process wrote down before it died or when it was asked.
    pub fault: FaultRecord,
}

#[repr(C)]
struct Layout {
    /// Processes that have come to a meeting, counted over all of them.
    met: AtomicU32,
    /// One a rank, and one for a process that judges.
    ranks: [RankEntry; MAX_WORLD as usize + 1],
}

/// The memory that all processes of a pool share besides heaps.
#[derive(Debug)]
pub struct Board {
    memory: SharedMemory,
}

const BYTES: u64 = 1 << 16;
const _: () = assert!(size_of::<Layout>() <= BYTES as usize);

impl Board {
    /// A fresh board.
    ///
    /// # Errors
    /// The system has no memory.
    pub fn new() -> Result<Board, IpcError> {
        Ok(Board { memory: SharedMemory::new("rankcheck-control", BYTES)? })
    }

    /// The parent's board.
    ///
    /// # Errors
    /// The descriptor is no board.
    pub fn open(fd: OwnedFd) -> Result<Board, IpcError> {
        Ok(Board { memory: SharedMemory::open(fd, BYTES)? })
    }

    /// The descriptor, to hand to a rank process.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.memory.fd()
    }

    fn layout(&self) -> &Layout {
        // SAFETY: `Layout` is made of atomics, and all zero is valid for each of them.
        unsafe { self.memory.at_start::<Layout>() }
    }

    /// A process's part.
    pub fn rank(&self, process: usize) -> &RankEntry {
        &self.layout().ranks[process]
    }

    /// A process's part, for signal handlers: the board is never unmapped.
    pub fn leak(self) -> &'static Board {
        Box::leak(Box::new(self))
    }

    /// How many processes have come to a meeting, over all of them so far.
    pub fn met_so_far(&self) -> u32 {
        self.layout().met.load(Ordering::Acquire)
    }

    /// Comes to a meeting, and waits until `target` have come without going to sleep: waking up would take
    /// longer than what begins behind it may.
    pub fn meet_awake(&self, target: u32) {
        /// So often it looks again before it lets another process have the core.
        const LOOKS: u32 = 2000;
        let met = &self.layout().met;
        met.fetch_add(1, Ordering::AcqRel);
        let mut looks = 0u32;
        while (met.load(Ordering::Acquire).wrapping_sub(target) as i32) < 0 {
            looks += 1;
            match looks % LOOKS {
                0 => std::thread::yield_now(),
                _ => std::hint::spin_loop(),
            }
        }
    }

    /// Comes to a meeting, and waits until `target` have come.
    pub fn meet(&self, target: u32) {
        let met = &self.layout().met;
        met.fetch_add(1, Ordering::AcqRel);
        // The kernel counts in a signed integer: the largest one means all.
        let _ = futex::wake(met, futex::Flags::empty(), i32::MAX as u32);
        loop {
            let now = met.load(Ordering::Acquire);
            if now.wrapping_sub(target) as i32 >= 0 {
                return;
            }
            // Woken, interrupted or already changed: look again.
            let _ = futex::wait(met, futex::Flags::empty(), now, None);
        }
    }
}

impl RankEntry {
    /// Notes what the process does now.
    pub fn enter(&self, phase: Phase) {
        let now = now();
        match phase {
            Phase::Launched => self.entered.store(now, Ordering::Relaxed),
            Phase::Done => self.left.store(now, Ordering::Relaxed),
            Phase::Starting | Phase::Hello | Phase::Mapped | Phase::Filled | Phase::Judged => {}
        }
        self.phase.store(phase as u32, Ordering::Release);
    }

    /// Forgets the process.
    pub fn reset(&self) {
        self.phase.store(Phase::Starting as u32, Ordering::Release);
        self.fault.clear();
    }

    /// What the process was last doing.
    pub fn phase(&self) -> Phase {
        Phase::ALL[(self.phase.load(Ordering::Acquire) as usize).min(Phase::ALL.len() - 1)]
    }

    /// When it entered and left the kernel last, in nanoseconds of the monotonic clock.
    pub fn inside(&self) -> (u64, u64) {
        (self.entered.load(Ordering::Acquire), self.left.load(Ordering::Acquire))
    }
}

fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::time::Duration;

    /// A barrier in which one rank does not really wait skews every start behind it.
    #[test]
    fn nobody_starts_before_the_last_one_is_there() {
        nobody_starts_early(Board::meet);
        nobody_starts_early(Board::meet_awake);
    }

    fn nobody_starts_early(meet: fn(&Board, u32)) {
        let board = Board::new().unwrap();
        let arrived = AtomicUsize::new(0);
        for round in 1..=3 {
            let target = board.met_so_far() + 3;
            std::thread::scope(|scope| {
                for rank in 0..3 {
                    let (board, arrived) = (&board, &arrived);
                    scope.spawn(move || {
                        std::thread::sleep(Duration::from_millis(5 * rank));
                        arrived.fetch_add(1, Ordering::SeqCst);
                        meet(board, target);
                        assert!(arrived.load(Ordering::SeqCst) >= 3 * round, "rank {rank}");
                    });
                }
            });
        }
    }
}
