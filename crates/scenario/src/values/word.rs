//! Values that are written as one word, one number, or a pair of rows and columns.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use kernels::symbols::nearest;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::value::Value;

/// A value that one word, number or pair spells.
pub trait Word: Sized {
    /// What may be written, in words.
    fn expected() -> String;
    /// Whether `{m: .., n: ..}` spells it, too.
    const IS_PAIR: bool = false;

    /// Reads a word; a message says what is wrong and what is accepted.
    fn from_text(text: &str) -> Result<Self, String>;

    /// Reads a pair of rows and columns.
    fn from_pair(_m: u64, _n: u64) -> Result<Self, String> {
        Err(format!("a map, expected {}", Self::expected()))
    }
}

/// Reads a [`Word`], so that an error keeps its place in the file.
pub(crate) struct WordVisitor<T>(PhantomData<T>);

impl<T> WordVisitor<T> {
    pub(crate) fn new() -> WordVisitor<T> {
        WordVisitor(PhantomData)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair {
    m: u64,
    n: u64,
}

impl<'de, T: Word> Visitor<'de> for WordVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&T::expected())
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        T::from_text(text).map_err(E::custom)
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        T::from_text(&number.to_string()).map_err(|reason| match T::IS_PAIR {
            // To YAML, 0x5 is the number five.
            true => E::custom(format!("{reason} (write 0xN in quotes: '0x{number:x}')")),
            false => E::custom(reason),
        })
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        match u64::try_from(number) {
            Ok(number) => self.visit_u64(number),
            Err(_) => T::from_text(&number.to_string()).map_err(E::custom),
        }
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        if !T::IS_PAIR {
            return Err(A::Error::custom(format!("a map, expected {}", T::expected())));
        }
        let pair = Pair::deserialize(MapAccessDeserializer::new(map))?;
        T::from_pair(pair.m, pair.n).map_err(A::Error::custom)
    }
}

/// A value, or `default`: what the kernel's manifest or the command line says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OrDefault<T>(pub Option<T>);

impl<T: Word> Word for OrDefault<T> {
    const IS_PAIR: bool = T::IS_PAIR;

    fn expected() -> String {
        format!("default, or {}", T::expected())
    }

    fn from_text(text: &str) -> Result<Self, String> {
        match text {
            "default" => Ok(OrDefault(None)),
            _ => T::from_text(text).map(|value| OrDefault(Some(value))),
        }
    }
    fn from_pair(m: u64, n: u64) -> Result<Self, String> {
        T::from_pair(m, n).map(|value| OrDefault(Some(value)))
    }
}

impl<'de, T: Word> Deserialize<'de> for OrDefault<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WordVisitor::new())
    }
}

impl<T: Word + Clone + fmt::Debug + fmt::Display + PartialEq + JsonSchema> Value for OrDefault<T> {
    fn accepted() -> String {
        format!("`default`, or {}", T::expected())
    }
    fn yaml(&self) -> String {
        match &self.0 {
            None => "default".into(),
            Some(value) => value.to_string(),
        }
    }
    fn label(&self) -> String {
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
