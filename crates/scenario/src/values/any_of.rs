//! One value or a list of values, as `exclude.when` takes them.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::value::{Combination, Value};

/// One value, or a list that means any of its elements. A value that is a list itself, such as
/// `scalars`, stands in a list: `[[2, 3]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct AnyOf<T>(pub Vec<T>);

impl<T: Value> AnyOf<T> {
    /// Whether any of the values means the value `other` of a combination.
    pub(crate) fn mean(&self, other: &T, combination: Combination<'_>) -> bool {
        self.0.iter().any(|value| value.means(other, combination))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for AnyOf<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyOfVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for AnyOfVisitor<T> {
            type Value = AnyOf<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value, or a list that means any of its values")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                T::deserialize(text.into_deserializer()).map(|value| AnyOf(vec![value]))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
                T::deserialize(number.into_deserializer()).map(|value| AnyOf(vec![value]))
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
                T::deserialize(number.into_deserializer()).map(|value| AnyOf(vec![value]))
            }
            fn visit_bool<E: Error>(self, yes: bool) -> Result<Self::Value, E> {
                T::deserialize(yes.into_deserializer()).map(|value| AnyOf(vec![value]))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(|value| AnyOf(vec![value]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = seq.next_element()? {
                    values.push(value);
                }
                Ok(AnyOf(values))
            }
        }
        deserializer.deserialize_any(AnyOfVisitor(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for AnyOf<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("AnyOf_{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
    }
}
