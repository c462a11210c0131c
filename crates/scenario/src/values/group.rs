//! Groups: `world`, `{start: 0, stride: 2, size: 2}`, `{ranks: [3, 0, 2]}`.

use std::borrow::Cow;

use collectives::GroupSpec;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess};

use super::from_yaml::{FromYaml, deserialize, with_nearest};
use super::value::{Combination, Value};

/// Who takes part, before the number of ranks is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupValue(pub GroupSpec);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Explicit {
    start: Option<u32>,
    stride: Option<u32>,
    size: Option<u32>,
    ranks: Option<Vec<u32>>,
}

impl Explicit {
    fn spec(self) -> Result<GroupSpec, &'static str> {
        let spec = match self {
            Explicit { ranks: Some(ranks), start: None, stride: None, size: None } => {
                GroupSpec::Ranks(ranks)
            }
            Explicit {
                start: Some(start),
                stride: Some(stride),
                size: Some(size),
                ranks: None,
            } => GroupSpec::Strided { start, stride, size },
            _ => {
                return Err("a group needs either `ranks`, or all of `start`, `stride` and `size`");
            }
        };
        // A world of any size would refuse these.
        match spec.resolve(u32::MAX) {
            Some(_) => Ok(spec),
            None => Err("a group that is empty or names a rank twice"),
        }
    }
}

impl FromYaml for GroupValue {
    fn expected() -> String {
        "a group: world, {start: 0, stride: 2, size: 2} or {ranks: [3, 0, 2]}".into()
    }
    fn from_text(text: &str) -> Result<Self, String> {
        text.parse()
            .map(GroupValue)
            .map_err(|complaint| with_nearest(complaint, text, GroupSpec::NAMES))
    }
    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        let explicit = Explicit::deserialize(MapAccessDeserializer::new(map))?;
        explicit.spec().map(GroupValue).map_err(A::Error::custom)
    }
}

deserialize!(GroupValue);

impl Value for GroupValue {
    fn accepted() -> String {
        let names = GroupSpec::NAMES.map(|name| format!("`{name}`"));
        format!("{}, `{{start: 0, stride: 2, size: 2}}`, `{{ranks: [3, 0, 2]}}`", names.join(", "))
    }

    fn yaml(&self) -> String {
        self.0.to_string()
    }

    fn label(&self) -> String {
        match &self.0 {
            GroupSpec::Ranks(ranks) => {
                let ranks: Vec<String> = ranks.iter().map(u32::to_string).collect();
                format!("g{}", ranks.join("."))
            }
            GroupSpec::Strided { start, stride, size } => format!("g{start}+{stride}x{size}"),
            named => named.to_string().replace('_', ""),
        }
    }

    /// A group is told by its ranks: `evens` of two ranks is `single`.
    fn means(&self, _other: &Self, combination: Combination<'_>) -> bool {
        self.0.resolve(combination.ranks).as_ref() == Some(combination.group)
    }
}

impl JsonSchema for GroupValue {
    fn schema_name() -> Cow<'static, str> {
        "Group".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "enum": GroupSpec::NAMES },
                {
                    "type": "object",
                    "properties": {
                        "start": { "type": "integer" },
                        "stride": { "type": "integer", "minimum": 1 },
                        "size": { "type": "integer", "minimum": 1 }
                    },
                    "required": ["start", "stride", "size"],
                    "additionalProperties": false
                },
                {
                    "type": "object",
                    "properties": {
                        "ranks": {
                            "type": "array",
                            "items": { "type": "integer" },
                            "minItems": 1,
                            "uniqueItems": true
                        }
                    },
                    "required": ["ranks"],
                    "additionalProperties": false
                }
            ]
        })
    }
}
