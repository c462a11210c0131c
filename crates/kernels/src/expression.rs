//! Integer expressions of manifests: `ceil_div(m, tile.m) * group.size`.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

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
    /// A message that says what is wrong, with the nearest symbol where one is unknown.
    pub fn parse(text: &str) -> Result<Expression, String> {
        const LONGEST: usize = 1000;
        if text.len() > LONGEST {
            return Err(format!("an expression of {} characters (at most {LONGEST})", text.len()));
        }
        let mut parser = Parser { rest: text };
        let root = parser.sum()?;
        match parser.peek() {
            None => Ok(Expression { text: text.trim().to_owned(), root }),
            Some(_) => Err(format!("`{text}`: unexpected `{}`", parser.rest.trim_start())),
        }
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

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn accept(&mut self, expected: char) -> bool {
        let found = self.peek() == Some(expected);
        if found {
            self.rest = &self.rest[expected.len_utf8()..];
        }
        found
    }

    fn expect(&mut self, expected: char) -> Result<(), String> {
        if self.accept(expected) {
            Ok(())
        } else {
            Err(format!("expected `{expected}` at `{}`", self.rest))
        }
    }

    fn sum(&mut self) -> Result<Node, String> {
        let mut left = self.product()?;
        loop {
            let operator = match self.peek() {
                Some('+') => Operator::Add,
                Some('-') => Operator::Subtract,
                _ => return Ok(left),
            };
            self.rest = &self.rest[1..];
            left = Node::Operation(operator, Box::new(left), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Result<Node, String> {
        let mut left = self.atom()?;
        loop {
            let operator = match self.peek() {
                Some('*') => Operator::Multiply,
                Some('/') => Operator::Divide,
                Some('%') => Operator::Remainder,
                _ => return Ok(left),
            };
            self.rest = &self.rest[1..];
            left = Node::Operation(operator, Box::new(left), Box::new(self.atom()?));
        }
    }

    fn atom(&mut self) -> Result<Node, String> {
        match self.peek() {
            Some('(') => {
                self.expect('(')?;
                let inner = self.sum()?;
                self.expect(')')?;
                Ok(inner)
            }
            Some('-') => {
                self.expect('-')?;
                let inner = self.atom()?;
                Ok(Node::Operation(Operator::Subtract, Box::new(Node::Literal(0)), Box::new(inner)))
            }
            Some(digit) if digit.is_ascii_digit() => {
                let word = self.word();
                let parsed = match word.strip_prefix("0x") {
                    Some(hex) => i64::from_str_radix(hex, 16),
                    None => word.parse(),
                };
                parsed.map(Node::Literal).map_err(|_| format!("`{word}` is not a 64-bit number"))
            }
            Some(letter) if letter.is_ascii_alphabetic() => self.named(),
            Some(other) => Err(format!("expected a number or a symbol, found `{other}`")),
            None => Err("expected a number or a symbol, found the end".into()),
        }
    }

    fn named(&mut self) -> Result<Node, String> {
        let name = self.word().to_owned();
        let operator = match name.as_str() {
            "ceil_div" => Operator::CeilDiv,
            "min" => Operator::Min,
            "max" => Operator::Max,
            _ => {
                symbols::check(&name)?;
                return Ok(Node::Symbol(name));
            }
        };
        self.expect('(')?;
        let left = self.sum()?;
        self.expect(',')?;
        let right = self.sum()?;
        self.expect(')')?;
        Ok(Node::Operation(operator, Box::new(left), Box::new(right)))
    }

    fn word(&mut self) -> &str {
        let end = self
            .rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }
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
    #[case("group.sise", "unknown symbol `group.sise` (did you mean `group.size`?")]
    #[case("m +", "found the end")]
    #[case("m m", "unexpected `m`")]
    #[case("ceil_div(m)", "expected `,`")]
    #[case("99999999999999999999", "not a 64-bit number")]
    fn refuses(#[case] text: &str, #[case] message: &str) {
        let error = Expression::parse(text).unwrap_err();
        assert!(error.contains(message), "{error}");
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
            if let Ok(expression) = Expression::parse(&text) {
                let _ = expression.evaluate(&value);
            }
        }
    }
}
