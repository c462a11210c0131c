//! A block's shared memory: static, then dynamic, with guards around both.
//!
//! ```text
//! | guard | static | guard | dynamic | guard |
//! ```

use super::violation::{Side, ViolationKind};

/// Uninitialised block-shared memory.
const POISON: u8 = 0xcd;
/// What guards hold.
const GUARD: u8 = 0xb7;
/// Bytes of a guard, at least.
pub(crate) const GUARD_BYTES: usize = 1024;
/// Both parts begin at multiples of this.
const ALIGN: usize = 256;

/// The buffer of one resident block.
#[derive(Debug)]
pub(crate) struct BlockBuffer {
    bytes: Vec<u8>,
    /// Where static memory begins in `bytes`.
    first: usize,
    static_bytes: usize,
    dynamic: usize,
    dynamic_bytes: usize,
    /// By warp of at least 32: lanes whose threads have returned. Beside shared memory, where no
    /// overrun reaches it.
    departed: Box<[u64; 1024 / 32]>,
}

impl BlockBuffer {
    pub(crate) fn new(static_bytes: usize, dynamic_bytes: usize) -> BlockBuffer {
        // From static to dynamic memory.
        let distance = (static_bytes + GUARD_BYTES).next_multiple_of(ALIGN);
        let mut bytes = vec![GUARD; GUARD_BYTES + ALIGN + distance + dynamic_bytes + GUARD_BYTES];
        let first = GUARD_BYTES + bytes[GUARD_BYTES..].as_ptr().align_offset(ALIGN);
        let dynamic = first + distance;
        bytes[first..first + static_bytes].fill(POISON);
        bytes[dynamic..dynamic + dynamic_bytes].fill(POISON);
        let departed = Box::default();
        BlockBuffer { bytes, first, static_bytes, dynamic, dynamic_bytes, departed }
    }

    /// Where static memory begins.
    pub(crate) fn block_shared(&mut self) -> *mut u8 {
        self.bytes.as_mut_ptr().wrapping_add(self.first)
    }

    /// Where dynamic memory begins.
    pub(crate) fn dynamic_shared(&mut self) -> *mut u8 {
        self.bytes.as_mut_ptr().wrapping_add(self.dynamic)
    }

    /// Where the lanes are noted that have returned.
    pub(crate) fn departed(&mut self) -> *mut u64 {
        self.departed.as_mut_ptr()
    }

    pub(crate) fn static_bytes(&self) -> usize {
        self.static_bytes
    }

    pub(crate) fn dynamic_bytes(&self) -> usize {
        self.dynamic_bytes
    }

    /// From the first byte of static memory to the end of dynamic memory.
    pub(crate) fn span(&self) -> usize {
        self.dynamic + self.dynamic_bytes - self.first
    }

    /// What was written beside the parts; the first of it.
    pub(crate) fn overrun(&self) -> Option<ViolationKind> {
        // SAFETY: kernel threads write these bytes through raw pointers, but none runs now, so
        // reading them volatile sees what they left.
        let byte = |at: usize| unsafe { self.bytes.as_ptr().add(at).read_volatile() };
        let changed = |range: std::ops::Range<usize>| {
            let mut wrong = range.filter(|at| byte(*at) != GUARD);
            let first = wrong.next()?;
            Some((first, wrong.count() as u64 + 1))
        };
        let static_end = self.first + self.static_bytes;
        let dynamic_end = self.dynamic + self.dynamic_bytes;
        let found = |side, (distance, bytes)| ViolationKind::OutsideShared {
            side,
            distance,
            bytes,
            stores: true,
        };
        let behind = |end: usize, (at, bytes): (usize, u64)| ((at - end) as u64, bytes);
        let (static_side, dynamic_side) =
            (Side::Static(self.static_bytes as u64), Side::Dynamic(self.dynamic_bytes as u64));
        None.or_else(|| {
            changed(static_end..self.dynamic).map(|f| found(static_side, behind(static_end, f)))
        })
        .or_else(|| {
            changed(dynamic_end..self.bytes.len())
                .map(|f| found(dynamic_side, behind(dynamic_end, f)))
        })
        .or_else(|| {
            let front = changed(0..self.first);
            front.map(|(at, bytes)| found(Side::Front, ((self.first - at) as u64, bytes)))
        })
    }

    /// Which side an address is on that is in none of the parts.
    pub(crate) fn side(&self, address: usize, bytes: u64, stores: bool) -> ViolationKind {
        let at = address.wrapping_sub(self.bytes.as_ptr() as usize);
        let (static_end, dynamic_end) =
            (self.first + self.static_bytes, self.dynamic + self.dynamic_bytes);
        let (side, distance) = if at < self.first {
            (Side::Front, self.first - at)
        } else if at < self.dynamic {
            (Side::Static(self.static_bytes as u64), at.saturating_sub(static_end))
        } else {
            (Side::Dynamic(self.dynamic_bytes as u64), at.saturating_sub(dynamic_end))
        };
        ViolationKind::OutsideShared { side, distance: distance as u64, bytes, stores }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_beside_the_parts_are_found_and_no_others() {
        let mut buffer = BlockBuffer::new(40, 100);
        assert_eq!(buffer.block_shared() as usize % ALIGN, 0);
        assert_eq!(buffer.dynamic_shared() as usize % ALIGN, 0);
        let (first, dynamic) = (buffer.first, buffer.dynamic);
        buffer.bytes[first..first + 40].fill(1);
        buffer.bytes[dynamic..dynamic + 100].fill(1);
        assert_eq!(buffer.overrun(), None);
        for (at, side, distance) in [
            (first + 40, Side::Static(40), 0),
            (dynamic - 1, Side::Static(40), (dynamic - first - 41) as u64),
            (dynamic + 102, Side::Dynamic(100), 2),
            (first - 4, Side::Front, 4),
        ] {
            buffer.bytes[at] = 1;
            let found = ViolationKind::OutsideShared { side, distance, bytes: 1, stores: true };
            assert_eq!(buffer.overrun(), Some(found.clone()));
            let address = buffer.bytes.as_ptr() as usize + at;
            assert_eq!(buffer.side(address, 1, true), found);
            buffer.bytes[at] = GUARD;
        }
    }
}
