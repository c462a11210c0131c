//! How a value is read: from a word, a number, a list or a map, always with an error at its own place.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use kernels::symbols::nearest;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::value::Value;

/// A value that YAML spells in one or several ways; each way that a type does not take is refused.
pub trait FromYaml: Sized {
    /// What may be written, in words.
    fn expected() -> String;

    /// Reads a word. The message says what is wrong and what is accepted.
    fn from_text(text: &str) -> Result<Self, String> {
        Err(format!("`{text}`, expected {}", Self::expected()))
    }

    /// Reads a whole number.
    fn from_number(number: i128) -> Result<Self, String> {
        Self::from_text(&number.to_string())
    }

    /// Reads `true` or `false`.
    fn from_bool(yes: bool) -> Result<Self, String> {
        Self::from_text(&yes.to_string())
    }

    /// Reads a list.
    fn from_list<'de, A: SeqAccess<'de>>(_list: A) -> Result<Self, A::Error> {
        Err(A::Error::custom(format!("a list, expected {}", Self::expected())))
    }

    /// Reads a map.
    fn from_map<'de, A: MapAccess<'de>>(_map: A) -> Result<Self, A::Error> {
        Err(A::Error::custom(format!("a map, expected {}", Self::expected())))
    }
}

/// Reads a value in any of its spellings.
pub(crate) fn read<'de, T: FromYaml, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_any(Spellings(PhantomData))
}

struct Spellings<T>(PhantomData<T>);

/// The parser places `custom` errors at the value; those of serde's own kinds stand at the key in front
/// of it. So nothing is left to a visitor's defaults.
impl<'de, T: FromYaml> Visitor<'de> for Spellings<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&T::expected())
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        T::from_text(text).map_err(E::custom)
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        T::from_number(number.into()).map_err(E::custom)
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        T::from_number(number.into()).map_err(E::custom)
    }
    fn visit_bool<E: Error>(self, yes: bool) -> Result<T, E> {
        T::from_bool(yes).map_err(E::custom)
    }
    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        Err(E::custom(format!("the number {number:e}, expected {}", T::expected())))
    }
    fn visit_unit<E: Error>(self) -> Result<T, E> {
        Err(E::custom(format!("nothing, expected {}", T::expected())))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
        T::from_list(list)
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::from_map(map)
    }
}

/// Reads all elements of a list.
pub(crate) fn elements<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(
    mut list: A,
) -> Result<Vec<T>, A::Error> {
    let mut elements = Vec::new();
    while let Some(element) = list.next_element()? {
        elements.push(element);
    }
    Ok(elements)
}

/// Reads `{m: .., n: ..}`.
pub(crate) fn pair<'de, A: MapAccess<'de>>(map: A) -> Result<[u64; 2], A::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Pair {
        m: u64,
        n: u64,
    }
    let Pair { m, n } = Pair::deserialize(MapAccessDeserializer::new(map))?;
    Ok([m, n])
}

/// Serde's own reading of a value, by way of [`read`].
macro_rules! deserialize {
    ($($type:ty),*) => {$(
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::values::read(deserializer)
            }
        }
    )*};
}

pub(crate) use deserialize;

/// A value, or `default`: what the kernel's manifest or the command line says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OrDefault<T>(pub Option<T>);

impl<T: FromYaml> FromYaml for OrDefault<T> {
    fn expected() -> String {
        format!("default, or {}", T::expected())
    }
    fn from_text(text: &str) -> Result<Self, String> {
        match text {
            "default" => Ok(OrDefault(None)),
            _ => T::from_text(text).map(|value| OrDefault(Some(value))),
        }
    }
    fn from_number(number: i128) -> Result<Self, String> {
        T::from_number(number).map(|value| OrDefault(Some(value)))
    }
    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        T::from_map(map).map(|value| OrDefault(Some(value)))
    }
}

impl<'de, T: FromYaml> Deserialize<'de> for OrDefault<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer)
    }
}

impl<T: FromYaml + Clone + fmt::Debug + fmt::Display + PartialEq + JsonSchema> Value
    for OrDefault<T>
{
    fn accepted() -> String {
        format!("`default`, or {}", T::expected())
    }
    fn yaml(&self) -> String {
        self.0.as_ref().map_or("default".into(), T::to_string)
    }
}

impl<T: JsonSchema> JsonSchema for OrDefault<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}OrDefault", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [value, { "const": "default" }] })
    }
}

/// The complaint about a word that is none of `names`, with the nearest of them.
pub(crate) fn with_nearest<'a>(
    complaint: String,
    text: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> String {
    format!("{complaint} (did you mean `{}`?)", nearest(text, names.into_iter()))
}
