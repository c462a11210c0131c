//! What a kernel does that no GPU would let pass: accesses that are not aligned, indices that no
//! array has, writes beside block-shared memory.

use std::ffi::CStr;

use serde::{Deserialize, Serialize};

use crate::object::abi::{self, kind};
use crate::observe::access::ThreadId;

/// One of them, the first at its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// Who. Where only the damage was found, some thread of the block.
    pub thread: ThreadId,
    /// Offset of the instruction in the object, where it is known.
    pub site: Option<usize>,
    /// What.
    pub what: ViolationKind,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ViolationKind {
    /// An access whose address is no multiple of its size or of its type's alignment.
    Misaligned {
        /// The address.
        address: u64,
        /// What it should be a multiple of.
        bytes: u32,
        /// Whether it stores.
        stores: bool,
    },
    /// An index that its array does not have.
    Index {
        /// The index.
        index: u64,
        /// The array's type: `unsigned int [16]`.
        array: String,
    },
    /// An access beside the block's shared memory.
    OutsideShared {
        /// Which side of which part.
        side: Side,
        /// Bytes from there.
        distance: u64,
        /// Bytes that were touched, at least.
        bytes: u64,
        /// Whether they were written.
        stores: bool,
    },
}

/// Where beside a block's shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Side {
    /// In front of its first byte.
    Front,
    /// Behind static memory of this many bytes.
    Static(u64),
    /// Behind dynamic memory of this many bytes.
    Dynamic(u64),
}

impl Violation {
    /// What a kernel reports; `None` if it is something else.
    pub(crate) fn reported(
        thread: ThreadId,
        site: usize,
        event: u32,
        address: usize,
    ) -> Option<Violation> {
        let what = match event & 0x7f {
            kind::MISALIGNED => {
                // SAFETY: the kernel's handler passes a violation that lives during the call.
                let violation = unsafe { &*(address as *const abi::Violation) };
                ViolationKind::Misaligned {
                    address: violation.value,
                    bytes: violation.bytes,
                    stores: violation.stores != 0,
                }
            }
            kind::INDEX => {
                // SAFETY: as above, and its name is a string of the object.
                let (index, array) = unsafe {
                    let violation = &*(address as *const abi::Violation);
                    (violation.value, CStr::from_ptr(violation.name))
                };
                let array = array.to_string_lossy().trim_matches('\'').to_owned();
                ViolationKind::Index { index, array }
            }
            // Atomics, volatile accesses and packets need the alignment of their size.
            kind::ATOMIC_LOAD
            | kind::ATOMIC_STORE
            | kind::ATOMIC_RMW
            | kind::COMPARE_AND_SWAP
            | kind::VOLATILE_READ
            | kind::VOLATILE_WRITE
            | kind::PACKET_STORE
            | kind::PACKET_LOAD => {
                let bytes = event >> 24;
                let is_aligned = !bytes.is_power_of_two() || address.is_multiple_of(bytes as usize);
                let address = address as u64;
                let loads = [kind::ATOMIC_LOAD, kind::VOLATILE_READ, kind::PACKET_LOAD];
                let stores = !loads.contains(&(event & 0x7f));
                (!is_aligned).then_some(ViolationKind::Misaligned { address, bytes, stores })?
            }
            _ => return None,
        };
        Some(Violation { thread, site: Some(site), what })
    }

    /// Whether it is the same one again.
    pub(crate) fn is_like(&self, other: &Violation) -> bool {
        let kind = std::mem::discriminant::<ViolationKind>;
        self.thread.rank == other.thread.rank
            && self.site == other.site
            && kind(&self.what) == kind(&other.what)
    }
}
