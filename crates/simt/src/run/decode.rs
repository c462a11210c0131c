//! Events as kernels report them, in numbers, turned into what observers and schedules see.

use super::fiber::Suspension;
use crate::object::abi::kind;
use crate::observe::access::{Operation, Order, Scope};
use crate::observe::next::{Act, Next};

/// What a suspended thread does first when it goes on.
pub(crate) fn next_of(suspension: &Suspension) -> Next {
    let Suspension { kind, what, site, address, size } = *suspension;
    let act = match what & 0x7f {
        kind::BARRIER => Act::Barrier,
        kind::WAVE_BARRIER => Act::WaveBarrier,
        kind::TILE_STEP => Act::Tile,
        kind::FENCE => Act::Fence(order(what), scope(what)),
        kind::COMPARE_AND_SWAP => Act::Access(Operation::AtomicUpdate, order(what), scope(what)),
        other => match operation(other) {
            Some(operation) => Act::Access(operation, order(what), scope(what)),
            None => Act::Look,
        },
    };
    Next { act, site, address, size, waits: kind == kind::SPIN }
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
