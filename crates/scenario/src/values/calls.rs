//! A sequence of calls on the same heaps: a number, or what differs in each.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::value::Value;
use crate::keys::CallKeys;

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

impl<'de> Deserialize<'de> for CallsValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Calls;
        impl<'de> Visitor<'de> for Calls {
            type Value = CallsValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of calls, or a list such as [{}, {shape: 1x7}]")
            }
            fn visit_u64<E: Error>(self, count: u64) -> Result<CallsValue, E> {
                match u32::try_from(count) {
                    Ok(count @ 1..=MOST_CALLS) => Ok(CallsValue::Count(count)),
                    _ => Err(E::custom(format!("{count} calls (1 to {MOST_CALLS})"))),
                }
            }
            fn visit_i64<E: Error>(self, count: i64) -> Result<CallsValue, E> {
                match u64::try_from(count) {
                    Ok(count) => self.visit_u64(count),
                    Err(_) => Err(E::custom(format!("{count} calls (1 to {MOST_CALLS})"))),
                }
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<CallsValue, A::Error> {
                let mut calls = Vec::new();
                while let Some(call) = seq.next_element()? {
                    calls.push(call);
                }
                match calls.is_empty() {
                    true => Err(Error::custom("an empty list of calls")),
                    false => Ok(CallsValue::List(calls)),
                }
            }
        }
        deserializer.deserialize_any(Calls)
    }
}

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
