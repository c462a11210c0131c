//! One file a verb; `select` is what several of them share.

use std::io::Write as _;

use anyhow::Context as _;

pub(crate) mod bench;
pub(crate) mod build;
pub(crate) mod cache;
pub(crate) mod compare;
pub(crate) mod doctor;
pub(crate) mod exec;
pub(crate) mod explain;
pub(crate) mod fuzz;
pub(crate) mod judge;
pub(crate) mod list;
pub(crate) mod new;
pub(crate) mod perflog;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod select;
pub(crate) mod selftest;
pub(crate) mod tuner;

/// Writes a verb's output; a reader that has seen enough (`| head`) is no error.
fn emit(text: &str) -> anyhow::Result<()> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to standard output"),
    }
}

/// Pretty JSON with a line feed.
fn json(value: &impl serde::Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(value).context("cannot write JSON")? + "\n")
}
