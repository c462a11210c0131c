//! What turns a source into an object: a compiler program for the CPU, a library for a GPU.

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use crate::compiler::Compiler;
use crate::manifest::DeviceName;

/// A vendor's compiler for GPUs, called in this process.
pub trait RuntimeCompiler: Debug + Send + Sync {
    /// Name, version and architecture: objects of two that are equal are equal.
    fn identity(&self) -> String;

    /// Compiles a unit whose headers lie in `folders`, and says how it calls `names`.
    ///
    /// # Errors
    /// The compiler's own messages.
    fn compile(
        &self,
        unit: &str,
        folders: &[PathBuf],
        names: &[String],
    ) -> Result<Compiled, String>;
}

/// A module for a GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    /// Machine code.
    pub object: Vec<u8>,
    /// The symbol of each name.
    pub symbols: Vec<String>,
}

/// What builds kernels for the device of a run.
#[derive(Debug, Clone)]
pub enum Toolchain {
    /// The host's C++ compiler, for the CPU.
    Host(Compiler),
    /// A vendor's compiler, for its GPUs.
    Runtime(Arc<dyn RuntimeCompiler>),
}

impl Toolchain {
    /// The device it builds for.
    pub fn device(&self) -> DeviceName {
        match self {
            Toolchain::Host(_) => DeviceName::Cpu,
            Toolchain::Runtime(_) => DeviceName::Cuda,
        }
    }

    /// Name and version.
    pub fn version(&self) -> String {
        match self {
            Toolchain::Host(compiler) => compiler.version.clone(),
            Toolchain::Runtime(compiler) => compiler.identity(),
        }
    }
}

impl From<Compiler> for Toolchain {
    fn from(compiler: Compiler) -> Toolchain {
        Toolchain::Host(compiler)
    }
}
