//! Whether it matters which of two steps comes first: decided on the bytes that they touch.

use crate::observe::next::{Act, Next};
use crate::schedule::contract::PLACE_BITS;

/// The bytes that a step touches, and whether it writes them.
fn footprint(next: &Next) -> Option<(std::ops::Range<usize>, bool)> {
    let writes = match next.act {
        Act::Begin | Act::Barrier | Act::WaveBarrier | Act::Tile | Act::Fence(..) => return None,
        // A host touches much, in calls that follow each other, which are not explored.
        Act::CallEnds | Act::CallBegins => true,
        Act::Look => false,
        Act::Access(operation, ..) => operation.writes(),
    };
    if next.address == 0 {
        return Some((0..usize::MAX, writes));
    }
    let mut bytes = next.address..next.address + (next.size as usize).max(1);
    if next.waits {
        // A thread that waits is woken by a store to the same place.
        const PLACE: usize = 1 << PLACE_BITS;
        bytes.start &= !(PLACE - 1);
        bytes.end = bytes.end.next_multiple_of(PLACE);
    }
    Some((bytes, writes))
}

/// Whether it matters which of two steps comes first.
pub(super) fn depend(one: &Next, other: &Next) -> bool {
    match (footprint(one), footprint(other)) {
        (Some((one, one_writes)), Some((other, other_writes))) => {
            (one_writes || other_writes) && one.start < other.end && other.start < one.end
        }
        _ => false,
    }
}
