//! Where heaps lie: fixed addresses, far apart, at unequal distances, in no order of rank.
//!
//! Every process sees its own layout, as processes with inter-process handles do, so that a
//! pointer that travels between ranks does not work by luck. Distances are beyond 4 GiB and go
//! both ways; whatever is not a heap faults.

use std::ops::Range;
use std::os::fd::BorrowedFd;

use collectives::Rank;
use collectives::rank::MAX_WORLD;
use rustix::io::{pread, pwrite};
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap, mprotect, munmap};

use crate::DeviceError;

const FIRST: u64 = 0x1000_0000_0000;
/// At least this far from one heap to the next; no heap may be larger.
pub const HEAP_SPACING: u64 = 96 << 30;
/// Ranks that lie among each other, one a slot; so do those of the next block, behind them.
const BLOCK: u64 = 16;
const BLOCKS: u64 = MAX_WORLD as u64 / BLOCK;
const SLOTS: u64 = BLOCK * BLOCKS;
/// Where heaps lie in any process; nothing else does.
pub(crate) const ADDRESSES: Range<usize> =
    FIRST as usize..(FIRST + (SLOTS + 1) * HEAP_SPACING) as usize;

/// Where a process that hosts `viewer` maps `rank`'s heap.
pub fn heap_address(rank: Rank, viewer: Rank) -> u64 {
    let (rank, viewer) = (u64::from(rank.0), u64::from(viewer.0));
    // 5 and 16 have no common factor: every rank has a slot of its own in its block, and neighbours
    // are not in order. The square makes distances unequal.
    let block = (rank / BLOCK) ^ (viewer / BLOCK);
    let slot = block * BLOCK + (rank * 5 + 3 + viewer * 7) % BLOCK;
    FIRST + slot * HEAP_SPACING + slot * slot * 0x3000
}

/// Which heap an address of that process lies in or shortly behind, and how far from its start.
pub fn heap_at(address: u64, viewer: Rank) -> Option<(Rank, u64)> {
    (0..SLOTS as u32).map(Rank).find_map(|rank| {
        let distance = address.checked_sub(heap_address(rank, viewer))?;
        (distance < HEAP_SPACING / 2).then_some((rank, distance))
    })
}

/// A heap at its place in a rank process.
#[derive(Debug)]
pub(crate) struct MappedHeap {
    /// The memory file, open as long as the process lives.
    fd: BorrowedFd<'static>,
    address: u64,
    /// Bytes that are mapped.
    capacity: u64,
    /// Bytes that are accessible, gaps aside.
    bytes: u64,
    gaps: Vec<Range<u64>>,
}

impl MappedHeap {
    pub(crate) fn new(
        fd: BorrowedFd<'static>,
        address: u64,
        bytes: u64,
    ) -> Result<MappedHeap, DeviceError> {
        let capacity = rustix::fs::fstat(fd)
            .map_err(|e| DeviceError::system("a heap's size", &e))?
            .st_size as u64;
        if bytes > capacity || capacity > HEAP_SPACING / 2 {
            return Err(DeviceError::system(
                "mapping a heap",
                &format!("{bytes} of {capacity} bytes"),
            ));
        }
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::SHARED | MapFlags::FIXED_NOREPLACE;
        // SAFETY: the address lies in a part of the address space that this process keeps for
        // heaps, and the kernel refuses if something is mapped there.
        unsafe { mmap(address as *mut _, capacity as usize, protection, flags, fd, 0) }
            .map_err(|e| DeviceError::system("mapping a heap at its address", &e))?;
        let mut heap = MappedHeap { fd, address, capacity, bytes: capacity, gaps: Vec::new() };
        heap.resize(bytes)?;
        Ok(heap)
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// The bytes that are accessible.
    pub(crate) fn range(&self) -> std::ops::Range<usize> {
        self.address as usize..(self.address + self.bytes) as usize
    }

    /// The bytes that are accessible, without gaps.
    pub(crate) fn backed(&self) -> Vec<Range<usize>> {
        let Range { mut start, end } = self.range();
        let mut backed = Vec::new();
        for gap in &self.gaps {
            let [first, last] = [gap.start, gap.end].map(|at| (self.address + at) as usize);
            backed.push(start..first.min(end));
            start = last.min(end);
        }
        backed.push(start..end);
        backed
    }

    /// Makes the first `bytes` accessible and everything behind them fault. Answers false where
    /// the mapping is too small.
    pub(crate) fn resize(&mut self, bytes: u64) -> Result<bool, DeviceError> {
        if bytes > self.capacity {
            return Ok(false);
        }
        if bytes != self.bytes {
            self.protect(0..bytes, MprotectFlags::READ | MprotectFlags::WRITE)?;
            self.protect(bytes..self.capacity, MprotectFlags::empty())?;
            self.bytes = bytes;
        }
        Ok(true)
    }

    /// Makes some parts of it fault, and those of before no longer.
    pub(crate) fn unback(&mut self, gaps: &[Range<u64>]) -> Result<(), DeviceError> {
        for gap in std::mem::take(&mut self.gaps) {
            let end = gap.end.min(self.bytes);
            self.protect(gap.start.min(end)..end, MprotectFlags::READ | MprotectFlags::WRITE)?;
        }
        for gap in gaps {
            self.protect(gap.clone(), MprotectFlags::empty())?;
        }
        self.gaps = gaps.to_vec();
        Ok(())
    }

    /// Copies all accessible bytes to `at` in the memory file.
    pub(super) fn keep(&self, at: u64) -> Result<(), DeviceError> {
        for part in self.backed() {
            let offset = at + (part.start as u64 - self.address);
            // SAFETY: accessible bytes of this heap's own mapping, of which the system makes a copy; any
            // bytes are valid.
            let bytes = unsafe { std::slice::from_raw_parts(part.start as *const u8, part.len()) };
            whole(bytes.len(), |done| pwrite(self.fd, &bytes[done..], offset + done as u64))?;
        }
        Ok(())
    }

    /// Copies what stands behind `at` in the memory file to the same part of the heap.
    pub(super) fn restore(&self, part: &Range<u64>, at: u64) -> Result<(), DeviceError> {
        let (start, length) = (self.address + part.start, (part.end - part.start) as usize);
        // SAFETY: accessible bytes of this heap's own mapping, which the system fills; the launches of this
        // process stand still.
        let bytes = unsafe { std::slice::from_raw_parts_mut(start as *mut u8, length) };
        whole(length, |done| pread(self.fd, &mut bytes[done..], at + part.start + done as u64))
    }

    /// The first byte of a part that differs from what stands behind `at` in the memory file: its offset, what
    /// stands there, and what stands in the heap.
    pub(super) fn first_difference(
        &self,
        part: &Range<u64>,
        at: u64,
    ) -> Result<Option<(u64, u8, u8)>, DeviceError> {
        const CHUNK: usize = 1 << 16;
        let mut kept = vec![0; CHUNK];
        for start in part.clone().step_by(CHUNK) {
            let length = (part.end - start).min(CHUNK as u64) as usize;
            whole(length, |done| {
                pread(self.fd, &mut kept[done..length], at + start + done as u64)
            })?;
            // SAFETY: accessible bytes of this heap's own mapping; the launches of this process stand still,
            // and any bytes are valid.
            let now =
                unsafe { std::slice::from_raw_parts((self.address + start) as *const u8, length) };
            if let Some(index) = now.iter().zip(&kept).position(|(now, kept)| now != kept) {
                return Ok(Some((start + index as u64, kept[index], now[index])));
            }
        }
        Ok(None)
    }

    fn protect(&self, range: Range<u64>, flags: MprotectFlags) -> Result<(), DeviceError> {
        if range.is_empty() {
            return Ok(());
        }
        let start = (self.address + range.start) as *mut _;
        // SAFETY: a part of this heap's own mapping; heaps are a multiple of the page size.
        unsafe { mprotect(start, (range.end - range.start) as usize, flags) }
            .map_err(|e| DeviceError::system("protecting a heap's end", &e))
    }
}

/// Moves `length` bytes by a system call that moves some of them behind those that are done.
fn whole(
    length: usize,
    mut step: impl FnMut(usize) -> rustix::io::Result<usize>,
) -> Result<(), DeviceError> {
    let mut done = 0;
    while done < length {
        match step(done) {
            Ok(0) => return Err(DeviceError::system("a heap's memory file", &"it is too short")),
            Ok(moved) => done += moved,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(DeviceError::system("a heap's memory file", &error)),
        }
    }
    Ok(())
}

impl Drop for MappedHeap {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`; launches that used it have returned.
        let _ = unsafe { munmap(self.address as *mut _, self.capacity as usize) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_view_gives_every_rank_a_place_of_its_own_beyond_32_bits() {
        for viewer in (0..MAX_WORLD).map(Rank) {
            let addresses: Vec<u64> =
                (0..MAX_WORLD).map(|r| heap_address(Rank(r), viewer)).collect();
            for (i, a) in addresses.iter().enumerate() {
                for b in &addresses[i + 1..] {
                    assert!(a.abs_diff(*b) > 1 << 32, "viewer {viewer}");
                }
                assert_eq!(heap_at(*a + 5, viewer), Some((Rank(i as u32), 5)));
            }
            let ascending = addresses.windows(2).filter(|pair| pair[0] < pair[1]).count();
            assert!((16..48).contains(&ascending), "both directions occur");
            for address in addresses {
                assert!(ADDRESSES.contains(&(address as usize + (HEAP_SPACING / 2) as usize)));
            }
        }
        assert_ne!(heap_address(Rank(0), Rank(0)), heap_address(Rank(0), Rank(1)));
        assert_ne!(heap_address(Rank(0), Rank(0)), heap_address(Rank(0), Rank(16)));
    }

    /// Recorded addresses and schedules of small worlds stay comparable.
    #[test]
    fn heaps_of_small_worlds_stay_where_they_have_always_been() {
        let seen = [(0, 0), (1, 0), (15, 0), (0, 1), (7, 9)]
            .map(|(rank, viewer)| heap_address(Rank(rank), Rank(viewer)));
        let expected = [
            0x1048_0001_b000,
            0x10c0_000c_0000,
            0x1150_0024_c000,
            0x10f0_0012_c000,
            0x1078_0004_b000,
        ];
        assert_eq!(seen, expected);
    }
}
