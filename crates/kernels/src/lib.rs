//! Kernels as data: manifests, argument resolution, toolchains and the object cache.
//!
//! A kernel is code with a manifest. [`Library`] finds manifests, [`code`] knows the files behind
//! them, [`arguments`] turns their `args` into values for one rank and call, and [`Recipe::make`]
//! gives an object of a variant for a [`Toolchain`], cached. Nothing here loads or runs an object.
#![forbid(unsafe_code)]

pub mod arguments;
pub mod code;
pub mod compile;
pub mod expression;
pub mod grammar;
pub mod library;
pub mod manifest;
pub mod recipe;
mod reduction;
pub mod scope;
pub mod symbols;
mod unit;
pub mod yaml;

pub use arguments::{Argument, ArgumentError, TableEntry};
pub use code::{Code, MissingCode, SourceFile};
pub use compile::{
    BuildError, Cache, CompileFailure, CompileJob, Compiled, Compiler, CompilerError, Object,
    Toolchain, hash, plain_module,
};
pub use expression::Expression;
pub use library::{Embedded, Kernel, Library, LibraryError};
pub use manifest::{DeviceName, Groups, Manifest, Requirement, Variant};
pub use recipe::{Build, Recipe, Undefined};
pub use scope::Scope;
pub use unit::ObjectKind;
