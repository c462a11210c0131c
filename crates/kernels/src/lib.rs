//! Kernels as data: manifests, argument resolution, the host compiler and the object cache.
//!
//! A kernel is a source with a manifest. [`Library`] finds manifests, [`arguments`] turns their
//! `args` into values for one rank and call, [`build`] makes an object of a variant, cached.
//! Nothing here loads or runs an object.
#![forbid(unsafe_code)]

pub mod arguments;
mod assembly;
pub mod build;
pub mod cache;
pub mod compiler;
pub mod expression;
pub mod library;
pub mod manifest;
pub mod reduction;
pub mod rewrite;
pub mod runtime;
pub mod symbols;
pub mod yaml;

pub use arguments::{Argument, ArgumentError, TableEntry};
pub use build::{Build, BuildError, Object, Recipe, plain_module};
pub use cache::Cache;
pub use compiler::{Compiler, CompilerError};
pub use expression::Expression;
pub use library::{Embedded, Kernel, Library, LibraryError};
pub use manifest::{DeviceName, Groups, Manifest, Requirement, Variant};
pub use runtime::{Compiled, RuntimeCompiler, Toolchain};
pub use symbols::Scope;
