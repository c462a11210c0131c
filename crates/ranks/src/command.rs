//! What parent and rank process say to each other, in [`ipc::frames`].

use std::ops::Range;

use collectives::Rank;
use device::{Caches, Fault, Interleaving, Launch, Launched, WatchedByte};
use ipc::HeapHandle;
use serde::{Deserialize, Serialize};

/// A hash of the sources that define this protocol: a rank of another build is not listened to.
pub const PROTOCOL: u64 = match u64::from_str_radix(env!("RANKCHECK_PROTOCOL"), 10) {
    Ok(hash) => hash,
    Err(_) => panic!("the build script writes a number"),
};

/// What the parent says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// Get ready for a case: map heaps, load the object for each hosted rank.
    Prepare {
        /// The ranks that live in this process.
        hosted: Vec<Rank>,
        /// Whether all ranks do.
        alone: bool,
        /// How to open each rank's heap, by rank.
        heaps: Vec<HeapHandle>,
        /// Bytes of a heap.
        heap_bytes: u64,
        /// Parts of every heap that no memory backs: whoever touches them faults.
        gaps: Vec<Range<u64>>,
        /// The object's file.
        object: String,
        /// What it calls its entries, where it has no table of them.
        symbols: Vec<String>,
    },
    /// Run one call.
    Launch {
        /// The launches of the hosted ranks, in order.
        launches: Vec<Launch>,
        /// How they run.
        interleaving: Interleaving,
        /// How to start together with other processes.
        start: Option<Start>,
        /// Bytes whose writers the parent wants to know.
        watched: Vec<WatchedByte>,
        /// What caches hold when it begins, where it is timed; nothing is watched then.
        timed: Option<Caches>,
    },
    /// Copy so many bytes within the device's memory, and say how fast.
    Copy {
        /// How many bytes.
        bytes: u64,
    },
    /// The parent has judged; forget the object.
    Judged,
}

/// Two meetings on the control board, counted over all launches so far: nobody enters the kernel
/// before all are ready, and nobody's kernel begins before all are inside. So kernels that wait
/// find everybody there, and entry and exit times prove it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// Enter when the count has reached this.
    pub ready_at: u32,
    /// Begin when the count has reached this.
    pub inside_at: u32,
}

/// What a rank process says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// First of all.
    Hello {
        /// [`PROTOCOL`] of its binary: parent and rank must be one build.
        protocol: u64,
        /// Which process of the pool.
        process: u32,
        /// The name of its machine.
        host: String,
    },
    /// Ready for launches.
    Prepared,
    /// A call has run.
    Finished(Box<Launched>),
    /// How many bytes a second the device reads and writes while it copies; absent where it cannot say.
    Copied(Option<f64>),
    /// The ranks do not fit the device at once; nothing ran.
    DoesNotFit {
        /// What they need.
        needed: String,
        /// What there is.
        found: String,
    },
    /// The kernel lost the device's context for this process.
    Faulted {
        /// What it did.
        fault: Fault,
        /// Whose kernel, where that is known.
        rank: Option<Rank>,
        /// In the driver's words.
        text: String,
    },
    /// Something that is not the kernel's doing, or an object that does not fit its manifest.
    Failed(String),
}
