//! What turns a unit into an object: a compiler program for the CPU, a vendor's library for a GPU.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::{Path, PathBuf};

use crate::manifest::DeviceName;
use crate::recipe::Build;
use crate::unit::ObjectKind;

/// A compiler of kernels for one kind of device.
///
/// Contract: everything that may change an object's bytes, besides the job itself and the contents
/// of files, is in [`Toolchain::identity`], because objects are cached by it. `compile` may be
/// called from several threads at once.
pub trait Toolchain: Debug + Send + Sync {
    /// The device that runs the objects.
    fn device(&self) -> DeviceName;

    /// Name and version, for people.
    fn version(&self) -> String;

    /// A text that is equal for two toolchains only if the same job gives the same object.
    fn identity(&self) -> String;

    /// The architecture that objects are for, such as `sm_90`; `None` where a manifest cannot name
    /// compiled objects for the device.
    fn architecture(&self) -> Option<String>;

    /// The folder below `kernels/include` with the headers that stand in for the vendor's.
    fn include_folder(&self) -> &'static str;

    /// The header that comes first in every unit.
    fn prelude(&self) -> &'static str;

    /// How the device finds entries in an object.
    fn object_kind(&self) -> ObjectKind;

    /// Compiles a unit.
    ///
    /// # Errors
    /// The unit is wrong, or the compiler cannot be used.
    fn compile(&self, job: &CompileJob<'_>) -> Result<Compiled, CompileFailure>;
}

/// One unit to compile.
#[derive(Debug, Clone, Copy)]
pub struct CompileJob<'a> {
    /// The text of the translation unit.
    pub unit: &'a str,
    /// The source's own folder, for `#include "..."`; absent where the source is not a file.
    pub beside: Option<&'a Path>,
    /// Folders with further headers, in order.
    pub folders: &'a [PathBuf],
    /// The functions whose symbols are wanted, as the manifest spells them.
    pub entries: &'a [String],
    /// The kind of build.
    pub build: Build,
    /// What stands in for inline assembly, by its instructions.
    pub hooks: &'a BTreeMap<String, String>,
    /// An empty folder for intermediate files, which is removed afterwards.
    pub scratch: &'a Path,
}

/// What a toolchain made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    /// The object's bytes.
    pub object: Vec<u8>,
    /// The symbol of each entry, in the order of the job; empty where the object has a table.
    pub symbols: Vec<String>,
    /// The headers that were read, those of the system aside; `None` where the compiler does not
    /// say it.
    pub headers: Option<Vec<PathBuf>>,
}

/// A unit that did not become an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompileFailure {
    /// The unit is wrong; the compiler's own messages.
    Refused(String),
    /// A file or program could not be used; which, and why.
    System(String),
}

impl From<std::io::Error> for CompileFailure {
    fn from(error: std::io::Error) -> CompileFailure {
        CompileFailure::System(error.to_string())
    }
}
