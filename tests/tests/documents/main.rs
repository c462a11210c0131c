//! The documents are true: every fenced block of README.md and of the book is run, loaded, compiled or
//! held against what there is; every link leads somewhere.
//!
//! What is done with a block, by its tag:
//!
//! | tag | |
//! |---|---|
//! | `sh` | run, line by line, in one folder a page; `# exit code N` behind a command expects that |
//! | `text` | directly behind `sh`: what was printed, line by line, times aside, `...` leaves out; else not tested |
//! | `console` | not run: the lines behind `$` name verbs, options and scripts that exist |
//! | `yaml` | a scenario or a manifest, which loads, or keys of one; a workflow whose steps exist |
//! | `cpp` | a file of the page, by its first line, that compiles; or a body for the last file with a line `// the body`, whose finding is the heading's, or whose cause is that of its first line (`// looks like: ..`) |
//! | `python`, `c` | a file of the page, by its first line; it parses |
//! | `json` | it parses |
//! | `rust` | an example of a crate's documentation |
//!
//! No other tag is allowed, and no block without one.

use std::path::{Path, PathBuf};

use rankcheck_tests::programs::root;
use rstest::rstest;

mod blocks;
mod console;
mod faults;
mod links;
mod page;
mod workflows;
mod yaml;

const BINARY: &str = env!("CARGO_BIN_EXE_rankcheck-under-test");

/// All files below a folder that have this extension.
fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, extension, found);
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
}

fn c_header_folder() -> PathBuf {
    root().join("crates/guest/include")
}

#[rstest]
fn every_block_of_a_page_works(
    #[files("../README.md")]
    #[files("../CONTRIBUTING.md")]
    #[files("../docs/src/**/*.md")]
    file: PathBuf,
) {
    let text = std::fs::read_to_string(&file).unwrap();
    let root = root().canonicalize().unwrap();
    let file = file.canonicalize().unwrap();
    let name = file.strip_prefix(root).unwrap().display().to_string();
    let mut page = page::Page::new(&name);
    for block in blocks::blocks(&name, &text) {
        page.work_through(&block);
    }
    page.finish();
}
