//! A scenario file as YAML says it. Unknown keys, wrong types and duplicates are errors.

use collectives::{Data, Layout, Op};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_yaml::Spanned;

use crate::case::Mode;
use crate::values::{BlocksValue, DTypeValue, GroupValue, OneOrMany, ShapeValue, TileValue};

/// One scenario file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScenarioFile {
    /// `theme/name`; ids begin with it.
    #[schemars(with = "String")]
    pub scenario: Spanned<String>,
    /// The kernel: searched beside this file, in --kernels, in kernels/, in the binary.
    #[schemars(with = "String")]
    pub kernel: Spanned<String>,
    /// Axes: every combination of their values is a case.
    #[serde(default)]
    pub matrix: Matrix,
    /// The variant.
    #[schemars(with = "Option<String>")]
    pub variant: Option<Spanned<String>>,
    /// How many ranks exist.
    #[schemars(with = "Option<u32>")]
    pub ranks: Option<Spanned<u32>>,
    /// Element type.
    #[schemars(with = "Option<DTypeValue>")]
    pub dtype: Option<Spanned<DTypeValue>>,
    /// The shape a rank.
    #[schemars(with = "Option<ShapeValue>")]
    pub shape: Option<Spanned<ShapeValue>>,
    /// The tile.
    #[schemars(with = "Option<TileValue>")]
    pub tile: Option<Spanned<TileValue>>,
    /// Thread blocks a rank.
    #[schemars(with = "Option<BlocksValue>")]
    #[serde(alias = "comm_sms")]
    pub blocks: Option<Spanned<BlocksValue>>,
    /// Threads a block, in place of the manifest's.
    #[schemars(with = "Option<u32>", range(min = 1, max = 1024))]
    pub threads: Option<Spanned<u32>>,
    /// Who takes part.
    #[schemars(with = "Option<GroupValue>")]
    pub group: Option<Spanned<GroupValue>>,
    /// Row padding and offsets.
    #[schemars(with = "Option<LayoutValue>")]
    pub layout: Option<Spanned<LayoutValue>>,
    /// Bytes of poison around regions.
    #[schemars(with = "Option<u64>")]
    pub guard_bytes: Option<Spanned<u64>>,
    /// The sequence of calls: a count, or what differs in each.
    #[schemars(with = "Option<CallsValue>")]
    pub calls: Option<Spanned<CallsValue>>,
    /// Input is the rank's own part of output, or output its own part of input.
    #[schemars(with = "Option<bool>")]
    pub in_place: Option<Spanned<bool>>,
    /// What inputs hold: keyed, bit_patterns or random.
    #[schemars(with = "Option<String>")]
    pub data: Option<Spanned<Data>>,
    /// The root, as a group rank; for rooted collectives.
    #[schemars(with = "Option<u32>")]
    pub root: Option<Spanned<u32>>,
    /// How a reduction combines: sum, prod, min, max, avg, premul_sum.
    #[schemars(with = "Option<String>")]
    pub op: Option<Spanned<Op>>,
    /// Rows that an all_to_all sends from each group rank to each.
    #[schemars(with = "Option<CountsValue>")]
    pub counts: Option<Spanned<CountsValue>>,
    /// The factors of a premultiplied sum, by group rank.
    #[schemars(with = "Option<Vec<i32>>")]
    pub scalars: Option<Spanned<Vec<i32>>>,
    /// The `epoch` of the first call, for counters that must pass 2^16 or 2^31.
    #[schemars(with = "Option<u32>")]
    pub first_epoch: Option<Spanned<u32>>,
    /// Key of the fill; `--seed` overrides it.
    #[schemars(with = "Option<u64>")]
    pub seed: Option<Spanned<u64>>,
    /// In which modes it runs; all of them where it is not said.
    pub modes: Option<Vec<Mode>>,
    /// At most this many blocks a rank resident at once, where ranks run at once; `--residency`
    /// overrides it.
    pub residency: Option<u32>,
    /// No element of an output may be written twice; a right case runs once more to see that.
    pub write_once: Option<bool>,
    /// Seconds a launch may take before its ranks are killed; `--timeout` overrides it.
    pub timeout: Option<u64>,
    /// Whether ranks that wait for each other, in processes of their own, may share a GPU: each
    /// wait costs milliseconds there, so that only a few cases should.
    #[serde(default)]
    pub shares_gpu: bool,
    /// Combinations that are left out.
    #[serde(default)]
    #[schemars(with = "Vec<Exclude>")]
    pub exclude: Vec<Spanned<Exclude>>,
    /// Thins the matrix.
    pub sample: Option<Sample>,
    /// Lifts the limit on the number of combinations to this.
    pub allow_cases: Option<usize>,
}

/// Row padding and offsets, as in the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LayoutValue {
    /// Of the input.
    pub input: RegionValue,
    /// Of the output.
    pub output: RegionValue,
}

/// Row padding and offset of one region, as in the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RegionValue {
    /// Elements between the end of a row and the start of the next.
    pub pad_columns: u64,
    /// Elements in front of element (0, 0).
    pub offset_elements: u64,
}

/// Axes; each list has at least one value, and each value its place in the file.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "the keys of the file, documented there")]
pub struct Matrix {
    #[schemars(with = "Option<Vec<String>>")]
    pub variant: Option<Vec<Spanned<String>>>,
    #[schemars(with = "Option<Vec<u32>>")]
    pub ranks: Option<Vec<Spanned<u32>>>,
    #[schemars(with = "Option<Vec<DTypeValue>>")]
    pub dtype: Option<Vec<Spanned<DTypeValue>>>,
    #[schemars(with = "Option<Vec<ShapeValue>>")]
    pub shape: Option<Vec<Spanned<ShapeValue>>>,
    #[schemars(with = "Option<Vec<TileValue>>")]
    pub tile: Option<Vec<Spanned<TileValue>>>,
    #[schemars(with = "Option<Vec<BlocksValue>>")]
    #[serde(alias = "comm_sms")]
    pub blocks: Option<Vec<Spanned<BlocksValue>>>,
    #[schemars(with = "Option<Vec<GroupValue>>")]
    pub group: Option<Vec<Spanned<GroupValue>>>,
    #[schemars(with = "Option<Vec<LayoutValue>>")]
    pub layout: Option<Vec<Spanned<LayoutValue>>>,
    #[schemars(with = "Option<Vec<u64>>")]
    pub guard_bytes: Option<Vec<Spanned<u64>>>,
    #[schemars(with = "Option<Vec<CallsValue>>")]
    pub calls: Option<Vec<Spanned<CallsValue>>>,
    #[schemars(with = "Option<Vec<bool>>")]
    pub in_place: Option<Vec<Spanned<bool>>>,
    #[schemars(with = "Option<Vec<String>>")]
    pub data: Option<Vec<Spanned<Data>>>,
    #[schemars(with = "Option<Vec<u32>>")]
    pub root: Option<Vec<Spanned<u32>>>,
    #[schemars(with = "Option<Vec<String>>")]
    pub op: Option<Vec<Spanned<Op>>>,
    #[schemars(with = "Option<Vec<CountsValue>>")]
    pub counts: Option<Vec<Spanned<CountsValue>>>,
    #[schemars(with = "Option<Vec<Vec<i32>>>")]
    pub scalars: Option<Vec<Spanned<Vec<i32>>>>,
    #[schemars(with = "Option<Vec<u32>>")]
    pub first_epoch: Option<Vec<Spanned<u32>>>,
    #[schemars(with = "Option<Vec<u64>>")]
    pub seed: Option<Vec<Spanned<u64>>>,
}

/// No case has more calls.
const MOST_CALLS: u32 = 1000;

/// A sequence of calls.
#[derive(Debug, Clone)]
pub enum CallsValue {
    /// So many, all alike.
    Count(u32),
    /// What differs in each.
    List(Vec<CallValue>),
}

/// What differs in a call; unset keys inherit.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CallValue {
    /// The shape.
    pub shape: Option<ShapeValue>,
    /// The tile.
    pub tile: Option<TileValue>,
    /// The blocks.
    pub blocks: Option<BlocksValue>,
    /// The group.
    pub group: Option<GroupValue>,
    /// The root.
    pub root: Option<u32>,
    /// The op.
    #[schemars(with = "Option<String>")]
    pub op: Option<Op>,
    /// Rows of an all_to_all.
    pub counts: Option<CountsValue>,
    /// Factors of a premultiplied sum.
    pub scalars: Option<Vec<i32>>,
    /// Row padding and offsets.
    pub layout: Option<LayoutValue>,
}

/// Rows that an all_to_all sends, by group rank.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CountsValue {
    /// All of M, or numbers from 0 to M drawn from the seed.
    #[default]
    Even,
    /// By name.
    Named(NamedCounts),
    /// One list a source, with one number a destination.
    List(Vec<Vec<u64>>),
}

/// Counts that fit any group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NamedCounts {
    /// M everywhere.
    Even,
    /// From 0 to M, drawn from the seed.
    Uneven,
}

/// Combinations to leave out: those that match all of `when`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exclude {
    /// Axis values; a list means any of them.
    pub when: When,
    /// Why.
    pub reason: String,
}

/// Axis values to match; a list means any of them.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "the keys of the file, documented there")]
pub struct When {
    pub variant: Option<OneOrMany<String>>,
    pub ranks: Option<OneOrMany<u32>>,
    pub dtype: Option<OneOrMany<DTypeValue>>,
    pub shape: Option<OneOrMany<ShapeValue>>,
    pub tile: Option<OneOrMany<TileValue>>,
    pub blocks: Option<OneOrMany<BlocksValue>>,
    pub group: Option<OneOrMany<GroupValue>>,
    pub in_place: Option<OneOrMany<bool>>,
    #[schemars(with = "Option<OneOrMany<String>>")]
    pub op: Option<OneOrMany<Op>>,
}

/// Thins a matrix.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sample {
    /// Keeps a part in which every pair of axis values occurs; the number seeds the choice.
    Pairwise(u64),
}

impl<'de> Deserialize<'de> for CallsValue {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = CallsValue;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number of calls, or a list such as [{}, {shape: 1x7}]")
            }
            fn visit_u64<E: serde::de::Error>(self, count: u64) -> Result<CallsValue, E> {
                match u32::try_from(count) {
                    Ok(count @ 1..=MOST_CALLS) => Ok(CallsValue::Count(count)),
                    _ => Err(E::custom(format!("{count} calls (1 to {MOST_CALLS})"))),
                }
            }
            fn visit_i64<E: serde::de::Error>(self, count: i64) -> Result<CallsValue, E> {
                self.visit_u64(count.max(0) as u64)
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut seq: A,
            ) -> Result<CallsValue, A::Error> {
                let mut calls = Vec::new();
                while let Some(call) = seq.next_element()? {
                    calls.push(call);
                }
                match calls.is_empty() {
                    true => Err(serde::de::Error::custom("an empty list of calls")),
                    false => Ok(CallsValue::List(calls)),
                }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for CallsValue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Calls".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let call = generator.subschema_for::<CallValue>();
        schemars::json_schema!({
            "description": "The sequence of calls on the same heaps: a count, or what differs in each",
            "anyOf": [
                { "type": "integer", "minimum": 1 },
                { "type": "array", "items": call, "minItems": 1 }
            ]
        })
    }
}

impl From<LayoutValue> for Layout {
    fn from(value: LayoutValue) -> Layout {
        let region = |RegionValue { pad_columns, offset_elements }: RegionValue| {
            collectives::RegionLayout { pad_columns, offset_elements }
        };
        Layout { input: region(value.input), output: region(value.output) }
    }
}
