//! What the binary carries: kernels, headers, scenarios and mutants. Files on disk win.

use kernels::Embedded;

/// Every file, with paths that begin with `kernels/`, `scenarios/` or `tests/mutants/`.
static FILES: &[Embedded] = include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// The scenario files.
pub(crate) fn scenarios() -> Vec<Embedded> {
    FILES.iter().filter(|file| file.path.starts_with("scenarios/")).copied().collect()
}

/// Kernels and headers, with paths relative to `kernels/`.
pub(crate) fn kernels() -> Vec<Embedded> {
    below("kernels/")
}

/// Kernels that are wrong on purpose, with paths relative to `tests/mutants/`.
pub(crate) fn mutants() -> Vec<Embedded> {
    below("tests/mutants/")
}

fn below(folder: &str) -> Vec<Embedded> {
    let below = |file: &Embedded| {
        let path = file.path.strip_prefix(folder)?;
        Some(Embedded { path, bytes: file.bytes })
    };
    FILES.iter().filter_map(below).collect()
}
