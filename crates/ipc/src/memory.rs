//! Shared memory, as the parent and the rank processes map it.

use std::ffi::c_void;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::IpcError;

/// A file in memory, without a name in any folder, that nobody can shrink: a mapping of it cannot lose
/// the pages behind it, whatever a process does that has the descriptor.
fn memfd(name: &str, bytes: u64) -> Result<OwnedFd, IpcError> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let fd = memfd_create(name, flags).map_err(|e| IpcError::new("memfd_create", &e))?;
    ftruncate(&fd, bytes).map_err(|e| IpcError::new("sizing a heap", &e))?;
    // No seal can be added later either: one against growing or writing would stop us, too.
    fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::SEAL)
        .map_err(|e| IpcError::new("sealing a heap", &e))?;
    Ok(fd)
}

/// Memory shared with rank processes; the parent's view of a heap.
#[derive(Debug)]
pub struct SharedMemory {
    fd: OwnedFd,
    address: NonNull<c_void>,
    bytes: usize,
}

// SAFETY: the mapping belongs to the value alone and may be used from any thread.
unsafe impl Send for SharedMemory {}
// SAFETY: shared references to the value only read the memory, which any thread may do.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    /// New memory, all zero.
    ///
    /// # Errors
    /// The system has none.
    pub fn new(name: &str, bytes: u64) -> Result<SharedMemory, IpcError> {
        let fd = memfd(name, bytes.max(1))?;
        let (address, bytes) = map(fd.as_fd(), bytes.max(1))?;
        Ok(SharedMemory { fd, address, bytes })
    }

    /// Memory that another process made.
    ///
    /// # Errors
    /// The descriptor is no such memory.
    pub fn open(fd: OwnedFd, bytes: u64) -> Result<SharedMemory, IpcError> {
        let (address, bytes) = map(fd.as_fd(), bytes)?;
        Ok(SharedMemory { fd, address, bytes })
    }

    /// Makes room for at least `bytes`; contents stay.
    ///
    /// # Errors
    /// The system has no room.
    pub fn reserve(&mut self, bytes: u64) -> Result<(), IpcError> {
        if bytes as usize <= self.bytes {
            return Ok(());
        }
        ftruncate(&self.fd, bytes).map_err(|e| IpcError::new("growing a heap", &e))?;
        let (address, mapped) = map(self.fd.as_fd(), bytes)?;
        // SAFETY: mapped by this value, and no reference into it is alive under `&mut self`.
        unsafe { munmap(self.address.as_ptr(), self.bytes) }
            .map_err(|e| IpcError::new("unmapping a heap", &e))?;
        (self.address, self.bytes) = (address, mapped);
        Ok(())
    }

    /// Size in bytes.
    pub fn len(&self) -> u64 {
        self.bytes as u64
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The descriptor, to hand to a rank process.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// The bytes. To be called while no rank runs.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: mapped readable for `self.bytes`. Ranks write it only between a launch and its
        // reply, during which the parent does not look.
        unsafe { std::slice::from_raw_parts(self.address.as_ptr().cast(), self.bytes) }
    }

    /// The bytes, to fill. To be called while no rank runs.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: mapped by this value, readable and writable for `self.bytes`; the exclusive borrow keeps
        // other references of this process out, and ranks do not run now.
        unsafe { std::slice::from_raw_parts_mut(self.address.as_ptr().cast(), self.bytes) }
    }

    /// A structure of atomics at the start.
    ///
    /// # Safety
    /// All zero must be a valid `T` made of atomics only, not larger than the memory.
    pub unsafe fn at_start<T: Sync>(&self) -> &T {
        assert!(size_of::<T>() <= self.bytes);
        // SAFETY: mapped, aligned to a page, large enough; the caller vouches for the type.
        unsafe { self.address.cast::<T>().as_ref() }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: mapped by this value; references into it cannot outlive it.
        let _ = unsafe { munmap(self.address.as_ptr(), self.bytes) };
    }
}

fn map(fd: BorrowedFd<'_>, bytes: u64) -> Result<(NonNull<c_void>, usize), IpcError> {
    let bytes = bytes as usize;
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping at an address of the system's choice.
    let address = unsafe { mmap(std::ptr::null_mut(), bytes, protection, MapFlags::SHARED, fd, 0) }
        .map_err(|e| IpcError::new("mapping a heap", &e))?;
    Ok((NonNull::new(address).expect("a mapping is not at address zero"), bytes))
}
