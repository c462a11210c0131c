//! The host's C++ compiler: found, identified, and run with pinned flags.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A C++ compiler of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiler {
    /// The file of the compiler's program.
    pub path: PathBuf,
    /// The first line of what the program says about its version.
    pub version: String,
}

/// No compiler, or one that does not work.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CompilerError {
    /// No program of the usual names is on PATH.
    #[error(
        "no C++ compiler: none of {tried} is on PATH (install g++ or clang++, or name one in RANKCHECK_CXX)"
    )]
    Missing {
        /// The names that were tried.
        tried: String,
    },
    /// A program that does not say its version.
    #[error("the C++ compiler {path} does not answer --version: {reason}")]
    Broken {
        /// The file of the program.
        path: PathBuf,
        /// What happened instead.
        reason: String,
    },
}

/// Nothing of the machine gets into the code: no native instructions, no contraction of a*b+c, so
/// that the same source gives the same bytes everywhere. GPU code puns types freely. A call at the
/// end of a function must stay a call: its return address is the kernel's line. Integers wrap, as on GPUs.
pub const FLAGS: [&str; 13] = [
    "-std=c++17",
    "-O2",
    "-g",
    "-fPIC",
    "-march=x86-64-v2",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-fwrapv",
    "-fno-optimize-sibling-calls",
    "-fvisibility=hidden",
    // A large frame must not step over the guard page under a fiber's stack.
    "-fstack-clash-protection",
    "-Wno-unknown-pragmas",
    "-pipe",
];

/// How objects are linked: everything that an object defines is its own, nothing is left open.
pub const LINK: [&str; 2] = ["-shared", "-Wl,-Bsymbolic,-z,now,--no-undefined"];

impl Compiler {
    /// The compiler named in `RANKCHECK_CXX`, else in `CXX`, else the first of g++, clang++, c++.
    ///
    /// # Errors
    /// There is no compiler, or it cannot be run.
    pub fn find() -> Result<Compiler, CompilerError> {
        let named = ["RANKCHECK_CXX", "CXX"].iter().find_map(std::env::var_os);
        let names: Vec<PathBuf> = match named {
            Some(name) => vec![PathBuf::from(name)],
            None => ["g++", "clang++", "c++"].iter().map(PathBuf::from).collect(),
        };
        match names.iter().find_map(|name| on_path(name)) {
            Some(path) => Compiler::at(path),
            None => {
                let tried: Vec<_> = names.iter().map(|name| name.display().to_string()).collect();
                Err(CompilerError::Missing { tried: tried.join(", ") })
            }
        }
    }

    /// The compiler whose program is a file.
    ///
    /// # Errors
    /// The program cannot be run.
    pub fn at(path: PathBuf) -> Result<Compiler, CompilerError> {
        let broken = |reason: String| CompilerError::Broken { path: path.clone(), reason };
        let output = Command::new(&path)
            .arg("--version")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| broken(error.to_string()))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let version = text.lines().next().unwrap_or_default().trim().to_owned();
        if !output.status.success() || version.is_empty() {
            return Err(broken(format!("it said {:?} ({})", text.trim(), output.status)));
        }
        Ok(Compiler { path, version })
    }

    /// Whether this is a clang, which takes some flags that a gcc does not.
    pub fn is_clang(&self) -> bool {
        self.version.contains("clang")
    }

    /// Flags of observed builds: the thread sanitizer's calls, volatile ones told apart, and
    /// accesses as the source has them, not joined to wider ones; and calls at comparisons.
    pub fn observing_flags(&self) -> &'static [&'static str] {
        if self.is_clang() {
            &[
                "-fsanitize=thread",
                // It traces comparisons only beside something else, and those of loops if told so.
                "-fsanitize-coverage=func,trace-pc,trace-cmp,no-prune",
                "-mllvm",
                "-tsan-distinguish-volatile=1",
                "-mllvm",
                "-tsan-instrument-read-before-write=1",
                "-fno-vectorize",
                "-fno-slp-vectorize",
            ]
        } else {
            &[
                "-fsanitize=thread",
                "-fsanitize-coverage=trace-cmp",
                "--param",
                "tsan-distinguish-volatile=1",
                "-fno-tree-vectorize",
                "-fno-store-merging",
                // Copies of a constant size are expanded behind the instrumentation: they stay calls.
                "-fno-builtin-memcpy",
                "-fno-builtin-memmove",
                "-fno-builtin-memset",
                "-Wno-tsan",
            ]
        }
    }

    /// Checks that are compiled into kernels: an access must be aligned for its type, as on a GPU,
    /// and an index must be one of its array. What they find goes to the executor (`rc_module.h`).
    pub fn checks(&self) -> &'static str {
        // What else a clang takes for bounds ends the process.
        if self.is_clang() {
            "-fsanitize=alignment,array-bounds"
        } else {
            "-fsanitize=alignment,bounds"
        }
    }

    /// Flags beyond [`FLAGS`] that only one family takes.
    pub fn own_flags(&self) -> &'static [&'static str] {
        // Unique symbols would be shared by two loads of one object; see ARCHITECTURE.md.
        if self.is_clang() { &[] } else { &["-fno-gnu-unique"] }
    }
}

fn on_path(name: &Path) -> Option<PathBuf> {
    if name.components().count() > 1 {
        return name.is_file().then(|| name.to_owned());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}
