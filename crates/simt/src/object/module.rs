//! A loaded object. Each rank loads a copy of its own, so that device globals are not shared.

use std::ffi::CStr;
use std::io::Write as _;
use std::os::fd::{AsRawFd as _, OwnedFd};

use super::abi;
use super::launch_record::LaunchRecord;
use super::parameters::Parameters;
use super::segments::Segments;

/// An object that cannot be loaded or does not fit its manifest.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ModuleError {
    /// The object cannot be loaded, for the reason that the dynamic loader gives.
    #[error("the object does not load: {0}")]
    Load(String),
    /// The object was built with headers of another version: theirs, then ours.
    #[error("the object was built with rankcheck headers of version {0}, this is version {1}")]
    Version(u32, u32),
    /// The manifest's `args` do not fit the parameters of the function.
    #[error(
        "{entry}: {reason} (the manifest's `args` must be the function's parameters, in order)"
    )]
    Parameters {
        /// The name of the function.
        entry: String,
        /// What does not fit, in words.
        reason: String,
    },
    /// A kernel needs this many bytes of static block-shared memory, more than any GPU has.
    #[error(
        "a kernel needs {0} bytes of static block-shared memory, more than any GPU has ({STATIC_SHARED}; dynamic memory goes further: launch.shared_bytes)"
    )]
    SharedMemory(usize),
    /// The object has no entry of this index.
    #[error("the object has no entry {0}")]
    NoEntry(usize),
}

/// The most static block-shared memory of any GPU: what the largest have without asking for more.
const STATIC_SHARED: usize = 64 << 10;

/// A loaded object: the compiled kernels of one rank.
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
    /// Loads a copy of an object, given as the bytes of its file.
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
        // SAFETY: the object was built by `kernels::compile` from the user's source; loading it runs
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

    /// Checks that values fit the parameters of entry `index`, by number and size.
    ///
    /// # Errors
    /// The object has no such entry, or the values do not fit; the first difference is told.
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
        // SAFETY: a global of the object, mapped as long as `self` lives; this executor is its only
        // user, on one OS thread.
        unsafe { *self.table().now = thread };
    }

    /// Whether its accesses report themselves.
    pub(crate) fn is_observed(&self) -> bool {
        self.table().observed != 0
    }

    /// Clears the launch record.
    pub(crate) fn clear_record(&self) {
        // SAFETY: a global of the object, mapped as long as `self` lives; this executor is its only
        // user, on one OS thread.
        unsafe { *self.table().record = abi::Record::default() };
    }

    pub(crate) fn record(&self) -> Option<LaunchRecord> {
        // SAFETY: a global of the object, mapped as long as `self` lives; this executor is its only
        // user, on one OS thread.
        let record = unsafe { *self.table().record };
        (record.written != 0).then_some(LaunchRecord {
            tile_m: record.tile_m,
            tile_n: record.tile_n,
            group_size: record.group_size,
            blocks: record.blocks,
            threads: record.threads,
        })
    }

    /// The offset of an address in the object in bytes, to look its line up.
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
