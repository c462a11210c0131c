//! A sequence of calls on the same heaps: a number, or what differs in each.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, SeqAccess};

use super::model::CallKeys;
use crate::values::{FromYaml, Value, deserialize, elements};

/// No case has more calls.
pub const MOST_CALLS: u32 = 1000;

/// A sequence of calls.
#[derive(Debug, Clone, PartialEq)]
pub enum CallsValue {
    /// This many, all alike.
    Count(u32),
    /// What differs in each; keys that a call does not state are the case's.
    List(Vec<CallKeys>),
}

impl FromYaml for CallsValue {
    fn expected() -> String {
        "a number of calls, or a list such as [{}, {shape: 1x7}]".into()
    }
    fn from_number(number: i128) -> Result<Self, String> {
        match u32::try_from(number) {
            Ok(count @ 1..=MOST_CALLS) => Ok(CallsValue::Count(count)),
            _ => Err(format!("{number} calls (1 to {MOST_CALLS})")),
        }
    }
    fn from_list<'de, A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        let calls: Vec<CallKeys> = elements(list)?;
        match calls.is_empty() {
            true => Err(Error::custom("an empty list of calls")),
            false => Ok(CallsValue::List(calls)),
        }
    }
}

deserialize!(CallsValue);

impl Value for CallsValue {
    fn accepted() -> String {
        format!(
            "a number from 1 to {MOST_CALLS}, or a list of what differs in each call: `[{{}}, {{shape: 1x7}}]`"
        )
    }
    fn yaml(&self) -> String {
        match self {
            CallsValue::Count(count) => count.to_string(),
            CallsValue::List(calls) => {
                let calls: Vec<String> = calls.iter().map(CallKeys::yaml).collect();
                format!("[{}]", calls.join(", "))
            }
        }
    }
    fn label(&self) -> String {
        match self {
            CallsValue::Count(count) => count.to_string(),
            CallsValue::List(calls) => {
                calls.iter().map(CallKeys::label).collect::<Vec<_>>().join("+")
            }
        }
    }
}

impl JsonSchema for CallsValue {
    fn schema_name() -> Cow<'static, str> {
        "Calls".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let call = generator.subschema_for::<CallKeys>();
        json_schema!({
            "anyOf": [
                { "type": "integer", "minimum": 1, "maximum": MOST_CALLS },
                { "type": "array", "items": call, "minItems": 1 }
            ]
        })
    }
}
