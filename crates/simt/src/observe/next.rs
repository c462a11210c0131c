//! What a suspended thread does first when it goes on: known before it does it.

use serde::{Deserialize, Serialize};

use super::access::{Operation, Order, Scope};

/// The kinds of things that a thread can do first when it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Act {
    /// It begins: it has executed nothing yet.
    Begin,
    /// It leaves a barrier of its block.
    Barrier,
    /// It leaves a barrier of its wave.
    WaveBarrier,
    /// It looks again at what it waits for.
    Look,
    /// It goes on behind a tile.
    Tile,
    /// It executes a fence.
    Fence(Order, Scope),
    /// A rank's call has ended: its host reads what it left.
    CallEnds,
    /// A rank's next call begins: its host has written what it begins with.
    CallBegins,
    /// It makes this access of memory.
    Access(Operation, Order, Scope),
}

/// What a thread does first when it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Next {
    /// The kind of thing.
    pub act: Act,
    /// The offset of the instruction in the object, in bytes; 0 for a thread that begins.
    pub site: usize,
    /// The address of the first byte that it touches; 0 where it touches none or it is not known.
    pub address: usize,
    /// The number of bytes that it touches; 0 where that is not known.
    pub size: u32,
    /// Whether it has looked there before and did not see what it waits for.
    pub waits: bool,
}

impl Next {
    pub(crate) const BEGIN: Next =
        Next { act: Act::Begin, site: 0, address: 0, size: 0, waits: false };
}
