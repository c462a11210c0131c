//! Shapes and tiles: `7x255` or `{m: 7, n: 255}`.

use std::borrow::Cow;
use std::fmt;

use collectives::{Shape, Tile};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, MapAccess};

use super::from_yaml::{FromYaml, deserialize, pair};
use super::value::Value;

/// Rows and columns of a matrix. Either may be zero: a kernel must do nothing then, and do it right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShapeValue(pub Shape);

impl FromYaml for ShapeValue {
    fn expected() -> String {
        "a shape: 9x257 or {m: 9, n: 257}".into()
    }

    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map(ShapeValue)
    }
    fn from_number(number: i128) -> Result<Self, String> {
        ShapeValue::from_text(&number.to_string()).map_err(|complaint| in_quotes(complaint, number))
    }
    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        let [m, n] = pair(map)?;
        Ok(ShapeValue(Shape { m, n }))
    }
}

deserialize!(ShapeValue, TileValue);

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

impl FromYaml for TileValue {
    fn expected() -> String {
        "a tile: 32x64 or {m: 32, n: 64}".into()
    }
    fn from_text(text: &str) -> Result<Self, String> {
        let Tile { m, n } = text.parse()?;
        TileValue::new(m, n)
    }
    fn from_number(number: i128) -> Result<Self, String> {
        TileValue::from_text(&number.to_string()).map_err(|complaint| in_quotes(complaint, number))
    }
    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        let [m, n] = pair(map)?;
        TileValue::new(m, n).map_err(A::Error::custom)
    }
}

impl TileValue {
    fn new(m: u64, n: u64) -> Result<TileValue, String> {
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

/// To YAML, 0x5 is the number five.
fn in_quotes(complaint: String, number: i128) -> String {
    format!("{complaint} (write 0xN in quotes: '0x{number:x}')")
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
