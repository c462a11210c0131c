//! Shapes and tiles: `7x255` or `{m: 7, n: 255}`.

use std::borrow::Cow;
use std::fmt;

use collectives::{Shape, Tile};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

use super::value::Value;
use super::word::{Word, WordVisitor};

/// Rows and columns of a matrix. Either may be zero: a kernel must do nothing then, and do it right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShapeValue(pub Shape);

impl Word for ShapeValue {
    const IS_PAIR: bool = true;

    fn expected() -> String {
        "a shape: 9x257 or {m: 9, n: 257}".into()
    }

    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map(ShapeValue)
    }
    fn from_pair(m: u64, n: u64) -> Result<Self, String> {
        Ok(ShapeValue(Shape { m, n }))
    }
}

impl<'de> Deserialize<'de> for ShapeValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WordVisitor::new())
    }
}

impl Value for ShapeValue {
    fn accepted() -> String {
        "rows and columns: `9x257` or `{m: 9, n: 257}`, in quotes where YAML would read a number (`'0x5'`)".into()
    }
    fn yaml(&self) -> String {
        // To YAML, 0x5 is the number five.
        if self.0.m == 0 { format!("'{}'", self.0) } else { self.0.to_string() }
    }
    fn label(&self) -> String {
        self.0.to_string()
    }
}

impl JsonSchema for ShapeValue {
    fn schema_name() -> Cow<'static, str> {
        "Shape".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        pair_schema(0)
    }
}

/// Rows and columns that a thread block handles in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileValue(pub Tile);

impl Word for TileValue {
    const IS_PAIR: bool = true;

    fn expected() -> String {
        "a tile: 32x64 or {m: 32, n: 64}".into()
    }
    fn from_text(text: &str) -> Result<Self, String> {
        let Tile { m, n } = text.parse()?;
        TileValue::from_pair(m, n)
    }
    fn from_pair(m: u64, n: u64) -> Result<Self, String> {
        if m == 0 || n == 0 {
            return Err(format!("a tile of {m}x{n} (rows and columns must be at least 1)"));
        }
        Ok(TileValue(Tile { m, n }))
    }
}

impl fmt::Display for TileValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl JsonSchema for TileValue {
    fn schema_name() -> Cow<'static, str> {
        "Tile".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        pair_schema(1)
    }
}

fn pair_schema(least: u64) -> Schema {
    let extent = json_schema!({ "type": "integer", "minimum": least });
    json_schema!({
        "anyOf": [
            { "type": "string", "pattern": "^[0-9]+x[0-9]+$" },
            {
                "type": "object",
                "properties": { "m": extent, "n": extent },
                "required": ["m", "n"],
                "additionalProperties": false
            }
        ]
    })
}
