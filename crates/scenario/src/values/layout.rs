//! Row padding and offsets.

use collectives::{Layout, RegionLayout};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::MapAccess;
use serde::de::value::MapAccessDeserializer;

use super::from_yaml::FromYaml;
use super::value::Value;

/// Row padding and offsets of the two regions that every rank owns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Layout")]
pub struct LayoutValue {
    /// Row padding and offset of the input.
    pub input: RegionValue,
    /// Row padding and offset of the output.
    pub output: RegionValue,
}

/// Row padding and offset of one region.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "RegionLayout")]
pub struct RegionValue {
    /// Elements between the end of a row and the start of the next.
    pub pad_columns: u64,
    /// Elements in front of element (0, 0).
    pub offset_elements: u64,
}

impl From<RegionValue> for RegionLayout {
    fn from(RegionValue { pad_columns, offset_elements }: RegionValue) -> RegionLayout {
        RegionLayout { pad_columns, offset_elements }
    }
}

impl From<LayoutValue> for Layout {
    fn from(LayoutValue { input, output }: LayoutValue) -> Layout {
        Layout { input: input.into(), output: output.into() }
    }
}

impl FromYaml for LayoutValue {
    fn expected() -> String {
        "a layout: {input: {pad_columns: 3, offset_elements: 1}, output: {..}}".into()
    }
    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        LayoutValue::deserialize(MapAccessDeserializer::new(map))
    }
}

impl Value for LayoutValue {
    fn accepted() -> String {
        "`{input: {pad_columns: 3, offset_elements: 1}, output: {..}}`, every part of which may be left out".into()
    }
    fn yaml(&self) -> String {
        let region = |RegionValue { pad_columns, offset_elements }: RegionValue| {
            format!("{{pad_columns: {pad_columns}, offset_elements: {offset_elements}}}")
        };
        format!("{{input: {}, output: {}}}", region(self.input), region(self.output))
    }
    fn label(&self) -> String {
        let region = |name: &str, RegionValue { pad_columns, offset_elements }: RegionValue| {
            format!("{name}+{pad_columns}@{offset_elements}")
        };
        format!("{},{}", region("in", self.input), region("out", self.output))
    }
}
