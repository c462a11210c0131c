//! A value together with its place in the file.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};
use serde_yaml::Spanned;

/// A line and a column of a scenario file, both from 1; both are 0 where a value stands in no file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// The line, from 1; 0 where the value stands in no file.
    pub line: u64,
    /// The column, from 1; 0 where the value stands in no file.
    pub column: u64,
}

impl Place {
    /// Whether the value was written in a file. A default was not.
    pub fn is_known(self) -> bool {
        self.line > 0
    }
}

/// A value and where it stands. Two placed values are equal if their values are, wherever they stand.
#[derive(Debug, Clone, Copy, Default)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// Where it stands in its file; unknown for a default.
    pub place: Place,
}

impl<T> From<T> for Placed<T> {
    fn from(value: T) -> Placed<T> {
        Placed { value, place: Place::default() }
    }
}

impl<T: PartialEq> PartialEq for Placed<T> {
    fn eq(&self, other: &Placed<T>) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Placed<T> {}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Placed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned { value, referenced, .. } = Spanned::deserialize(deserializer)?;
        let place = Place { line: referenced.line(), column: referenced.column() };
        Ok(Placed { value, place })
    }
}

/// To a schema, a placed value is the value.
impl<T: JsonSchema> JsonSchema for Placed<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
