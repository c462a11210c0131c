//! Arguments with their addresses, and the pages that pointer arguments point to.
//!
//! A table fills a page of its own: its entries, then trap entries to the page's end, then nothing
//! mapped. The page cannot be written. So a kernel that reads past the end of a base table gets
//! an address that faults and names itself.

use collectives::Rank;
use kernels::{Argument, TableEntry};
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use simt::Parameters;

use super::memory::system;
use crate::DeviceError;

/// Entries behind the end of a table of addresses point here; nothing is ever mapped there.
const TRAP_ADDRESS: u64 = 0x0bad_0000_0000;
/// Where tables and other arguments in memory lie.
const ARGUMENT_PAGES: u64 = 0x0a40_0000_0000;
/// How far the traps reach.
const TRAP_BYTES: u64 = 1 << 32;
/// Entries behind the end of a table of small numbers.
const TRAP_NUMBER: u32 = 0x7bad_0bad;
const PAGE: usize = 4096;

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

    /// The values of arguments, with addresses from `address`.
    pub(crate) fn bind(
        &mut self,
        arguments: &[Argument],
        address: &dyn Fn(Rank) -> Result<u64, DeviceError>,
    ) -> Result<Parameters, DeviceError> {
        let values = arguments
            .iter()
            .map(|argument| self.value(argument, address).map(|value| value.bytes))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Parameters::new(values.iter().map(Vec::as_slice)))
    }

    fn value(
        &mut self,
        argument: &Argument,
        address: &dyn Fn(Rank) -> Result<u64, DeviceError>,
    ) -> Result<Value, DeviceError> {
        Ok(match argument {
            Argument::Scalar(bytes) => Value { align: bytes.len(), bytes: bytes.clone() },
            Argument::Null => Value::pointer(0),
            Argument::Heap(rank, offset) => Value::pointer(address(*rank)? + offset),
            Argument::Table { entries, entry_bytes, by_value } => {
                let size = *entry_bytes as usize;
                let length = by_value.map_or(PAGE / size, |length| length as usize);
                if entries.len() > length {
                    return Err(system("a table of ranks", &"it does not fit a page"));
                }
                let mut bytes = Vec::with_capacity(length * size);
                for entry in entries {
                    let number = match entry {
                        TableEntry::Heap(rank, offset) => address(*rank)? + offset,
                        TableEntry::Number(number) => *number as u64,
                    };
                    bytes.extend_from_slice(&number.to_le_bytes()[..size]);
                }
                for past in entries.len()..length {
                    let trap = match size {
                        8 => TRAP_ADDRESS + past as u64 * PAGE as u64,
                        _ => TRAP_NUMBER.into(),
                    };
                    bytes.extend_from_slice(&trap.to_le_bytes()[..size]);
                }
                match by_value {
                    Some(_) => Value { align: size, bytes },
                    None => Value::pointer(self.page(&bytes)?),
                }
            }
            Argument::Struct { fields, by_value } => {
                let mut all = Value { bytes: Vec::new(), align: 1 };
                for field in fields {
                    let field = self.value(field, address)?;
                    all.align = all.align.max(field.align);
                    all.bytes.resize(all.bytes.len().next_multiple_of(field.align), 0);
                    all.bytes.extend(field.bytes);
                }
                all.bytes.resize(all.bytes.len().next_multiple_of(all.align), 0);
                if *by_value { all } else { Value::pointer(self.page(&all.bytes)?) }
            }
        })
    }

    /// Puts bytes at the start of a page of their own and returns its address.
    fn page(&mut self, bytes: &[u8]) -> Result<u64, DeviceError> {
        if bytes.len() > PAGE {
            return Err(system("an argument in device memory", &"it is larger than a page"));
        }
        if self.used == self.pages.len() {
            let flags = MapFlags::PRIVATE | MapFlags::FIXED_NOREPLACE;
            let protection = ProtFlags::READ | ProtFlags::WRITE;
            let place = ARGUMENT_PAGES + (self.pages.len() * 2 * PAGE) as u64;
            // SAFETY: two pages in a part of the address space that is kept for arguments; the
            // kernel refuses if something is mapped there.
            let page = unsafe { mmap_anonymous(place as *mut _, 2 * PAGE, protection, flags) }
                .map_err(|e| system("memory for arguments", &e))? as usize;
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
    unsafe { mprotect(page as *mut _, PAGE, flags) }.map_err(|e| system("protecting arguments", &e))
}

/// A value as C lays it out.
struct Value {
    bytes: Vec<u8>,
    align: usize,
}

impl Value {
    fn pointer(address: u64) -> Value {
        Value { bytes: address.to_le_bytes().to_vec(), align: 8 }
    }
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
