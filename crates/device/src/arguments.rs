//! Resolved arguments as the bytes that a kernel receives, on any device.
//!
//! A table fills a page of its own: its entries, then trap entries to the page's end. What reads
//! past the end of a table of addresses gets one that faults and names itself.

use collectives::Rank;
use kernels::{Argument, TableEntry};

use crate::DeviceError;

/// Entries behind the end of a table of addresses point here; nothing is ever mapped there.
pub(crate) const TRAP_ADDRESS: u64 = 0x0bad_0000_0000;
/// Entries behind the end of a table of small numbers.
pub(crate) const TRAP_NUMBER: u32 = 0x7bad_0bad;
/// Bytes of a page of arguments.
pub(crate) const PAGE: usize = 4096;

/// Memory for what pointer arguments point to.
pub(crate) trait Pages {
    /// Puts at most [`PAGE`] bytes at the start of a page of their own and returns its address.
    fn place(&mut self, bytes: &[u8]) -> Result<u64, DeviceError>;
}

/// The bytes of each argument, with the addresses of heaps from `address`.
pub(crate) fn bind(
    arguments: &[Argument],
    address: &dyn Fn(Rank) -> Result<u64, DeviceError>,
    pages: &mut dyn Pages,
) -> Result<Vec<Vec<u8>>, DeviceError> {
    arguments.iter().map(|argument| Ok(value(argument, address, pages)?.bytes)).collect()
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

fn value(
    argument: &Argument,
    address: &dyn Fn(Rank) -> Result<u64, DeviceError>,
    pages: &mut dyn Pages,
) -> Result<Value, DeviceError> {
    Ok(match argument {
        Argument::Scalar(bytes) => Value { align: bytes.len(), bytes: bytes.clone() },
        Argument::Null => Value::pointer(0),
        Argument::Heap(rank, offset) => Value::pointer(address(*rank)? + offset),
        Argument::Table { entries, entry_bytes, by_value } => {
            let size = *entry_bytes as usize;
            let length = by_value.map_or(PAGE / size, |length| length as usize);
            if entries.len() > length {
                return Err(too_large("a table of ranks"));
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
                None => Value::pointer(pages.place(&bytes)?),
            }
        }
        Argument::Struct { fields, by_value } => {
            let mut all = Value { bytes: Vec::new(), align: 1 };
            for field in fields {
                let field = value(field, address, pages)?;
                all.align = all.align.max(field.align);
                all.bytes.resize(all.bytes.len().next_multiple_of(field.align), 0);
                all.bytes.extend(field.bytes);
            }
            all.bytes.resize(all.bytes.len().next_multiple_of(all.align), 0);
            if *by_value {
                return Ok(all);
            }
            if all.bytes.len() > PAGE {
                return Err(too_large("an argument in device memory"));
            }
            Value::pointer(pages.place(&all.bytes)?)
        }
    })
}

fn too_large(what: &str) -> DeviceError {
    DeviceError::System { what: what.into(), reason: "it does not fit a page".into() }
}
