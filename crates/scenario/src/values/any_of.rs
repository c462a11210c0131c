//! One value or a list of values, as `exclude.when` takes them.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{MapAccess, SeqAccess};
use serde::{Deserialize, Deserializer};

use super::from_yaml::{FromYaml, elements, read};
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

impl<T: Value> FromYaml for AnyOf<T> {
    fn expected() -> String {
        format!("{}, or a list that means any of its elements", T::expected())
    }
    fn from_text(text: &str) -> Result<Self, String> {
        T::from_text(text).map(|value| AnyOf(vec![value]))
    }
    fn from_number(number: i128) -> Result<Self, String> {
        T::from_number(number).map(|value| AnyOf(vec![value]))
    }
    fn from_bool(yes: bool) -> Result<Self, String> {
        T::from_bool(yes).map(|value| AnyOf(vec![value]))
    }
    fn from_list<'de, A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        elements(list).map(AnyOf)
    }
    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        T::from_map(map).map(|value| AnyOf(vec![value]))
    }
}

impl<'de, T: Value> Deserialize<'de> for AnyOf<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer)
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
