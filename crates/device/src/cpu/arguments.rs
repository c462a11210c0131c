//! Arguments with their addresses, and the pages that pointer arguments point to.
//!
//! A table fills a page of its own: its entries, then trap entries to the page's end, then nothing
//! mapped. The page cannot be written. So a kernel that reads past the end of a base table gets
//! an address that faults and names itself.

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

use crate::DeviceError;
use crate::arguments::{PAGE, Pages, TRAP_ADDRESS, TRAP_NUMBER};

/// Where tables and other arguments in memory lie.
const ARGUMENT_PAGES: u64 = 0x0a40_0000_0000;
/// How far the traps reach.
const TRAP_BYTES: u64 = 1 << 32;

/// What is behind an access to `address`, if it has to do with arguments in memory.
pub fn trap(address: u64) -> Option<&'static str> {
    let in_pages = |address: u64| (ARGUMENT_PAGES..ARGUMENT_PAGES + TRAP_BYTES).contains(&address);
    let indexed = |entry: u64| in_pages(address.wrapping_sub(u64::from(TRAP_NUMBER) * entry));
    if (TRAP_ADDRESS..TRAP_ADDRESS + TRAP_BYTES).contains(&address) {
        Some("an entry behind the end of a table of addresses")
    } else if in_pages(address) {
        Some("a table of arguments, which cannot be written, or behind its end")
    } else if indexed(8) || indexed(4) {
        Some("the entry of a rank that was read behind the end of a table of ranks")
    } else {
        None
    }
}

/// Pages of pointer arguments, two a table: one with it, one that faults.
#[derive(Debug, Default)]
pub(crate) struct ArgumentPages {
    pages: Vec<usize>,
    used: usize,
}

impl ArgumentPages {
    /// Forgets all arguments; pages are kept.
    pub(crate) fn clear(&mut self) {
        self.used = 0;
    }

    /// Protects every page in use against writes.
    pub(crate) fn seal(&mut self) -> Result<(), DeviceError> {
        self.pages[..self.used].iter().try_for_each(|page| protect(*page, MprotectFlags::READ))
    }
}

impl Pages for ArgumentPages {
    fn place(&mut self, bytes: &[u8]) -> Result<u64, DeviceError> {
        if self.used == self.pages.len() {
            let flags = MapFlags::PRIVATE | MapFlags::FIXED_NOREPLACE;
            let protection = ProtFlags::READ | ProtFlags::WRITE;
            let place = ARGUMENT_PAGES + (self.pages.len() * 2 * PAGE) as u64;
            // SAFETY: two pages in a part of the address space that is kept for arguments; the
            // kernel refuses if something is mapped there.
            let page = unsafe { mmap_anonymous(place as *mut _, 2 * PAGE, protection, flags) }
                .map_err(|e| DeviceError::system("memory for arguments", &e))?
                as usize;
            self.pages.push(page);
            protect(page + PAGE, MprotectFlags::empty())?;
        }
        let page = self.pages[self.used];
        self.used += 1;
        protect(page, MprotectFlags::READ | MprotectFlags::WRITE)?;
        // SAFETY: the page is mapped by this value, writable now, and no launch is running.
        let memory = unsafe { std::slice::from_raw_parts_mut(page as *mut u8, PAGE) };
        memory[..bytes.len()].copy_from_slice(bytes);
        memory[bytes.len()..].fill(0);
        Ok(page as u64)
    }
}

impl Drop for ArgumentPages {
    fn drop(&mut self) {
        for page in &self.pages {
            // SAFETY: mapped by `page`; launches that used it have returned.
            let _ = unsafe { munmap(*page as *mut _, 2 * PAGE) };
        }
    }
}

fn protect(page: usize, flags: MprotectFlags) -> Result<(), DeviceError> {
    // SAFETY: one whole page of a mapping of this module.
    unsafe { mprotect(page as *mut _, PAGE, flags) }
        .map_err(|e| DeviceError::system("protecting arguments", &e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traps_say_which_table_was_overrun() {
        let table = ARGUMENT_PAGES + 0x2000;
        let addresses = trap(TRAP_ADDRESS + 3 * PAGE as u64 + 40);
        assert_eq!(addresses, Some("an entry behind the end of a table of addresses"));
        let ranks = trap(table + u64::from(TRAP_NUMBER) * 8);
        assert!(ranks.is_some_and(|text| text.ends_with("a table of ranks")));
        assert!(trap(table + 8).is_some_and(|text| text.contains("cannot be written")));
        assert_eq!(trap(0x7f5b_a000_1000), None);
        assert_eq!(trap(0), None);
    }
}
