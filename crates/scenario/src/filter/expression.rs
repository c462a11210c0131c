//! An expression over what cases are called and made of.

use std::fmt;

use regex_lite::Regex;

use crate::case::Case;
use crate::keys::Key;
use crate::mode::Mode;

/// A parsed expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expression {
    /// It does not hold.
    Not(Box<Expression>),
    /// Both hold.
    And(Box<Expression>, Box<Expression>),
    /// Either holds, or both.
    Or(Box<Expression>, Box<Expression>),
    /// A predicate on one field.
    Field(Field, Pattern),
    /// It holds for every case.
    All,
}

/// What a predicate looks at.
#[derive(Debug, Clone, Copy)]
pub enum Field {
    /// The whole name, `cpu-logical::<id>`.
    Test,
    /// The scenario's name.
    Scenario,
    /// The kernel's name.
    Kernel,
    /// The mode.
    Mode,
    /// A key of the table: its value, spelled as in a file or as in an id.
    Key(&'static Key),
}

/// How a predicate compares.
#[derive(Debug, Clone)]
pub enum Pattern {
    /// Contained (test, scenario, kernel) or equal (the others).
    Text(String),
    /// `/regex/`: matches somewhere.
    Regex(Regex),
    /// `=exact`: equal.
    Exact(String),
}

impl Field {
    /// What it is called in an expression.
    pub fn name(&self) -> &'static str {
        match self {
            Field::Test => "test",
            Field::Scenario => "scenario",
            Field::Kernel => "kernel",
            Field::Mode => "mode",
            Field::Key(key) => key.name,
        }
    }

    /// Whether a text must be contained in the value, rather than equal to it.
    fn is_searched(&self) -> bool {
        matches!(self, Field::Test | Field::Scenario | Field::Kernel)
    }
}

impl PartialEq for Field {
    fn eq(&self, other: &Field) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Field {}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        match (self, other) {
            (Pattern::Text(a), Pattern::Text(b)) | (Pattern::Exact(a), Pattern::Exact(b)) => a == b,
            (Pattern::Regex(a), Pattern::Regex(b)) => a.as_str() == b.as_str(),
            (Pattern::Text(_) | Pattern::Regex(_) | Pattern::Exact(_), _) => false,
        }
    }
}

impl Eq for Pattern {}

impl Expression {
    /// Whether it holds for a case that is shown by this name, in this mode.
    pub fn holds(&self, case: &Case, name: &str, mode: Mode) -> bool {
        match self {
            Expression::All => true,
            Expression::Not(inner) => !inner.holds(case, name, mode),
            Expression::And(a, b) => a.holds(case, name, mode) && b.holds(case, name, mode),
            Expression::Or(a, b) => a.holds(case, name, mode) || b.holds(case, name, mode),
            Expression::Field(field, pattern) => {
                let matches = |value: &str| pattern.matches(value, field.is_searched());
                match field {
                    Field::Test => matches(name),
                    Field::Scenario => matches(&case.scenario),
                    Field::Kernel => matches(&case.kernel.manifest.kernel),
                    Field::Mode => matches(mode.name()),
                    Field::Key(key) => {
                        (key.spellings)(&case.settings).iter().any(|value| matches(value))
                    }
                }
            }
        }
    }
}

impl Pattern {
    fn matches(&self, value: &str, is_searched: bool) -> bool {
        match self {
            Pattern::Exact(text) => value == text,
            Pattern::Regex(regex) => regex.is_match(value),
            Pattern::Text(text) if is_searched => value.contains(text),
            Pattern::Text(text) => value == text,
        }
    }
}

impl fmt::Display for Expression {
    /// As it is parsed: reading it again gives the same expression.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operand = |of: &Expression, needs_parentheses: bool| match needs_parentheses {
            true => format!("({of})"),
            false => of.to_string(),
        };
        let is_or = |e: &Expression| matches!(e, Expression::Or(..));
        let is_infix = |e: &Expression| matches!(e, Expression::Or(..) | Expression::And(..));
        match self {
            Expression::All => f.write_str("all()"),
            Expression::Not(inner) => write!(f, "!{}", operand(inner, is_infix(inner))),
            Expression::And(a, b) => {
                write!(f, "{} & {}", operand(a, is_or(a)), operand(b, is_infix(b)))
            }
            Expression::Or(a, b) => write!(f, "{a} | {}", operand(b, is_or(b))),
            Expression::Field(field, Pattern::Text(text)) => {
                write!(f, "{}({text})", field.name())
            }
            Expression::Field(field, Pattern::Exact(text)) => {
                write!(f, "{}(={text})", field.name())
            }
            Expression::Field(field, Pattern::Regex(regex)) => {
                write!(f, "{}(/{regex}/)", field.name())
            }
        }
    }
}
