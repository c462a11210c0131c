//! An access of memory: by which thread, of what kind, in what order, at what scope.

use std::fmt;
use std::str::FromStr;

use collectives::Rank;
use serde::{Deserialize, Serialize};

/// A GPU thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ThreadId {
    /// The rank that launched it.
    pub rank: Rank,
    /// The number of its call among those of the run, from 0.
    pub call: u32,
    /// The index of its block in the grid; [`ThreadId::HOST`] for the rank's host.
    pub block: u32,
    /// Its index in the block, from 0.
    pub thread: u32,
}

impl ThreadId {
    /// The block of a host: no grid has so many.
    pub const HOST: u32 = u32::MAX;

    /// The host of a rank, where it lets a call begin.
    pub fn host(rank: Rank, call: u32) -> ThreadId {
        ThreadId { rank, call, block: ThreadId::HOST, thread: 0 }
    }

    /// Whether it is a rank's host.
    pub fn is_host(self) -> bool {
        self.block == ThreadId::HOST
    }

    /// A number that no other thread of a run has: blocks have up to 1024 threads, and cases up to 4096
    /// calls.
    pub(crate) fn key(self) -> u64 {
        let thread = u64::from(self.call) << 12 | u64::from(self.thread);
        u64::from(self.rank.0) << 56 | u64::from(self.block) << 24 | thread
    }
}

/// `r1b0t3`: rank 1, block 0, thread 3; `r1c2b0t3` in call 2 of the run, `r1c2host` the rank's host there.
impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ThreadId { rank, call, block, thread } = self;
        write!(f, "r{rank}")?;
        if *call > 0 {
            write!(f, "c{call}")?;
        }
        match self.is_host() {
            true => f.write_str("host"),
            false => write!(f, "b{block}t{thread}"),
        }
    }
}

impl FromStr for ThreadId {
    type Err = String;

    fn from_str(text: &str) -> Result<ThreadId, String> {
        let thread = || -> Option<ThreadId> {
            let rest = text.strip_prefix('r')?;
            let (rank, rest) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit())?);
            let rank = Rank(rank.parse().ok()?);
            let (call, rest) = match rest.strip_prefix('c') {
                Some(rest) => rest.split_at(rest.find(|c: char| !c.is_ascii_digit())?),
                None => ("0", rest),
            };
            let call = call.parse().ok()?;
            if rest == "host" {
                return Some(ThreadId::host(rank, call));
            }
            let (block, thread) = rest.strip_prefix('b')?.split_once('t')?;
            let (block, thread) = (block.parse().ok()?, thread.parse().ok()?);
            Some(ThreadId { rank, call, block, thread })
        };
        thread().ok_or_else(|| format!("`{text}` is no thread such as r1b0t3 or r1c2b0t3"))
    }
}

/// The ways in which a thread accesses memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    /// A plain load, neither atomic nor volatile.
    Read,
    /// A plain store, neither atomic nor volatile.
    Write,
    /// A load through a volatile pointer.
    VolatileRead,
    /// A store through a volatile pointer.
    VolatileWrite,
    /// An atomic load of any order and scope.
    AtomicLoad,
    /// An atomic store of any order and scope.
    AtomicStore,
    /// An atomic read-modify-write, such as a fetch-and-add or a compare-and-swap.
    AtomicUpdate,
    /// A store of data and flag as one unit that is never seen in part (a packet).
    PacketStore,
    /// A load of a packet.
    PacketLoad,
    /// Not an access by itself: the packet just loaded is the one that the thread waited for.
    PacketMatch,
}

impl Operation {
    /// Whether it may change memory.
    pub fn writes(self) -> bool {
        match self {
            Operation::Read
            | Operation::VolatileRead
            | Operation::AtomicLoad
            | Operation::PacketLoad
            | Operation::PacketMatch => false,
            Operation::Write
            | Operation::VolatileWrite
            | Operation::AtomicStore
            | Operation::AtomicUpdate
            | Operation::PacketStore => true,
        }
    }
}

/// The memory order of an atomic or a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// It orders no other access.
    Relaxed,
    /// What the writer had released is visible behind it.
    Acquire,
    /// What came before it is visible to those who acquire it.
    Release,
    /// Both acquire and release.
    AcquireRelease,
    /// Both, and all such operations have one total order.
    SequentiallyConsistent,
}

impl Order {
    /// Whether what others released before is visible after it.
    pub fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcquireRelease | Order::SequentiallyConsistent)
    }

    /// Whether what came before it is visible to those who acquire it.
    pub fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcquireRelease | Order::SequentiallyConsistent)
    }
}

/// The set of threads for which an atomic or a fence orders accesses, seen from its own thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Scope {
    /// The threads of its wave.
    Wave,
    /// The threads of its block.
    Block,
    /// The threads of its rank: a rank is one GPU.
    Agent,
    /// The threads of all ranks.
    System,
}

/// One access of memory by one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// The thread that accesses memory.
    pub thread: ThreadId,
    /// How it does.
    pub operation: Operation,
    /// The memory order; relaxed for plain accesses.
    pub order: Order,
    /// The scope; system for plain accesses.
    pub scope: Scope,
    /// The address of the first byte. That of block-shared memory is made up, see
    /// [`shared_memory_at`](crate::shared_memory_at).
    pub address: usize,
    /// The number of bytes.
    pub size: u32,
    /// The offset of the instruction in the object, in bytes; [`Access::NO_SITE`] for a host's.
    pub site: usize,
}

impl Access {
    /// The site of what no instruction of a kernel does.
    pub const NO_SITE: usize = usize::MAX;
}
