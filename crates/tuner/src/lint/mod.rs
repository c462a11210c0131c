//! What is wrong, or likely wrong, with a tuner file, and what each dialect makes of it.
//!
//! Each rule says where (line and byte column), what will happen, and what to write instead.
//! [`fix()`] changes only what is mechanical, and returns every edit.

mod fix;
mod line;
mod ranges;
mod rules;
mod sarif;
mod values;

use schemars::JsonSchema;
use serde::Serialize;

use crate::csv::{Dropped, Fate, Table};
use crate::names::Dialect;

pub use fix::{Edit, fix};
pub use rules::{RuleId, Severity};
pub use sarif::sarif;

/// What one dialect does with the line of a finding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Effect {
    /// The dialect.
    pub dialect: Dialect,
    /// What it does.
    pub what: String,
}

/// One thing that a rule found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Finding {
    /// Line, from 1.
    pub line: usize,
    /// Byte column in the line, from 1.
    pub column: usize,
    /// The rule.
    pub rule: RuleId,
    /// How bad it is.
    pub severity: Severity,
    /// What was found.
    pub message: String,
    /// What each dialect does with the line; empty for findings about several rows.
    pub effects: Vec<Effect>,
    /// What to do.
    pub suggestion: Option<String>,
    /// Whether [`fix()`] would change it.
    pub fixable: bool,
}

impl Finding {
    fn new(rule: RuleId, line: usize, column: usize, message: String) -> Self {
        let severity = rule.severity();
        let (effects, suggestion, fixable) = (Vec::new(), None, false);
        Self { line, column, rule, severity, message, effects, suggestion, fixable }
    }

    fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }

    fn fixable(mut self) -> Self {
        self.fixable = true;
        self
    }
}

/// Applies every rule to a file, in order of place. Rules about several rows look at the rows that
/// `dialect` loads; all others tell what every dialect does.
pub fn lint(file: &[u8], dialect: Dialect) -> Vec<Finding> {
    let mut findings = line::findings(file);
    let table = Table::load(dialect, file);
    let lines: Vec<&[u8]> = file.split(|&byte| byte == b'\n').collect();
    findings.extend(ranges::findings(&table).into_iter().map(|finding| {
        let tokens = crate::csv::tokens(lines[finding.line - 1]);
        let column = tokens.get(finding.column).map_or(1, |token| token.column);
        Finding { column, ..finding }
    }));
    findings.sort();
    findings
}

/// What a dialect does with a line, in words.
fn effect(dialect: Dialect, fate: &Fate) -> Effect {
    let what = match fate {
        Fate::Blank => "ignored as empty".to_owned(),
        Fate::Comment => "ignored as a comment".to_owned(),
        Fate::Row(rule) if values::never_matches(rule) => {
            format!("loaded, but never matches: {}", rule.told(dialect))
        }
        Fate::Row(rule) => format!("loaded: {}", rule.told(dialect)),
        Fate::Dropped(Dropped::NoRoom) => {
            "dropped without a message (behind the last row that the reader has room for)"
                .to_owned()
        }
        Fate::Dropped(Dropped::TooFewTokens(count)) => {
            format!("dropped without a message ({count} fields)")
        }
        Fate::Dropped(Dropped::BlankToken) => "skipped with a warning (empty field)".to_owned(),
        Fate::Dropped(Dropped::UnknownNames(names)) => {
            format!("skipped with a warning (unknown {})", names.join(", "))
        }
    };
    Effect { dialect, what }
}
