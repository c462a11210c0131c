//! Reporters: each folds one stream of events, and nothing else, into what somebody reads.
#![forbid(unsafe_code)]

mod comparison;
mod counts;
mod file;
mod html;
mod human;
mod json;
mod junit;
mod markdown;
mod page;
mod region_map;
mod view;

pub use comparison::{comparison_markdown, comparison_text};
pub use file::{Partial, ReportFile};
pub use html::Html;
pub use human::{Human, failure_text};
pub use json::{Json, document};
pub use junit::Junit;
pub use markdown::Markdown;
pub use page::{RunDocument, bench_markdown, bench_page, comparison_page, run_markdown, run_page};

use verdict::Event;

/// A report that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("report {path}: {reason}")]
pub struct ReportError {
    /// Where it should go.
    pub path: String,
    /// Why it cannot.
    pub reason: String,
}

/// Folds events into one report.
pub trait Reporter {
    /// Takes one event.
    ///
    /// # Errors
    /// The report cannot be written.
    fn event(&mut self, event: &Event) -> Result<(), ReportError>;
}

/// The kinds of `--report`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// For people, at a terminal.
    Human,
    /// `rankcheck.run/1`.
    Json,
    /// For CI.
    Junit,
    /// For reviewers, at most 25 lines.
    Markdown,
    /// A page that needs nothing but itself.
    Html,
    /// Of measurements: a table with the columns of iris.bench.
    Csv,
}

impl Kind {
    /// Every kind, in the order in which they are listed to users.
    pub const NAMES: [(&str, Kind); 6] = [
        ("human", Kind::Human),
        ("json", Kind::Json),
        ("junit", Kind::Junit),
        ("markdown", Kind::Markdown),
        ("html", Kind::Html),
        ("csv", Kind::Csv),
    ];
}
