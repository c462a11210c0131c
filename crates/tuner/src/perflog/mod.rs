//! Logs of nccl-tests and rccl-tests, of all versions seen, read and judged.
//!
//! Header-driven: columns are what the log's own header says. A row that cannot be read in exactly
//! one way is reported with its line and never guessed. The footer is checked against the rows.
//! Refuses: timing statistics and any use of a JSON log's `env`, which holds secrets.

mod csv;
mod footer;
mod half;
mod header;
mod json;
mod judge;
mod launcher;
mod model;
mod row;
mod text;

pub use csv::csv;
pub use model::{
    Average, Check, Footer, Half, HalfKind, Log, OutOfBounds, Row, Status, Unreadable,
};

/// Reads one log. Never fails and never panics: what is not a log is a status too.
pub fn read(bytes: &[u8]) -> Log {
    let text = String::from_utf8_lossy(bytes);
    let evidence = match json::is_json(&text) {
        true => json::read(&text),
        false => text::read(&text),
    };
    judge::judge(evidence)
}
