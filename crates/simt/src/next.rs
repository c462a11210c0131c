//! What a suspended thread does first when it goes on: known before it does it.

use serde::{Deserialize, Serialize};

use crate::abi::kind;
use crate::fiber::Suspension;
use crate::observer::{Operation, Order, Scope};

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

    /// Of a suspended thread.
    pub(crate) fn of(suspension: &Suspension) -> Next {
        let Suspension { kind, what, site, address, size } = *suspension;
        let act = match what & 0x7f {
            kind::BARRIER => Act::Barrier,
            kind::WAVE_BARRIER => Act::WaveBarrier,
            kind::TILE_STEP => Act::Tile,
            kind::FENCE => Act::Fence(order(what), scope(what)),
            kind::COMPARE_AND_SWAP => {
                Act::Access(Operation::AtomicUpdate, order(what), scope(what))
            }
            other => match operation(other) {
                Some(operation) => Act::Access(operation, order(what), scope(what)),
                None => Act::Look,
            },
        };
        Next { act, site, address, size, waits: kind == kind::SPIN }
    }
}

/// The access that a kind of event reports.
pub(crate) fn operation(kind: u32) -> Option<Operation> {
    Some(match kind {
        kind::READ => Operation::Read,
        kind::WRITE => Operation::Write,
        kind::VOLATILE_READ => Operation::VolatileRead,
        kind::VOLATILE_WRITE => Operation::VolatileWrite,
        kind::ATOMIC_LOAD => Operation::AtomicLoad,
        kind::ATOMIC_STORE => Operation::AtomicStore,
        kind::ATOMIC_RMW => Operation::AtomicUpdate,
        kind::PACKET_STORE => Operation::PacketStore,
        kind::PACKET_LOAD => Operation::PacketLoad,
        kind::PACKET_MATCH => Operation::PacketMatch,
        _ => return None,
    })
}

/// The order in an event's `what`.
pub(crate) fn order(what: u32) -> Order {
    match what >> 8 & 0xff {
        0 => Order::Relaxed,
        1 => Order::Acquire,
        2 => Order::Release,
        3 => Order::AcquireRelease,
        _ => Order::SequentiallyConsistent,
    }
}

/// The scope in an event's `what`.
pub(crate) fn scope(what: u32) -> Scope {
    match what >> 16 & 0xff {
        0 => Scope::Wave,
        1 => Scope::Block,
        2 => Scope::Agent,
        _ => Scope::System,
    }
}
