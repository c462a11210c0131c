//! Rows of an uneven all_to_all, and the factors of a premultiplied sum.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::value::Value;
use super::word::with_nearest;

/// Rows that an all_to_all sends, by group rank.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CountsValue {
    /// M rows from each to each.
    #[default]
    Even,
    /// From 0 to M rows, drawn from the seed.
    Uneven,
    /// One list a source, with one number of rows a destination.
    List(Vec<Vec<u64>>),
}

/// The factors of a premultiplied sum, by group rank. An empty list stands for 2, 1, 2, 1, ..
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScalarsValue(pub Vec<i32>);

const NAMES: [&str; 2] = ["even", "uneven"];
const COUNTS: &str = "even, uneven, or one list of numbers a source such as [[1, 2], [0, 3]]";

impl<'de> Deserialize<'de> for CountsValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Counts;
        impl<'de> Visitor<'de> for Counts {
            type Value = CountsValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(COUNTS)
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<CountsValue, E> {
                match text {
                    "even" => Ok(CountsValue::Even),
                    "uneven" => Ok(CountsValue::Uneven),
                    _ => {
                        let complaint = format!("unknown counts `{text}`, expected {COUNTS}");
                        Err(E::custom(with_nearest(complaint, text, NAMES)))
                    }
                }
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<CountsValue, A::Error> {
                let mut lists = Vec::new();
                while let Some(list) = seq.next_element()? {
                    lists.push(list);
                }
                Ok(CountsValue::List(lists))
            }
        }
        deserializer.deserialize_any(Counts)
    }
}

impl Value for CountsValue {
    fn accepted() -> String {
        "`even`, `uneven` (drawn from the seed), or one list a source with one number a destination: `[[1, 2], [0, 3]]`".into()
    }
    fn yaml(&self) -> String {
        match self {
            CountsValue::Even => "even".into(),
            CountsValue::Uneven => "uneven".into(),
            CountsValue::List(lists) => format!("{lists:?}"),
        }
    }
    fn label(&self) -> String {
        let numbers =
            |list: &Vec<u64>| list.iter().map(u64::to_string).collect::<Vec<_>>().join(".");
        match self {
            CountsValue::Even => "even".into(),
            CountsValue::Uneven => "uneven".into(),
            CountsValue::List(lists) => lists.iter().map(numbers).collect::<Vec<_>>().join("_"),
        }
    }
}

impl JsonSchema for CountsValue {
    fn schema_name() -> Cow<'static, str> {
        "Counts".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "enum": NAMES },
                {
                    "type": "array",
                    "items": { "type": "array", "items": { "type": "integer", "minimum": 0 } }
                }
            ]
        })
    }
}

impl<'de> Deserialize<'de> for ScalarsValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Scalars;
        impl<'de> Visitor<'de> for Scalars {
            type Value = ScalarsValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of whole numbers such as [2, -1], one a member of the group")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<ScalarsValue, A::Error> {
                let mut factors = Vec::new();
                while let Some(factor) = seq.next_element()? {
                    factors.push(factor);
                }
                Ok(ScalarsValue(factors))
            }
        }
        deserializer.deserialize_seq(Scalars)
    }
}

impl Value for ScalarsValue {
    fn accepted() -> String {
        "a list with a whole number other than 0 for each member: `[2, -1]`; an empty list stands for 2, 1, 2, 1, ..".into()
    }
    fn yaml(&self) -> String {
        format!("{:?}", self.0)
    }
    fn label(&self) -> String {
        self.0.iter().map(i32::to_string).collect::<Vec<_>>().join(".")
    }
}

impl JsonSchema for ScalarsValue {
    fn schema_name() -> Cow<'static, str> {
        "Scalars".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "array", "items": { "type": "integer" } })
    }
}
