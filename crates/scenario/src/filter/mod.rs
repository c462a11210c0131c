//! Which cases a run takes: by id, by text, or by an expression such as
//! `test(w8) & !dtype(f16) | kernel(/ping_pong/)`.

use kernels::DeviceName;
use regex_lite::Regex;

use crate::case::{Case, Mode};

/// A selection; everything that is given must hold.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Exactly this id (with or without `cpu-logical::` in front).
    pub id: Option<String>,
    /// Contained in the name.
    pub text: Option<String>,
    /// An expression.
    pub expression: Option<Expression>,
    /// Only these numbers of ranks; empty means any.
    pub ranks: Vec<u32>,
}

/// A parsed expression.
#[derive(Debug, Clone)]
pub enum Expression {
    /// Negation.
    Not(Box<Expression>),
    /// Both.
    And(Box<Expression>, Box<Expression>),
    /// Either.
    Or(Box<Expression>, Box<Expression>),
    /// A predicate on one field.
    Field(Field, Pattern),
    /// Everything.
    All,
}

/// What a predicate looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The whole name, `cpu-logical::<id>`.
    Test,
    /// The scenario's name.
    Scenario,
    /// The kernel's name.
    Kernel,
    /// The variant.
    Variant,
    /// The number of ranks.
    Ranks,
    /// The element type.
    DType,
    /// The mode.
    Mode,
}

/// How a predicate compares.
#[derive(Debug, Clone)]
pub enum Pattern {
    /// Contained (test, scenario, kernel) or equal (the others).
    Text(String),
    /// `/regex/`.
    Regex(Regex),
    /// `=exact`.
    Exact(String),
}

/// An expression that does not parse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("filter `{text}`: {reason} (such as `test(w8) & !dtype(f16)`)")]
pub struct FilterError {
    text: String,
    reason: String,
}

const FIELDS: [(&str, Field); 7] = [
    ("test", Field::Test),
    ("scenario", Field::Scenario),
    ("kernel", Field::Kernel),
    ("variant", Field::Variant),
    ("ranks", Field::Ranks),
    ("dtype", Field::DType),
    ("mode", Field::Mode),
];

impl Filter {
    /// Whether a run takes the case in this mode.
    pub fn takes(&self, case: &Case, device: DeviceName, mode: Mode) -> bool {
        let name = case.name(device, mode);
        self.id.as_ref().is_none_or(|id| *id == case.id || *id == name)
            && self.text.as_ref().is_none_or(|text| name.contains(text.as_str()))
            && (self.ranks.is_empty() || self.ranks.contains(&case.problem.world))
            && self.expression.as_ref().is_none_or(|e| e.holds(case, &name, mode))
    }
}

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// Says what was expected where.
    pub fn parse(text: &str) -> Result<Expression, FilterError> {
        const LONGEST: usize = 4000;
        if text.len() > LONGEST {
            let (text, reason) = (text[..20].to_owned() + "..", "it is too long".to_owned());
            return Err(FilterError { text, reason });
        }
        let mut parser = Parser { rest: text };
        let wrong = |reason: String| FilterError { text: text.to_owned(), reason };
        let expression = parser.or().map_err(wrong)?;
        match parser.rest.trim() {
            "" => Ok(expression),
            rest => Err(wrong(format!("unexpected `{rest}`"))),
        }
    }

    fn holds(&self, case: &Case, name: &str, mode: Mode) -> bool {
        match self {
            Expression::All => true,
            Expression::Not(inner) => !inner.holds(case, name, mode),
            Expression::And(a, b) => a.holds(case, name, mode) && b.holds(case, name, mode),
            Expression::Or(a, b) => a.holds(case, name, mode) || b.holds(case, name, mode),
            Expression::Field(field, pattern) => {
                let ranks = case.problem.world.to_string();
                let value = match field {
                    Field::Test => name,
                    Field::Scenario => &case.scenario,
                    Field::Kernel => &case.kernel.manifest.kernel,
                    Field::Variant => &case.variant,
                    Field::Ranks => &ranks,
                    Field::DType => case.problem.dtype.name(),
                    Field::Mode => mode.name(),
                };
                match pattern {
                    Pattern::Exact(text) => value == text,
                    Pattern::Regex(regex) => regex.is_match(value),
                    Pattern::Text(text) => match field {
                        Field::Test | Field::Scenario | Field::Kernel => value.contains(text),
                        Field::Variant | Field::Ranks | Field::DType | Field::Mode => value == text,
                    },
                }
            }
        }
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn accept(&mut self, tokens: &[&str]) -> bool {
        self.rest = self.rest.trim_start();
        let found = tokens.iter().find_map(|token| self.rest.strip_prefix(token));
        if let Some(rest) = found {
            self.rest = rest;
        }
        found.is_some()
    }

    fn or(&mut self) -> Result<Expression, String> {
        let mut left = self.and()?;
        while self.accept(&["|", "+", "or "]) {
            left = Expression::Or(Box::new(left), Box::new(self.and()?));
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Expression, String> {
        let mut left = self.not()?;
        loop {
            if self.accept(&["&", "and "]) {
                left = Expression::And(Box::new(left), Box::new(self.not()?));
            } else if self.accept(&["-"]) {
                let right = Expression::Not(Box::new(self.not()?));
                left = Expression::And(Box::new(left), Box::new(right));
            } else {
                return Ok(left);
            }
        }
    }

    fn not(&mut self) -> Result<Expression, String> {
        if self.accept(&["!", "not "]) {
            return Ok(Expression::Not(Box::new(self.not()?)));
        }
        if self.accept(&["("]) {
            let inner = self.or()?;
            return if self.accept(&[")"]) { Ok(inner) } else { Err("a `(` is not closed".into()) };
        }
        self.predicate()
    }

    fn predicate(&mut self) -> Result<Expression, String> {
        let known = || FIELDS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join("(), ");
        self.rest = self.rest.trim_start();
        let (name, rest) = self
            .rest
            .split_once('(')
            .ok_or_else(|| format!("expected one of {}(), all()", known()))?;
        if name.trim() == "all" {
            self.rest = rest.trim_start().strip_prefix(')').ok_or("`all(` is not closed")?;
            return Ok(Expression::All);
        }
        let field = FIELDS.iter().find(|(known, _)| *known == name.trim());
        let (_, field) = field.ok_or_else(|| {
            format!("unknown predicate `{}`, expected one of {}(), all()", name.trim(), known())
        })?;
        let (pattern, rest) = pattern(rest)?;
        self.rest = rest;
        Ok(Expression::Field(*field, pattern))
    }
}

/// `/regex/)`, `=exact)` or `text)`.
fn pattern(text: &str) -> Result<(Pattern, &str), String> {
    let text = text.trim_start();
    if let Some(rest) = text.strip_prefix('/') {
        let (regex, rest) = rest.split_once("/)").ok_or("a `/` is not closed with `/)`")?;
        let regex = Regex::new(regex).map_err(|error| error.to_string())?;
        return Ok((Pattern::Regex(regex), rest));
    }
    let (text, rest) = text.split_once(')').ok_or("a `(` is not closed")?;
    let pattern = match text.trim().strip_prefix('=') {
        Some(exact) => Pattern::Exact(exact.to_owned()),
        None => Pattern::Text(text.trim().to_owned()),
    };
    Ok((pattern, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("tset(w8)", "unknown predicate `tset`")]
    #[case("test(w8", "not closed")]
    #[case("test(w8) x", "unexpected `x`")]
    #[case("(test(w8)", "not closed")]
    #[case("test(/[/)", "unclosed character class")]
    #[case("", "expected one of")]
    fn refuses(#[case] text: &str, #[case] reason: &str) {
        let error = Expression::parse(text).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}
