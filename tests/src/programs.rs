//! What programs of a user's own need in tests: a Python, and the library and the package of this checkout.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate has a parent").to_owned()
}

/// The C library that was built for the tests of `binary`.
pub fn library(binary: &str) -> PathBuf {
    let folder = Path::new(binary).parent().expect("a binary has a folder");
    // Where cargo puts what tests depend on; beside the binary lies what was built by name.
    let library = folder.join("deps/librankcheck_host.so");
    assert!(library.is_file(), "cargo builds {}", library.display());
    library
}

/// A Python with NumPy and pytest: the one in `RANKCHECK_PYTHON`, the one that ci/packages.sh
/// makes, or the one in PATH.
pub fn python() -> PathBuf {
    let named = std::env::var_os("RANKCHECK_PYTHON").map(PathBuf::from);
    let made = root().join("target/python/bin/python");
    let places = named.into_iter().chain([made, PathBuf::from("python3")]);
    let usable = |python: &PathBuf| {
        let imports = Command::new(python).args(["-c", "import numpy, pytest"]).output();
        imports.is_ok_and(|output| output.status.success())
    };
    let found = places.clone().find(usable);
    found.unwrap_or_else(|| {
        let tried: Vec<PathBuf> = places.collect();
        panic!(
            "no Python with numpy and pytest among {tried:?}: run ci/packages.sh, which makes one"
        )
    })
}

/// A command in `folder` that finds the package, the library and the `rankcheck` of this checkout.
pub fn program(binary: &str, command: impl AsRef<OsStr>, folder: &Path) -> Command {
    let cache = Path::new(binary).parent().expect("a binary has a folder").join("test-cache");
    let mut command = Command::new(command);
    command
        .current_dir(folder)
        .env("PYTHONPATH", root().join("python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("RANKCHECK", binary)
        .env("RANKCHECK_LIBRARY", library(binary))
        .env("RANKCHECK_CACHE", cache)
        .env_remove("GITHUB_STEP_SUMMARY");
    for variable in ["RANK", "WORLD_SIZE", "RANKCHECK_JUDGE", "RANKCHECK_CASE", "RANKCHECK_REPORT"]
    {
        command.env_remove(variable);
    }
    command
}
