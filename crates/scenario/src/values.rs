//! The values of scenario keys, as users write them: `7x255` or `{m: 7, n: 255}`, `default`.

use std::fmt;
use std::marker::PhantomData;

use collectives::{DType, GroupSpec, Shape, Tile};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShapeValue(pub Shape);

/// A tile, or the variant's default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileValue(pub Option<Tile>);

/// A number of blocks, or the variant's default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlocksValue(pub Option<u32>);

/// An element type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DTypeValue(pub DType);

/// A group, before the world is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupValue(pub GroupSpec);

/// One value or several.
#[derive(Debug, Clone)]
pub struct OneOrMany<T>(pub Vec<T>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair {
    m: u64,
    n: u64,
}

fn tile(m: u64, n: u64) -> Result<TileValue, String> {
    if m == 0 || n == 0 {
        return Err(format!("a tile of {m}x{n} (rows and columns must be at least 1)"));
    }
    Ok(TileValue(Some(Tile { m, n })))
}

/// A visitor of text, numbers or maps, so that an error keeps its place in the file.
struct Words<T, F> {
    expecting: &'static str,
    text: F,
    map: Option<fn(Pair) -> Result<T, String>>,
}

impl<'de, T, F: Fn(&str) -> Result<T, String>> Visitor<'de> for Words<T, F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expecting)
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.text)(text).map_err(E::custom)
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        (self.text)(&number.to_string()).map_err(|reason| match self.map {
            // To YAML, 0x5 is the number five.
            Some(_) => E::custom(format!("{reason} (write 0xN in quotes: '0x{number:x}')")),
            None => E::custom(reason),
        })
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        self.visit_u64(number.max(0) as u64)
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        match self.map {
            Some(from_pair) => {
                let pair = Pair::deserialize(MapAccessDeserializer::new(map))?;
                from_pair(pair).map_err(A::Error::custom)
            }
            None => Err(A::Error::custom(format!("a map, expected {}", self.expecting))),
        }
    }
}

impl<'de> Deserialize<'de> for ShapeValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Rows or columns may be zero: a kernel must do nothing then, and do it right.
        deserializer.deserialize_any(Words {
            expecting: "a shape: 9x257 or {m: 9, n: 257}",
            text: |text: &str| text.parse().map(ShapeValue),
            map: Some(|Pair { m, n }| Ok(ShapeValue(Shape { m, n }))),
        })
    }
}

impl<'de> Deserialize<'de> for TileValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Words {
            expecting: "a tile: default, 32x64 or {m: 32, n: 64}",
            text: |text: &str| match text {
                "default" => Ok(TileValue(None)),
                _ => {
                    let Tile { m, n } = text.parse()?;
                    tile(m, n)
                }
            },
            map: Some(|Pair { m, n }| tile(m, n)),
        })
    }
}

impl<'de> Deserialize<'de> for BlocksValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Words {
            expecting: "a number of blocks, or default",
            text: |text: &str| match text {
                "default" => Ok(BlocksValue(None)),
                _ => match text.parse() {
                    Ok(0) | Err(_) => Err(format!("`{text}` blocks (a number from 1, or default)")),
                    Ok(blocks) => Ok(BlocksValue(Some(blocks))),
                },
            },
            map: None,
        })
    }
}

impl<'de> Deserialize<'de> for DTypeValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Words {
            expecting: "an element type such as f16",
            text: |text: &str| text.parse().map(DTypeValue),
            map: None,
        })
    }
}

impl<'de> Deserialize<'de> for GroupValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Explicit {
            start: Option<u32>,
            stride: Option<u32>,
            size: Option<u32>,
            ranks: Option<Vec<u32>>,
        }
        struct GroupVisitor;
        impl<'de> Visitor<'de> for GroupVisitor {
            type Value = GroupValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a group: world, {start: 0, stride: 2, size: 2} or {ranks: [3, 0, 2]}")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<GroupValue, E> {
                text.parse().map(GroupValue).map_err(E::custom)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<GroupValue, A::Error> {
                let explicit = Explicit::deserialize(MapAccessDeserializer::new(map))?;
                let spec = match explicit {
                    Explicit { ranks: Some(ranks), start: None, stride: None, size: None } => {
                        GroupSpec::Ranks(ranks)
                    }
                    Explicit {
                        start: Some(start),
                        stride: Some(stride),
                        size: Some(size),
                        ranks: None,
                    } => GroupSpec::Strided { start, stride, size },
                    _ => {
                        return Err(A::Error::custom(
                            "a group needs either `ranks`, or all of `start`, `stride` and `size`",
                        ));
                    }
                };
                // A world of any size would refuse these.
                if spec.resolve(u32::MAX).is_none() {
                    return Err(A::Error::custom("a group that is empty or names a rank twice"));
                }
                Ok(GroupValue(spec))
            }
        }
        deserializer.deserialize_any(GroupVisitor)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrManyVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrManyVisitor<T> {
            type Value = OneOrMany<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value or a list of values")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                T::deserialize(text.into_deserializer()).map(|value| OneOrMany(vec![value]))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
                T::deserialize(number.into_deserializer()).map(|value| OneOrMany(vec![value]))
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
                T::deserialize(number.into_deserializer()).map(|value| OneOrMany(vec![value]))
            }
            fn visit_bool<E: Error>(self, yes: bool) -> Result<Self::Value, E> {
                T::deserialize(yes.into_deserializer()).map(|value| OneOrMany(vec![value]))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(|value| OneOrMany(vec![value]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = seq.next_element()? {
                    values.push(value);
                }
                Ok(OneOrMany(values))
            }
        }
        deserializer.deserialize_any(OneOrManyVisitor(PhantomData))
    }
}

/// Hand-written schemas: these types accept several spellings.
macro_rules! schema {
    ($type:ty, $name:literal, $schema:tt) => {
        impl JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

schema!(ShapeValue, "Shape", {
    "description": "Rows x columns of a rank's input (output for scatter): 9x257 or {m: 9, n: 257}",
    "anyOf": [
        { "type": "string", "pattern": "^[0-9]+x[0-9]+$" },
        { "type": "object", "properties": { "m": { "type": "integer", "minimum": 0 }, "n": { "type": "integer", "minimum": 0 } }, "required": ["m", "n"], "additionalProperties": false }
    ]
});
schema!(TileValue, "Tile", {
    "description": "The variant's default, or rows x columns: 32x64 or {m: 32, n: 64}",
    "anyOf": [
        { "type": "string", "pattern": "^(default|[0-9]+x[0-9]+)$" },
        { "type": "object", "properties": { "m": { "type": "integer", "minimum": 1 }, "n": { "type": "integer", "minimum": 1 } }, "required": ["m", "n"], "additionalProperties": false }
    ]
});
schema!(BlocksValue, "Blocks", {
    "description": "Persistent thread blocks a rank, or the variant's default",
    "anyOf": [{ "type": "integer", "minimum": 1 }, { "const": "default" }]
});
schema!(DTypeValue, "DType", {
    "description": "Element type (fp16, half, bfloat16, float are read too)",
    "type": "string"
});
schema!(GroupValue, "Group", {
    "description": "Which ranks take part, in order",
    "anyOf": [
        { "enum": ["world", "evens", "odds", "pairs", "all_but_first", "all_but_last", "reversed", "single"] },
        { "type": "object", "properties": { "start": { "type": "integer" }, "stride": { "type": "integer", "minimum": 1 }, "size": { "type": "integer", "minimum": 1 } }, "required": ["start", "stride", "size"], "additionalProperties": false },
        { "type": "object", "properties": { "ranks": { "type": "array", "items": { "type": "integer" }, "minItems": 1, "uniqueItems": true } }, "required": ["ranks"], "additionalProperties": false }
    ]
});

impl<T: JsonSchema> JsonSchema for OneOrMany<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("OneOrMany_{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
    }
}

impl fmt::Display for TileValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("tdefault"),
            Some(tile) => write!(f, "t{tile}"),
        }
    }
}

impl fmt::Display for BlocksValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("bdefault"),
            Some(blocks) => write!(f, "b{blocks}"),
        }
    }
}
