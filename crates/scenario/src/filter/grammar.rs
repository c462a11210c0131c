//! How a filter expression is read.

use kernels::grammar::{
    GrammarError, Input, Parsed, accept, blanks, enclosed, expect, infix, refuse, rest, whole,
};
use kernels::symbols::nearest;
use regex_lite::Regex;
use winnow::Parser as _;
use winnow::combinator::{delimited, terminated};
use winnow::token::{take_until, take_while};

use super::expression::{Expression, Field, Pattern};
use crate::keys::{KEYS, find};

/// A longer expression is refused.
const LONGEST: usize = 4000;

/// More open parentheses are refused.
const DEEPEST: usize = 200;

/// An expression that does not parse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// It is longer than any that is meant.
    #[error("filter `{0}..`: it is too long ({LONGEST} bytes at most)")]
    TooLong(String),
    /// Something in it is wrong.
    #[error("filter {0} (such as `test(w8) & !dtype(f16)`)")]
    Wrong(#[from] GrammarError),
}

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// Says what was expected, and at which column.
    pub fn parse(text: &str) -> Result<Expression, FilterError> {
        if text.len() > LONGEST {
            return Err(FilterError::TooLong(text.chars().take(20).collect()));
        }
        Ok(whole(text, DEEPEST, or)?)
    }
}

fn or(input: &mut Input<'_>) -> Parsed<Expression> {
    let operator = |input: &mut Input<'_>| Ok(accept(input, &["|", "+", "or "])?.then_some(()));
    infix(input, and, operator, |left, (), right| Expression::Or(Box::new(left), Box::new(right)))
}

/// Whether what comes behind the operator is denied.
struct IsDenied(bool);

fn and(input: &mut Input<'_>) -> Parsed<Expression> {
    let operator = |input: &mut Input<'_>| {
        if accept(input, &["&", "and "])? {
            return Ok(Some(IsDenied(false)));
        }
        Ok(accept(input, &["-"])?.then_some(IsDenied(true)))
    };
    infix(input, not, operator, |left, IsDenied(is_denied), right| {
        let right = if is_denied { Expression::Not(Box::new(right)) } else { right };
        Expression::And(Box::new(left), Box::new(right))
    })
}

fn not(input: &mut Input<'_>) -> Parsed<Expression> {
    let mut denials = 0;
    while accept(input, &["!", "not "])? {
        denials += 1;
    }
    let inner = match accept(input, &["("])? {
        true => enclosed(input, or)?,
        false => predicate(input)?,
    };
    Ok((0..denials).fold(inner, |inner, _| Expression::Not(Box::new(inner))))
}

/// `all()`, or a field and its pattern in parentheses.
fn predicate(input: &mut Input<'_>) -> Parsed<Expression> {
    blanks(input)?;
    let place = *input;
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name: &str = take_while(0.., is_letter).parse_next(input)?;
    if name.is_empty() {
        return refuse(&place, format!("expected one of {}", known()));
    }
    if name == "all" {
        expect(input, "(")?;
        expect(input, ")")?;
        return Ok(Expression::All);
    }
    let field = match name {
        "test" => Field::Test,
        "scenario" => Field::Scenario,
        "kernel" => Field::Kernel,
        "mode" => Field::Mode,
        _ => match find(name) {
            Some(key) => Field::Key(key),
            None => {
                let nearest = nearest(name, names());
                let known = known();
                return refuse(
                    &place,
                    format!(
                        "unknown predicate `{name}` (did you mean `{nearest}`?), expected one of {known}"
                    ),
                );
            }
        },
    };
    expect(input, "(")?;
    Ok(Expression::Field(field, pattern(input)?))
}

fn names() -> impl Iterator<Item = &'static str> {
    ["test", "scenario", "kernel", "mode"].into_iter().chain(KEYS.iter().map(|key| key.name))
}

fn known() -> String {
    names().map(|name| format!("{name}(), ")).collect::<String>() + "all()"
}

/// `/regex/)`, `=exact)` or `text)`.
fn pattern(input: &mut Input<'_>) -> Parsed<Pattern> {
    blanks(input)?;
    let place = *input;
    if rest(input).starts_with('/') {
        let regex: Parsed<&str> = delimited("/", take_until(0.., "/)"), "/)").parse_next(input);
        let Ok(regex) = regex else {
            return refuse(&place, "a `/` is not closed with `/)`");
        };
        return match Regex::new(regex) {
            Ok(regex) => Ok(Pattern::Regex(regex)),
            Err(error) => refuse(&place, error.to_string()),
        };
    }
    let text: Parsed<&str> = terminated(take_until(0.., ")"), ")").parse_next(input);
    let Ok(text) = text else {
        return refuse(&place, "a `(` is not closed");
    };
    Ok(match text.trim().strip_prefix('=') {
        Some(exact) => Pattern::Exact(exact.to_owned()),
        None => Pattern::Text(text.trim().to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("tset(w8)", "unknown predicate `tset` (did you mean `test`?)", 1)]
    #[case("test(w8", "not closed", 6)]
    #[case("test(w8) x", "unexpected `x`", 10)]
    #[case("(test(w8)", "expected `)`, found the end", 10)]
    #[case("test(w8) & test(/[/)", "unclosed character class", 17)]
    #[case("test(/x)", "not closed with `/)`", 6)]
    #[case("", "expected one of", 1)]
    #[case("test(ä) & tset(x)", "unknown predicate `tset`", 11)]
    #[case("all(x)", "expected `)`, found `x)`", 5)]
    #[case("test w8", "expected `(`, found `w8`", 6)]
    fn refuses(#[case] text: &str, #[case] reason: &str, #[case] column: usize) {
        let error = Expression::parse(text).unwrap_err();
        let FilterError::Wrong(wrong) = &error else { panic!("{error}") };
        assert!(error.to_string().contains(reason), "{error}");
        assert_eq!(wrong.column, column, "{error}");
    }

    #[test]
    fn what_is_too_long_or_too_deep_is_refused() {
        let error = Expression::parse(&"test(ä)|".repeat(600)).unwrap_err();
        assert!(error.to_string().contains("too long"), "{error}");
        let deep = format!("{}all(){}", "(".repeat(1900), ")".repeat(1900));
        let error = Expression::parse(&deep).unwrap_err();
        assert!(
            error.to_string().contains("more than 200 parentheses are open at column 201"),
            "{error}"
        );
        let deep = format!("{}all(){}", "(".repeat(199), ")".repeat(199));
        assert_eq!(Expression::parse(&deep), Ok(Expression::All));
    }
}
