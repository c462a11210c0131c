//! From recipes to objects: toolchains, their messages, and the cache.
//!
//! Owns compiler processes, what they say, and the files of the cache. It never loads or runs an
//! object.

pub mod cache;
mod compiler;
mod diagnostics;
mod host;
mod object;
mod prune;
mod toolchain;

pub use cache::{Cache, hash};
pub use compiler::{Compiler, CompilerError, FLAGS, LINK};
pub use diagnostics::BuildError;
pub use object::{Object, plain_module};
pub use prune::{CacheEntry, Keep, Pruned};
pub use toolchain::{CompileFailure, CompileJob, Compiled, Toolchain};
