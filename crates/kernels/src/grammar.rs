//! The pieces that the expression languages are made of: those of manifests
//! ([`Expression`](crate::Expression)) and the filters of the command line.
//!
//! A parser takes [`Input`] and gives [`Parsed`]. One that fails without having decided lets another one
//! try; one that has decided calls [`refuse`], whose reason the user sees with its column.

use winnow::combinator::{opt, preceded};
use winnow::error::{ErrMode, ParserError};
use winnow::stream::{LocatingSlice, Location as _, Stream as _};
use winnow::token::take_while;
use winnow::{ModalResult, Parser};

/// What is left of a text, and where that stands.
pub type Input<'a> = LocatingSlice<&'a str>;

/// What a parser gives.
pub type Parsed<T> = ModalResult<T, Refusal>;

/// Why a parser does not go on, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// In bytes from the start of the text.
    at: usize,
    /// Empty where nothing was decided yet.
    reason: String,
}

impl ParserError<Input<'_>> for Refusal {
    type Inner = Refusal;

    fn from_input(input: &Input<'_>) -> Refusal {
        Refusal { at: input.current_token_start(), reason: String::new() }
    }
    fn into_inner(self) -> Result<Refusal, Refusal> {
        Ok(self)
    }
}

/// A text that does not parse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}`: {reason} at column {column}")]
pub struct GrammarError {
    /// The whole text.
    pub text: String,
    /// What is wrong and what was expected.
    pub reason: String,
    /// Where, in characters from 1.
    pub column: usize,
}

/// Parses a whole text, in which at most `deepest` parentheses are open at once: each costs stack.
///
/// # Errors
/// What is wrong, and at which column.
pub fn whole<'a, T>(
    text: &'a str,
    deepest: usize,
    parser: fn(&mut Input<'a>) -> Parsed<T>,
) -> Result<T, GrammarError> {
    let error = |Refusal { at, reason }: Refusal| GrammarError {
        text: text.to_owned(),
        reason,
        column: text[..at].chars().count() + 1,
    };
    if let Some(at) = too_deep(text, deepest) {
        let reason = format!("more than {deepest} parentheses are open");
        return Err(error(Refusal { at, reason }));
    }
    let mut input = Input::new(text);
    let parsed = parser(&mut input)
        .and_then(|parsed| {
            blanks(&mut input)?;
            match rest(&input) {
                "" => Ok(parsed),
                rest => refuse(&input, format!("unexpected `{rest}`")),
            }
        })
        .map_err(|mode| match mode {
            ErrMode::Backtrack(refusal) | ErrMode::Cut(refusal) => refusal,
            ErrMode::Incomplete(_) => {
                Refusal { at: text.len(), reason: "it is not complete".into() }
            }
        });
    parsed.map_err(error)
}

/// Where a text opens one parenthesis too many.
fn too_deep(text: &str, deepest: usize) -> Option<usize> {
    let mut open = 0usize;
    text.char_indices().find_map(|(at, c)| {
        match c {
            '(' => open += 1,
            ')' => open = open.saturating_sub(1),
            _ => {}
        }
        (open > deepest).then_some(at)
    })
}

/// What is left of the text.
pub fn rest<'a>(input: &Input<'a>) -> &'a str {
    input.peek_finish()
}

/// Stops parsing here, for this reason.
///
/// # Errors
/// Always.
pub fn refuse<T>(input: &Input<'_>, reason: impl Into<String>) -> Parsed<T> {
    Err(ErrMode::Cut(Refusal { at: input.current_token_start(), reason: reason.into() }))
}

/// Any number of blanks.
///
/// # Errors
/// None.
pub fn blanks(input: &mut Input<'_>) -> Parsed<()> {
    take_while(0.., char::is_whitespace).void().parse_next(input)
}

/// One of these texts, behind blanks; whether there was one.
///
/// # Errors
/// None.
pub fn accept(input: &mut Input<'_>, tokens: &[&'static str]) -> Parsed<bool> {
    for token in tokens {
        if opt(preceded(blanks, *token)).parse_next(input)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// This text, behind blanks.
///
/// # Errors
/// Says that it was expected.
pub fn expect(input: &mut Input<'_>, token: &'static str) -> Parsed<()> {
    if accept(input, &[token])? {
        return Ok(());
    }
    blanks(input)?;
    match rest(input) {
        "" => refuse(input, format!("expected `{token}`, found the end")),
        rest => refuse(input, format!("expected `{token}`, found `{rest}`")),
    }
}

/// What stands between parentheses, the first of which has been taken.
///
/// # Errors
/// Those of what is inside, and a parenthesis that is not closed.
pub fn enclosed<'a, T>(
    input: &mut Input<'a>,
    inside: fn(&mut Input<'a>) -> Parsed<T>,
) -> Parsed<T> {
    let value = inside(input)?;
    expect(input, ")")?;
    Ok(value)
}

/// Operands with operators between them, joined from left to right.
///
/// # Errors
/// Those of operands and operators.
pub fn infix<'a, T, O>(
    input: &mut Input<'a>,
    operand: fn(&mut Input<'a>) -> Parsed<T>,
    operator: fn(&mut Input<'a>) -> Parsed<Option<O>>,
    join: fn(T, O, T) -> T,
) -> Parsed<T> {
    let mut left = operand(input)?;
    while let Some(operator) = operator(input)? {
        left = join(left, operator, operand(input)?);
    }
    Ok(left)
}
