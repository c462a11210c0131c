//! What a kernel does that no GPU would let pass: accesses that are not aligned, indices that no
//! array has, writes beside block-shared memory.

use std::ffi::CStr;

use serde::{Deserialize, Serialize};

use crate::object::abi::{self, kind};
use crate::observe::access::ThreadId;

/// Something that no GPU would let pass, the first of its kind at its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// The thread. Where only the damage was found, thread 0 of the block.
    pub thread: ThreadId,
    /// The offset of the instruction in the object; absent where only the damage was found.
    pub site: Option<usize>,
    /// What was done.
    pub what: ViolationKind,
}

/// The kinds of violations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ViolationKind {
    /// An access whose address is no multiple of its size or of its type's alignment.
    Misaligned {
        /// The address that was accessed.
        address: u64,
        /// The alignment in bytes of which the address should be a multiple.
        bytes: u32,
        /// Whether the access writes.
        stores: bool,
    },
    /// An index that its array does not have.
    Index {
        /// The index that was used.
        index: u64,
        /// The array's type as the compiler spells it, such as `unsigned int [16]`.
        array: String,
    },
    /// An access beside the block's shared memory.
    OutsideShared {
        /// On which side of which part it is.
        side: Side,
        /// The distance from there in bytes.
        distance: u64,
        /// The number of bytes that were touched, at least.
        bytes: u64,
        /// Whether they were written.
        stores: bool,
    },
}

/// The places beside a block's shared memory.
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
                // SAFETY: the kernel's handler passes a violation that lives during the call, and its
                // name is a string of the object.
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
