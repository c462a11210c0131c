//! Properties of the table of keys, of expansion and of drafts, over random scenarios.

mod expansion;
mod filters;
mod places;
mod round_trip;
mod sample;

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use kernels::{Kernel, Library};

use crate::{Expansion, ScenarioSource, expand};

/// Kernels that between them use every key: one that only moves, rooted ones, reductions, uneven parts.
const KERNELS: [&str; 5] = [
    "all_gather/push",
    "scatter/pull",
    "all_reduce/two_shot",
    "all_to_all/rows",
    "reduce_scatter/tiles",
];

static LIBRARY: LazyLock<Library> = LazyLock::new(|| {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels");
    Library::new(&[], &kernels).expect("the shipped kernels")
});

fn kernel(name: &str) -> Arc<Kernel> {
    LIBRARY.kernel(name, None).expect("a shipped kernel")
}

/// The cases of a file of this text, or what its reader is told.
fn expanded(text: &str) -> Result<Expansion, Complaint> {
    let path = PathBuf::from("s.yaml");
    let source = ScenarioSource { path: path.clone(), text: text.to_owned() };
    let file = source.parse().map_err(|error| Complaint {
        line: error.at.line,
        column: error.at.column,
        text: error.to_string(),
    })?;
    expand(&path, &file, &LIBRARY, None).map_err(|error| {
        let text = error.to_string();
        let (crate::ExpandError::At { at, .. } | crate::ExpandError::Kernel { at, .. }) = error;
        Complaint { line: at.line, column: at.column, text }
    })
}

/// An error, and the place that it names.
#[derive(Debug)]
struct Complaint {
    line: u64,
    column: u64,
    text: String,
}
