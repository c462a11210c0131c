//! One rank's heap, as this process has it.

use std::os::fd::OwnedFd;

use ipc::{HeapHandle, SharedMemory};

/// Memory of the judge's, and perhaps memory of the program's own.
#[derive(Debug)]
pub(crate) struct Heap {
    /// What the judge looks at.
    image: SharedMemory,
    own: Option<OwnMemory>,
    /// Where the rank finds every rank's heap, where it has said so.
    peers: Vec<u64>,
}

/// Memory that the program gave us.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnMemory {
    address: *mut u8,
    bytes: u64,
}

// SAFETY: the pointer is used in `Heap` alone, under the lock of the session that holds it; the
// program promises that the memory lives as long (rankcheck_heap in the header).
unsafe impl Send for OwnMemory {}

impl OwnMemory {
    /// Memory of the program's own.
    ///
    /// # Safety
    /// `address` must be valid for reads and writes of `bytes` bytes until the case is over.
    pub(crate) unsafe fn new(address: *mut u8, bytes: u64) -> OwnMemory {
        OwnMemory { address, bytes }
    }
}

impl Heap {
    /// A heap whose image lies in the judge's memory `image`; without `own` it is that memory.
    pub(crate) fn new(
        image: OwnedFd,
        bytes: u64,
        own: Option<OwnMemory>,
        peers: Vec<u64>,
    ) -> Result<Heap, String> {
        let image = SharedMemory::open(image, bytes).map_err(|error| error.to_string())?;
        Ok(Heap { image, own, peers })
    }

    /// Its first byte.
    pub(crate) fn address(&mut self) -> *mut u8 {
        match self.own {
            Some(own) => own.address,
            None => self.image.bytes_mut().as_mut_ptr(),
        }
    }

    /// How it is described to the judge.
    pub(crate) fn handle(&mut self) -> HeapHandle {
        match self.own {
            Some(own) => HeapHandle::Host { address: own.address as u64 },
            None => HeapHandle::Memfd(0),
        }
    }

    /// Its size in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.own.map_or(self.image.len(), |own| own.bytes)
    }

    /// See [`Heap::new`].
    pub(crate) fn peers(&self) -> &[u64] {
        &self.peers
    }

    /// The part that the case uses, to fill.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        let length = self.image.len() as usize;
        match self.own {
            // SAFETY: valid for `own.bytes` bytes by the contract of `OwnMemory::new`, and at least
            // `length` by the check in `Case::set_heap`; no kernel of the program runs while it
            // calls us, and nothing else here refers to it under `&mut self`.
            Some(own) => unsafe { std::slice::from_raw_parts_mut(own.address, length) },
            None => self.image.bytes_mut(),
        }
    }

    /// Lets the judge see what is in the heap: the one copy, where it is the program's own memory.
    pub(crate) fn hand_over(&mut self) {
        if let Some(own) = self.own {
            let length = self.image.len() as usize;
            // SAFETY: the program promises (rankcheck_heap in the header) that `own.address` is valid for
            // `own.bytes` bytes until the case is over; `Case::set_heap` checked that these are at least
            // `length`, and no kernel of the program runs while it calls us.
            let bytes = unsafe { std::slice::from_raw_parts(own.address, length) };
            self.image.bytes_mut().copy_from_slice(bytes);
        }
    }
}
