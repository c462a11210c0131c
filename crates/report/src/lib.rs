//! Reporters: each folds one stream of events, and nothing else, into what somebody reads.
#![forbid(unsafe_code)]

mod comparison;
mod counts;
mod file;
mod human;
mod json;
mod junit;
mod markdown;
mod region_map;
mod view;

pub use comparison::{comparison_markdown, comparison_text};
pub use file::{Partial, ReportFile};
pub use human::{Human, failure_text};
pub use json::{Json, document};
pub use junit::Junit;
pub use markdown::Markdown;

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
}

impl Kind {
    /// Every kind, in the order in which they are listed to users.
    pub const NAMES: [(&str, Kind); 4] = [
        ("human", Kind::Human),
        ("json", Kind::Json),
        ("junit", Kind::Junit),
        ("markdown", Kind::Markdown),
    ];
}
