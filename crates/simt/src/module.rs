//! A loaded object. Each rank loads a copy of its own, so that device globals are not shared.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::io::Write as _;
use std::os::fd::{AsRawFd as _, OwnedFd};

use object::read::elf::{ElfFile64, ProgramHeader as _};
use object::{Object as _, ObjectSymbol as _, SymbolKind};

use crate::abi;
use crate::outcome::LaunchRecord;
use crate::parameters::Parameters;

/// An object that cannot be loaded or does not fit its manifest.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ModuleError {
    /// The dynamic loader's reason.
    #[error("the object does not load: {0}")]
    Load(String),
    /// Built with other headers.
    #[error("the object was built with rankcheck headers of version {0}, this is version {1}")]
    Version(u32, u32),
    /// The manifest's `args` do not fit the function.
    #[error(
        "{entry}: {reason} (the manifest's `args` must be the function's parameters, in order)"
    )]
    Parameters {
        /// The function.
        entry: String,
        /// What does not fit.
        reason: String,
    },
    /// More static block-shared memory than any GPU has.
    #[error(
        "a kernel needs {0} bytes of static block-shared memory, more than any GPU has ({STATIC_SHARED}; dynamic memory goes further: launch.shared_bytes)"
    )]
    SharedMemory(usize),
    /// No such entry.
    #[error("the object has no entry {0}")]
    NoEntry(usize),
}

/// The most static block-shared memory of any GPU: what the largest have without asking for more.
const STATIC_SHARED: usize = 64 << 10;

/// What names of the shims' own variables begin with.
const SHIMS: &str = "rc_";

/// A loaded object.
#[derive(Debug)]
pub struct Module {
    /// Keeps the object mapped. Dropped before `_file`.
    _library: libloading::Library,
    /// The loader tells copies apart by their path, which is this descriptor's number: it must
    /// stay taken for as long as the copy is loaded.
    _file: OwnedFd,
    table: *const abi::ModuleTable,
    /// Where it is mapped.
    image: std::ops::Range<usize>,
    /// Bytes of its static block-shared memory.
    shared_bytes: usize,
}

impl Module {
    /// Loads a copy of an object.
    ///
    /// # Errors
    /// It is no shared object, lacks the table of entries, or has another version of it.
    pub fn load(object: &[u8]) -> Result<Module, ModuleError> {
        let failed = |error: &dyn std::fmt::Display| ModuleError::Load(error.to_string());
        // A file of its own, because the loader gives the same copy for the same file.
        let memory = rustix::fs::memfd_create("kernel", rustix::fs::MemfdFlags::CLOEXEC)
            .map_err(|error| failed(&error))?;
        std::fs::File::from(memory.try_clone().map_err(|error| failed(&error))?)
            .write_all(object)
            .map_err(|error| failed(&error))?;
        let path = format!("/proc/self/fd/{}", memory.as_raw_fd());
        // SAFETY: the object was built by `kernels::build` from the user's source; loading it runs
        // its initialisers. Rank processes exist to run such code.
        let library = unsafe { libloading::Library::new(path) }
            .map_err(|error| ModuleError::Load(reason(&error)))?;
        // SAFETY: the symbol is defined by the build with this type.
        let table: *const abi::ModuleTable =
            unsafe { library.get::<*const abi::ModuleTable>(abi::SYMBOL) }
                .map(|symbol| *symbol)
                .map_err(|error| ModuleError::Load(reason(&error)))?;
        // SAFETY: the table is a constant of the object, mapped as long as `library` lives.
        let version = unsafe { (*table).version };
        if version != abi::VERSION {
            return Err(ModuleError::Version(version, abi::VERSION));
        }
        let segments = Segments::of(object).map_err(|error| failed(&error))?;
        if segments.largest_kernel > STATIC_SHARED {
            return Err(ModuleError::SharedMemory(segments.largest_kernel));
        }
        let base = base_of(table as usize);
        Ok(Module {
            table,
            image: base..base + segments.image_bytes,
            shared_bytes: segments.block_shared_bytes,
            _library: library,
            _file: memory,
        })
    }

    fn table(&self) -> &abi::ModuleTable {
        // SAFETY: a constant of the object, mapped as long as `self` lives.
        unsafe { &*self.table }
    }

    pub(crate) fn entry(&self, index: usize) -> Result<&abi::Entry, ModuleError> {
        if index >= self.table().entry_count as usize {
            return Err(ModuleError::NoEntry(index));
        }
        // SAFETY: the table has `entry_count` entries.
        Ok(unsafe { &*self.table().entries.add(index) })
    }

    /// Sees that values fit an entry's parameters, by number and size.
    ///
    /// # Errors
    /// The first difference.
    pub fn accepts(&self, index: usize, values: &Parameters) -> Result<(), ModuleError> {
        let entry = self.entry(index)?;
        // SAFETY: the build stores a string literal, and `parameter_count` parameters.
        let (name, parameters) = unsafe {
            (
                CStr::from_ptr(entry.name).to_string_lossy().into_owned(),
                std::slice::from_raw_parts(entry.parameters, entry.parameter_count as usize),
            )
        };
        let sizes: Vec<usize> = values.sizes().collect();
        let reason = if sizes.len() != parameters.len() {
            format!("takes {} parameters, the manifest gives {}", parameters.len(), sizes.len())
        } else {
            let wrong = sizes.iter().zip(parameters).position(|(s, p)| *s != p.size as usize);
            match wrong {
                None => return Ok(()),
                Some(at) => format!(
                    "parameter {at} has {} bytes, the manifest gives {}",
                    parameters[at].size, sizes[at]
                ),
            }
        };
        Err(ModuleError::Parameters { entry: name, reason })
    }

    /// Sets the thread that runs next.
    pub(crate) fn set_now(&self, thread: *mut abi::Thread) {
        // SAFETY: a global of the object; this executor is its only user, on one OS thread.
        unsafe { *self.table().now = thread };
    }

    /// Whether its accesses report themselves.
    pub(crate) fn is_observed(&self) -> bool {
        self.table().observed != 0
    }

    /// Clears the launch record.
    pub(crate) fn clear_record(&self) {
        // SAFETY: as in `set_now`.
        unsafe { *self.table().record = abi::Record::default() };
    }

    pub(crate) fn record(&self) -> Option<LaunchRecord> {
        // SAFETY: as in `set_now`.
        let record = unsafe { *self.table().record };
        (record.written != 0).then_some(LaunchRecord {
            tile_m: record.tile_m,
            tile_n: record.tile_n,
            group_size: record.group_size,
            blocks: record.blocks,
            threads: record.threads,
        })
    }

    /// Offset of an address in the object, to look its line up.
    pub fn offset(&self, address: usize) -> usize {
        address.wrapping_sub(self.image.start)
    }

    /// The addresses at which the object is mapped.
    pub(crate) fn image(&self) -> std::ops::Range<usize> {
        self.image.clone()
    }

    /// Bytes of static block-shared memory.
    pub(crate) fn shared_bytes(&self) -> usize {
        self.shared_bytes
    }
}

/// The loader's reason stands in the source of the error.
fn reason(error: &libloading::Error) -> String {
    use std::error::Error as _;
    error.source().map_or_else(|| error.to_string(), |source| source.to_string())
}

fn base_of(address: usize) -> usize {
    // SAFETY: all zero is a valid value of this plain structure.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: asks the loader which object holds an address; `info` is ours.
    let found = unsafe { libc::dladdr(address as *const _, &mut info) };
    if found == 0 { 0 } else { info.dli_fbase as usize }
}

/// What the object's program headers say.
struct Segments {
    /// From the lowest to the highest mapped address.
    image_bytes: usize,
    /// The thread-local segment, which is where `__shared__` variables live.
    block_shared_bytes: usize,
    /// The most of it that one function needs, with what stands outside of functions.
    largest_kernel: usize,
}

impl Segments {
    fn of(object: &[u8]) -> object::Result<Segments> {
        let file = ElfFile64::<object::Endianness>::parse(object)?;
        let endian = file.endian();
        let of_type = |kind| {
            file.elf_program_headers().iter().filter(move |header| header.p_type(endian) == kind)
        };
        let end = |header: &object::elf::ProgramHeader64<object::Endianness>| {
            (header.p_vaddr(endian) + header.p_memsz(endian)) as usize
        };
        let mut by_function: BTreeMap<String, u64> = BTreeMap::new();
        for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Tls) {
            let name = symbol.name().unwrap_or_default();
            // The shims keep what waves exchange there, which no GPU needs memory for.
            if name.contains(SHIMS) {
                continue;
            }
            let function = function_of(name);
            *by_function.entry(function.to_owned()).or_default() += symbol.size();
        }
        let outside = by_function.remove("").unwrap_or(0);
        let largest = by_function.into_values().max().unwrap_or(0);
        Ok(Segments {
            largest_kernel: (outside + largest) as usize,
            image_bytes: of_type(object::elf::PT_LOAD).map(end).max().unwrap_or(0),
            block_shared_bytes: of_type(object::elf::PT_TLS)
                .map(|header| header.p_memsz(endian) as usize)
                .sum(),
        })
    }
}

/// The function of a static variable, as both compilers mangle it (`_ZZ4pushE5drawn`: `drawn` of
/// `push`); empty for one outside of functions.
fn function_of(symbol: &str) -> &str {
    let inside = symbol.strip_prefix("_ZZ").and_then(|rest| rest.rsplit_once('E'));
    inside.map_or("", |(function, _)| function)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_functions_are_told_from_others() {
        assert_eq!(function_of("_ZZ4pushE5drawn"), "4push");
        assert_eq!(function_of("_ZZ5twistItLi64EET_S0_iE5first"), "5twistItLi64EET_S0_i");
        assert_eq!(function_of("_ZL5waves"), "");
    }
}
