//! Shared libraries that are loaded at run time, so that one binary runs on machines without them.

use std::path::{Path, PathBuf};

use libloading::Library;

use crate::MissingLibrary;

/// Loads the first of `candidates` that is there, and says which.
pub(crate) fn load(
    name: &'static str,
    candidates: &[PathBuf],
) -> Result<(Library, PathBuf), MissingLibrary> {
    let mut tried = Vec::new();
    for candidate in candidates {
        // SAFETY: vendors' libraries run initialisers of their own and nothing of ours; they are
        // loaded once and never unloaded before the process ends.
        match unsafe { Library::new(candidate) } {
            Ok(library) => return Ok((library, candidate.clone())),
            // A library that is there and does not load says more than all that are not.
            Err(error) if candidate.is_absolute() => tried.push(error.to_string()),
            Err(_) => tried.push(format!("no {}", candidate.display())),
        }
    }
    Err(MissingLibrary { name, reason: tried.join("; ") })
}

/// Files in a folder whose names begin like this, the greatest version first.
pub(crate) fn versions(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(prefix) && !name.contains(".alt.")
        })
        .collect();
    found.sort();
    found.reverse();
    found
}

/// Declares the functions of a library as fields of a structure, each with the C name that its
/// attribute gives, all of them resolved when it is loaded.
macro_rules! functions {
    ($(#[$doc:meta])* $name:ident { $($field:ident = $symbol:literal ( $($argument:ty),* $(,)? );)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct $name {
            $(pub(crate) $field: unsafe extern "C" fn($($argument),*) -> i32,)*
        }

        impl $name {
            /// Resolves every function.
            pub(crate) fn resolve(library: &libloading::Library) -> Result<$name, String> {
                Ok($name {
                    $($field: {
                        // SAFETY: the type is that of the vendor's header for this name.
                        let symbol = unsafe { library.get($symbol.as_bytes()) };
                        *symbol.map_err(|_| format!("it has no {}", $symbol))?
                    },)*
                })
            }
        }
    };
}
pub(crate) use functions;
