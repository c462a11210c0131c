//! Logs of nccl-tests and rccl-tests, of all versions seen, read and judged.
//!
//! Header-driven: columns are what the log's own header says. A row that cannot be read in exactly
//! one way is reported with its line and never guessed. The footer is checked against the rows, and
//! the bandwidths of each row against each other, to the printed digits.
//!
//! [`read`] gives a [`Log`]: its [`Status`], its [`Row`]s, and one [`Footer`] for each run of a tool
//! in it ([`Log::run_of`]).
//! Refuses: timing statistics and any use of a JSON log's `env`, which holds secrets.

mod csv;
mod factor;
mod footer;
mod half;
mod header;
mod json;
mod judge;
mod launcher;
mod model;
mod report;
mod row;
mod runs;
mod text;
mod wrapped;

pub use csv::csv;
pub(crate) use launcher::untag;
pub use model::{
    Average, Check, Footer, Format, Half, HalfKind, Log, OutOfBounds, OwnChoice, Row, Status,
    Unreadable,
};

/// Reads one log. Never fails and never panics: what is not a log is a status too.
pub fn read(bytes: &[u8]) -> Log {
    let text = decoded(bytes);
    let evidence = match () {
        () if json::is_json(&text) => json::read(&text),
        () if report::is_json(&text) => report::read_json(&text),
        () if report::is_csv(&text) => report::read_csv(&text),
        () => text::read(&text),
    };
    judge::judge(evidence)
}

/// The text of a log: UTF-8, or UTF-16 with a byte order mark, as some shells redirect.
fn decoded(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    let units = |from: fn([u8; 2]) -> u16| -> String {
        let pairs = bytes[2..].chunks_exact(2).map(|pair| from([pair[0], pair[1]]));
        char::decode_utf16(pairs).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    match bytes {
        [0xff, 0xfe, ..] => units(u16::from_le_bytes).into(),
        [0xfe, 0xff, ..] => units(u16::from_be_bytes).into(),
        _ => String::from_utf8_lossy(bytes),
    }
}
