//! Integer expressions of manifests: `ceil_div(m, tile.m) * group.size`.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use winnow::Parser as _;
use winnow::token::take_while;

use crate::grammar::{Input, Parsed, accept, blanks, enclosed, expect, infix, refuse, rest, whole};
use crate::symbols;

/// A parsed expression over the closed list of symbols.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    text: String,
    root: Node,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    Literal(i64),
    Symbol(String),
    Operation(Operator, Box<Node>, Box<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    CeilDiv,
    Min,
    Max,
}

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{expression}`: {reason}")]
pub struct EvaluationError {
    expression: String,
    reason: String,
}

impl Expression {
    /// Parses an expression; every symbol must be on the list of [`symbols`].
    ///
    /// # Errors
    /// A message that says what is wrong and at which column, with the nearest symbol where one is
    /// unknown.
    pub fn parse(text: &str) -> Result<Expression, String> {
        const LONGEST: usize = 1000;
        if text.len() > LONGEST {
            return Err(format!("an expression of {} characters (at most {LONGEST})", text.len()));
        }
        let root = whole(text, LONGEST / 2, sum).map_err(|error| error.to_string())?;
        Ok(Expression { text: text.trim().to_owned(), root })
    }

    /// A number.
    pub fn literal(value: i64) -> Expression {
        Expression { text: value.to_string(), root: Node::Literal(value) }
    }

    /// The value, with symbols looked up by `value`.
    ///
    /// # Errors
    /// Overflow of 64 bits, division by zero, a symbol that has no value here.
    pub fn evaluate(
        &self,
        value: &dyn Fn(&str) -> Result<i64, String>,
    ) -> Result<i64, EvaluationError> {
        self.root
            .evaluate(value)
            .map_err(|reason| EvaluationError { expression: self.text.clone(), reason })
    }

    /// Whether a symbol occurs.
    pub fn mentions(&self, symbol: &str) -> bool {
        self.root.mentions(symbol)
    }
}

impl Node {
    fn operation(left: Node, operator: Operator, right: Node) -> Node {
        Node::Operation(operator, Box::new(left), Box::new(right))
    }

    fn evaluate(&self, value: &dyn Fn(&str) -> Result<i64, String>) -> Result<i64, String> {
        match self {
            Node::Literal(literal) => Ok(*literal),
            Node::Symbol(symbol) => value(symbol),
            Node::Operation(operator, left, right) => {
                operator.apply(left.evaluate(value)?, right.evaluate(value)?)
            }
        }
    }

    fn mentions(&self, symbol: &str) -> bool {
        match self {
            Node::Literal(_) => false,
            Node::Symbol(name) => name == symbol,
            Node::Operation(_, left, right) => left.mentions(symbol) || right.mentions(symbol),
        }
    }
}

impl Operator {
    fn apply(self, left: i64, right: i64) -> Result<i64, String> {
        let overflow = || format!("overflows 64 bits at {left} and {right}");
        let value = match self {
            Operator::Add => left.checked_add(right),
            Operator::Subtract => left.checked_sub(right),
            Operator::Multiply => left.checked_mul(right),
            Operator::Divide | Operator::Remainder | Operator::CeilDiv if right == 0 => {
                return Err("divides by zero".into());
            }
            Operator::Divide => left.checked_div(right),
            Operator::Remainder => left.checked_rem(right),
            Operator::CeilDiv => left.checked_add(right - 1).and_then(|sum| sum.checked_div(right)),
            Operator::Min => Some(left.min(right)),
            Operator::Max => Some(left.max(right)),
        };
        value.ok_or_else(overflow)
    }
}

fn sum(input: &mut Input<'_>) -> Parsed<Node> {
    infix(input, product, |input| operator(input, &SUMS), Node::operation)
}

fn product(input: &mut Input<'_>) -> Parsed<Node> {
    infix(input, atom, |input| operator(input, &PRODUCTS), Node::operation)
}

const SUMS: [(&str, Operator); 2] = [("+", Operator::Add), ("-", Operator::Subtract)];
const PRODUCTS: [(&str, Operator); 3] =
    [("*", Operator::Multiply), ("/", Operator::Divide), ("%", Operator::Remainder)];
const FUNCTIONS: [(&str, Operator); 3] =
    [("ceil_div", Operator::CeilDiv), ("min", Operator::Min), ("max", Operator::Max)];

fn operator(
    input: &mut Input<'_>,
    operators: &[(&'static str, Operator)],
) -> Parsed<Option<Operator>> {
    for (sign, operator) in operators {
        if accept(input, &[sign])? {
            return Ok(Some(*operator));
        }
    }
    Ok(None)
}

fn atom(input: &mut Input<'_>) -> Parsed<Node> {
    if accept(input, &["("])? {
        return enclosed(input, sum);
    }
    if accept(input, &["-"])? {
        return Ok(Node::operation(Node::Literal(0), Operator::Subtract, atom(input)?));
    }
    blanks(input)?;
    match rest(input).chars().next() {
        Some(digit) if digit.is_ascii_digit() => number(input),
        Some(letter) if letter.is_ascii_alphabetic() => named(input),
        Some(other) => refuse(input, format!("expected a number or a symbol, found `{other}`")),
        None => refuse(input, "expected a number or a symbol, found the end"),
    }
}

fn number(input: &mut Input<'_>) -> Parsed<Node> {
    let place = *input;
    let word = word(input)?;
    let parsed = match word.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16),
        None => word.parse(),
    };
    match parsed {
        Ok(number) => Ok(Node::Literal(number)),
        Err(_) => refuse(&place, format!("`{word}` is not a 64-bit number")),
    }
}

fn named(input: &mut Input<'_>) -> Parsed<Node> {
    let place = *input;
    let name = word(input)?;
    let Some((_, operator)) = FUNCTIONS.iter().find(|(function, _)| *function == name) else {
        return match symbols::check(name) {
            Ok(()) => Ok(Node::Symbol(name.to_owned())),
            Err(unknown) => refuse(&place, unknown),
        };
    };
    expect(input, "(")?;
    let left = sum(input)?;
    expect(input, ",")?;
    Ok(Node::operation(left, *operator, enclosed(input, sum)?))
}

fn word<'a>(input: &mut Input<'a>) -> Parsed<&'a str> {
    take_while(1.., |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.').parse_next(input)
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Expression {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Expression;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer expression")
            }
            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Expression, E> {
                Ok(Expression::literal(value))
            }
            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Expression, E> {
                i64::try_from(value).map(Expression::literal).map_err(E::custom)
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Expression, E> {
                Expression::parse(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl Serialize for Expression {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl schemars::JsonSchema for Expression {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Expression".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["integer", "string"] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    fn value(symbol: &str) -> Result<i64, String> {
        match symbol {
            "m" => Ok(129),
            "tile.m" => Ok(8),
            "group.size" => Ok(3),
            other => Err(format!("no {other}")),
        }
    }

    #[rstest]
    #[case("7", 7)]
    #[case("0x10", 16)]
    #[case("1 + 2 * 3", 7)]
    #[case("(1 + 2) * 3", 9)]
    #[case("ceil_div(m, tile.m) * group.size", 51)]
    #[case("m / tile.m - m % tile.m", 15)]
    #[case("max(m, 500) - min(m, 500)", 371)]
    #[case("-m + 130", 1)]
    fn evaluates(#[case] text: &str, #[case] expected: i64) {
        assert_eq!(Expression::parse(text).unwrap().evaluate(&value), Ok(expected));
    }

    #[rstest]
    #[case("m + group.sise", "unknown symbol `group.sise` (did you mean `group.size`?", 5)]
    #[case("m +", "found the end", 4)]
    #[case("m m", "unexpected `m`", 3)]
    #[case("ceil_div(m)", "expected `,`, found `)`", 11)]
    #[case("min(m, (n)", "expected `)`, found the end", 11)]
    #[case("m * 99999999999999999999", "not a 64-bit number", 5)]
    #[case("m * ä", "expected a number or a symbol, found `ä`", 5)]
    fn refuses(#[case] text: &str, #[case] message: &str, #[case] column: usize) {
        let error = Expression::parse(text).unwrap_err();
        assert!(error.contains(message), "{error}");
        assert!(error.ends_with(&format!(" at column {column}")), "{error}");
    }

    #[test]
    fn as_many_parentheses_as_fit_are_read() {
        let deep = |levels: usize| format!("{}m{}", "(".repeat(levels), ")".repeat(levels));
        assert_eq!(Expression::parse(&deep(499)).unwrap().evaluate(&value), Ok(129));
        assert!(Expression::parse(&deep(500)).unwrap_err().contains("1001 characters"));
        let negated = format!("{}m", "-".repeat(998));
        assert_eq!(Expression::parse(&negated).unwrap().evaluate(&value), Ok(129));
    }

    #[rstest]
    #[case("m / (tile.m - 8)", "divides by zero")]
    #[case("m * 9223372036854775807", "overflows 64 bits")]
    fn has_no_value(#[case] text: &str, #[case] message: &str) {
        let error = Expression::parse(text).unwrap().evaluate(&value).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }

    proptest! {
        #[test]
        fn never_panics(text in "[-+*/%() a-z0-9.,_]{0,40}") {
            match Expression::parse(&text) {
                Ok(expression) => {
                    let _ = expression.evaluate(&value);
                }
                Err(error) => prop_assert!(error.contains(" at column "), "{error}"),
            }
        }
    }
}
