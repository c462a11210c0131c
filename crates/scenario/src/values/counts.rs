//! Rows of an uneven all_to_all, and the factors of a premultiplied sum.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::SeqAccess;

use super::from_yaml::{FromYaml, deserialize, elements, with_nearest};
use super::value::Value;

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

impl FromYaml for CountsValue {
    fn expected() -> String {
        "even, uneven, or one list of numbers a source such as [[1, 2], [0, 3]]".into()
    }
    fn from_text(text: &str) -> Result<Self, String> {
        match text {
            "even" => Ok(CountsValue::Even),
            "uneven" => Ok(CountsValue::Uneven),
            _ => {
                let expected = CountsValue::expected();
                let complaint = format!("unknown counts `{text}`, expected {expected}");
                Err(with_nearest(complaint, text, NAMES))
            }
        }
    }
    fn from_list<'de, A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        let lists: Vec<Numbers> = elements(list)?;
        Ok(CountsValue::List(lists.into_iter().map(|Numbers(list)| list).collect()))
    }
}

/// Rows that one source sends.
struct Numbers(Vec<u64>);

impl FromYaml for Numbers {
    fn expected() -> String {
        "a list with one number a destination".into()
    }
    fn from_list<'de, A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        elements(list).map(Numbers)
    }
}

deserialize!(CountsValue, Numbers, ScalarsValue);

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

impl FromYaml for ScalarsValue {
    fn expected() -> String {
        "a list of whole numbers such as [2, -1], one a member of the group".into()
    }
    fn from_list<'de, A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        elements(list).map(ScalarsValue)
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
