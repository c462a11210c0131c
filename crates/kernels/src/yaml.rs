//! Strict YAML: one place where text becomes typed values, with errors at file:line:column.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file as the user named it.
    pub file: PathBuf,
    /// The line, from 1; 0 where it is not known.
    pub line: u64,
    /// The column, from 1.
    pub column: u64,
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => write!(f, "{}", self.file.display()),
            _ => write!(f, "{}:{}:{}", self.file.display(), self.line, self.column),
        }
    }
}

/// A file that does not say what it should.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{at}: {message}")]
pub struct YamlError {
    /// The place of the fault.
    pub at: Location,
    /// What is wrong and what is accepted.
    pub message: String,
}

/// Reads one document.
///
/// # Errors
/// Syntax, unknown or duplicate keys, wrong types, oversized documents: with line and column.
pub fn parse<T: DeserializeOwned>(file: &Path, text: &str) -> Result<T, YamlError> {
    let options = serde_yaml::options! { strict_booleans: true, with_snippet: false };
    serde_yaml::from_str_with_options(text, options).map_err(|error| {
        let location = error.location();
        let at = Location {
            file: file.to_owned(),
            line: location.map_or(0, |l| l.line()),
            column: location.map_or(0, |l| l.column()),
        };
        YamlError { at, message: message(&error.to_string()) }
    })
}

/// The parser's message without its own "error: line 7 column 3: " in front.
fn message(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    let text = first.strip_prefix("error: ").unwrap_or(first);
    let text = match text.split_once(": ") {
        Some((head, rest)) if head.starts_with("line ") => rest,
        _ => text,
    };
    // The place stands in front already.
    let end = text.rfind(" at line ").unwrap_or(text.len());
    // Nor does the library's own advice help anybody who writes YAML.
    text[..end].replace(", set DuplicateKeyPolicy in Options if acceptable", "")
}
