//! What a suspended thread does first when it goes on: known before it does it.

use serde::{Deserialize, Serialize};

use super::access::{Operation, Order, Scope};

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Act {
    /// It begins.
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
    /// It accesses memory.
    Access(Operation, Order, Scope),
}

/// What a thread does first when it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Next {
    /// What.
    pub act: Act,
    /// Offset of the instruction in the object.
    pub site: usize,
    /// First byte that it touches; 0 where it touches none, or nobody knows.
    pub address: usize,
    /// Bytes.
    pub size: u32,
    /// It has looked there before, in vain.
    pub waits: bool,
}

impl Next {
    pub(crate) const BEGIN: Next =
        Next { act: Act::Begin, site: 0, address: 0, size: 0, waits: false };
}
