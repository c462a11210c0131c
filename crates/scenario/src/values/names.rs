//! Values that stand for one of a few names: element types, ops, what inputs hold, modes.

use std::borrow::Cow;

use collectives::{DType, Data, Op};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::SeqAccess;

use super::from_yaml::{FromYaml, deserialize, elements, with_nearest};
use super::value::{Value, scalar};
use crate::mode::Mode;

/// The name of a variant, as the kernel's manifest gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariantName(pub String);

/// An element type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DTypeValue(pub DType);

/// How a reduction combines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpValue(pub Op);

/// What inputs hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataValue(pub Data);

/// In which modes a case runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModesValue(pub Vec<Mode>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ModeValue(Mode);

impl FromYaml for VariantName {
    fn expected() -> String {
        "the name of a variant".into()
    }
    fn from_text(text: &str) -> Result<Self, String> {
        Ok(VariantName(text.to_owned()))
    }
}

impl Value for VariantName {
    fn accepted() -> String {
        "the name of one of the kernel's variants".into()
    }
    fn yaml(&self) -> String {
        scalar(&self.0)
    }
    fn label(&self) -> String {
        self.0.clone()
    }
}

impl JsonSchema for VariantName {
    fn schema_name() -> Cow<'static, str> {
        "Variant".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

const DATA: [Data; 3] = [Data::Keyed, Data::BitPatterns, Data::Random];

const fn data_name(data: Data) -> &'static str {
    match data {
        Data::Keyed => "keyed",
        Data::BitPatterns => "bit_patterns",
        Data::Random => "random",
    }
}

/// A type that stands for one of a few names.
macro_rules! named {
    ($($type:ident($inner:ty), $title:literal, $article:literal: $all:expr, $name:expr, $parse:expr;)*) => {$(
        impl FromYaml for $type {
            fn expected() -> String {
                let names: Vec<&str> = $all.into_iter().map($name).collect();
                format!(concat!($article, ": {}"), names.join(", "))
            }
            fn from_text(text: &str) -> Result<Self, String> {
                let parsed: Result<$inner, String> = $parse(text);
                parsed
                    .map($type)
                    .map_err(|complaint| with_nearest(complaint, text, $all.into_iter().map($name)))
            }
        }

        deserialize!($type);

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $title.into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let names: Vec<&str> = $all.into_iter().map($name).collect();
                json_schema!({ "enum": names })
            }
        }

        impl Value for $type {
            fn accepted() -> String {
                let names: Vec<String> =
                    $all.into_iter().map(|value| format!("`{}`", $name(value))).collect();
                names.join(", ")
            }
            fn yaml(&self) -> String {
                $name(self.0).to_owned()
            }
        }
    )*};
}

named! {
    OpValue(Op), "Op", "an op": Op::ALL, Op::name, str::parse;
    DataValue(Data), "Data", "what inputs hold": DATA, data_name, parse_data;
    ModeValue(Mode), "Mode", "a mode": Mode::ALL, Mode::name, str::parse;
}

fn parse_data(text: &str) -> Result<Data, String> {
    let names = DATA.map(data_name).join(", ");
    let found = DATA.into_iter().find(|data| data_name(*data) == text);
    found.ok_or_else(|| format!("unknown data `{text}`, expected one of {names}"))
}

impl FromYaml for DTypeValue {
    fn expected() -> String {
        "an element type such as f16".into()
    }
    fn from_text(text: &str) -> Result<Self, String> {
        let names = DType::ALL.into_iter().map(DType::name);
        text.parse().map(DTypeValue).map_err(|complaint| with_nearest(complaint, text, names))
    }
}

deserialize!(VariantName, DTypeValue, ModesValue);

impl JsonSchema for DTypeValue {
    fn schema_name() -> Cow<'static, str> {
        "DType".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // Other spellings are read, too.
        json_schema!({ "type": "string", "examples": DType::ALL.map(DType::name) })
    }
}

impl Value for DTypeValue {
    fn accepted() -> String {
        let names = DType::ALL.map(|dtype| format!("`{}`", dtype.name()));
        format!(
            "{}; `fp16`, `half`, `bfloat16`, `float` and the like are read, too",
            names.join(", ")
        )
    }
    fn yaml(&self) -> String {
        self.0.name().to_owned()
    }
}

impl FromYaml for ModesValue {
    fn expected() -> String {
        "a list of modes such as [logical, process]".into()
    }
    fn from_list<'de, A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        let modes: Vec<ModeValue> = elements(list)?;
        Ok(ModesValue(modes.into_iter().map(|ModeValue(mode)| mode).collect()))
    }
}

impl JsonSchema for ModesValue {
    fn schema_name() -> Cow<'static, str> {
        "Modes".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mode = generator.subschema_for::<ModeValue>();
        json_schema!({ "type": "array", "items": mode })
    }
}

impl Value for ModesValue {
    fn accepted() -> String {
        format!("a list of {}", ModeValue::accepted())
    }
    fn yaml(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|mode| mode.name()).collect();
        format!("[{}]", names.join(", "))
    }
}
