//! Lines that a terminal, a mail or a form has broken: a header or a row that goes on in the next
//! line, cut anywhere or between words.
//!
//! A row is put together only where exactly one way gives a row that agrees with itself.

use super::header::Header;
use super::model::{HalfKind, Row};
use super::row::{self, Reading, is_beginning, is_rest};

/// Lines over which one line may be spread.
const MAX_LINES: usize = 4;

/// The beginning of a row or header, in every way in which its pieces can be put together.
#[derive(Debug, Clone)]
pub(super) struct Broken {
    /// Line of the log on which it begins, from 1.
    pub(super) line: usize,
    /// The first piece, for reports.
    pub(super) first: String,
    joined: Vec<String>,
    lines: usize,
}

impl Broken {
    fn new(line: usize, text: &str) -> Self {
        Self { line, first: text.to_owned(), joined: vec![text.to_owned()], lines: 1 }
    }

    /// The beginning of a row, where a line is one and nothing else.
    pub(super) fn row(line: usize, text: &str, header: &Header) -> Option<Self> {
        is_beginning(text, header).then(|| Self::new(line, text))
    }

    /// The beginning of a header: its first columns, but not all.
    pub(super) fn header(line: usize, text: &str) -> Option<Self> {
        let tokens: Vec<&str> = text.trim_start_matches(['#', ' ']).split_whitespace().collect();
        matches!(tokens.as_slice(), ["size" | "bytes", "count" | "N", ..])
            .then(|| Self::new(line, text))
    }

    /// One line more, cut or broken between words; none where there are too many.
    fn and(mut self, text: &str) -> Option<Self> {
        let ways = |head: &String| [format!("{head}{text}"), format!("{head} {text}")];
        self.joined = self.joined.iter().flat_map(ways).collect();
        self.lines += 1;
        (self.lines <= MAX_LINES).then_some(self)
    }

    /// Goes on with a row: the row where it is whole, itself where it is still broken.
    pub(super) fn with_rest(self, text: &str, section: usize, header: &Header) -> Joined {
        if !is_rest(text) && !self.ends_in_word(text) {
            return Joined::Not;
        }
        let line = self.line;
        let Some(longer) = self.and(text) else {
            return Joined::Not;
        };
        let mut rows: Vec<Row> = Vec::new();
        for text in &longer.joined {
            if let Reading::Row(mut row) = row::read(text, line, section, header)
                && !row.had_noise
            {
                row.line = line;
                if !rows.contains(&row) {
                    rows.push(row);
                }
            }
        }
        match rows.len() {
            0 => Joined::Still(longer),
            1 => Joined::Row(rows.remove(0)),
            _ => Joined::Not,
        }
    }

    /// Whether a line goes on inside a word: `flo` and `at     sum`.
    fn ends_in_word(&self, text: &str) -> bool {
        let first = text.split_whitespace().next();
        let tail = |token: &str| token.chars().all(|c| c.is_ascii_alphabetic());
        first.is_some_and(tail)
            && is_rest(text.trim_start().trim_start_matches(|c: char| c.is_ascii_alphabetic()))
    }

    /// Goes on with a header.
    pub(super) fn with_header_rest(
        self,
        text: &str,
        group: &[HalfKind],
    ) -> (Option<Header>, Option<Self>) {
        let Some(longer) = self.and(text) else {
            return (None, None);
        };
        let whole = longer.joined.iter().find_map(|text| {
            Header::parse(text.trim_start().trim_start_matches('#'), group)
                .filter(|header| group.is_empty() || header.halves.len() == group.len())
        });
        match whole {
            Some(header) => (Some(header), None),
            None => (None, Some(longer)),
        }
    }
}

/// What becomes of a broken row with one line more.
pub(super) enum Joined {
    /// A row.
    Row(Row),
    /// Not yet a row.
    Still(Broken),
    /// The line does not belong to it.
    Not,
}
