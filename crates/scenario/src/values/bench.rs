//! How a case is timed: its arms, and how often and in which state each is run.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, SeqAccess};

use super::from_yaml::{FromYaml, deserialize, elements};
use super::value::{Value, scalar};

/// How a case is timed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Bench")]
pub struct BenchValue {
    /// What is compared; the first is the base. Empty: every variant of the matrix.
    pub arms: ArmsValue,
    /// Iterations in front of the first sample of a run.
    pub warmup: u32,
    /// Samples of a run.
    pub iterations: u32,
    /// Blocks of a fresh launch; in each every arm runs twice.
    pub blocks: u32,
    /// Fresh launches of all processes.
    pub launches: u32,
    /// What the caches hold when an iteration begins.
    pub cache: CacheValue,
    /// After which iterations all heaps are compared; always after the last one of a run.
    pub verify: VerifyValue,
}

impl Default for BenchValue {
    fn default() -> BenchValue {
        BenchValue {
            arms: ArmsValue::default(),
            warmup: 5,
            iterations: 20,
            blocks: 4,
            launches: 3,
            cache: CacheValue::default(),
            verify: VerifyValue::default(),
        }
    }
}

/// What the caches hold when an iteration begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Cache")]
pub enum CacheValue {
    /// Nothing of the heaps.
    #[default]
    Cold,
    /// What filling the heaps left there.
    Warm,
}

/// After which iterations all heaps are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Verify")]
pub enum VerifyValue {
    /// After every one.
    #[default]
    Every,
    /// After the last one of each run, and others that a seed draws.
    Drawn,
}

impl CacheValue {
    const fn name(self) -> &'static str {
        match self {
            CacheValue::Cold => "cold",
            CacheValue::Warm => "warm",
        }
    }
}

impl VerifyValue {
    const fn name(self) -> &'static str {
        match self {
            VerifyValue::Every => "every",
            VerifyValue::Drawn => "drawn",
        }
    }
}

/// The arms of a benchmark, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArmsValue(pub Vec<ArmValue>);

/// One side of a comparison: a kernel's variant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Arm")]
pub struct ArmValue {
    /// What it is called; without one, as what it is.
    pub name: Option<String>,
    /// The kernel, where it is not the scenario's.
    pub kernel: Option<String>,
    /// The kernel's variant; without one, the kernel's first.
    pub variant: Option<String>,
}

impl ArmValue {
    /// The arm of a variant of the scenario's kernel.
    pub fn variant(name: &str) -> ArmValue {
        ArmValue { variant: Some(name.to_owned()), ..ArmValue::default() }
    }

    /// What it is called.
    pub fn shown(&self) -> String {
        let ArmValue { name, kernel, variant } = self;
        let what = [kernel.as_deref(), variant.as_deref()];
        let spelled = || what.into_iter().flatten().collect::<Vec<_>>().join(".");
        name.clone().unwrap_or_else(spelled)
    }

    fn yaml(&self) -> String {
        let ArmValue { name, kernel, variant } = self;
        let parts = [
            name.as_deref().map(|name| ("name", scalar(name))),
            kernel.as_deref().map(|kernel| ("kernel", scalar(kernel))),
            variant.as_deref().map(|variant| ("variant", scalar(variant))),
        ];
        let parts: Vec<String> =
            parts.into_iter().flatten().map(|(key, value)| format!("{key}: {value}")).collect();
        format!("{{{}}}", parts.join(", "))
    }

    fn check(self) -> Result<ArmValue, String> {
        match self.kernel.is_none() && self.variant.is_none() {
            true => Err("an arm states `kernel` or `variant`, or both".to_owned()),
            false => Ok(self),
        }
    }
}

/// One entry of `arms`.
struct Entry(ArmValue);

impl FromYaml for Entry {
    fn expected() -> String {
        "the name of a variant, or {name: .., kernel: .., variant: ..}".into()
    }
    fn from_text(text: &str) -> Result<Self, String> {
        Ok(Entry(ArmValue::variant(text)))
    }
    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        let arm = ArmValue::deserialize(MapAccessDeserializer::new(map))?;
        arm.check().map(Entry).map_err(A::Error::custom)
    }
}

impl FromYaml for ArmsValue {
    fn expected() -> String {
        format!("a list of arms, each {}", Entry::expected())
    }
    fn from_list<'de, A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        let arms: Vec<Entry> = elements(list)?;
        let arms: Vec<ArmValue> = arms.into_iter().map(|Entry(arm)| arm).collect();
        let mut names = BTreeSet::new();
        match arms.iter().map(ArmValue::shown).find(|name| !names.insert(name.clone())) {
            Some(twice) => Err(A::Error::custom(format!("two arms are called `{twice}`"))),
            None => Ok(ArmsValue(arms)),
        }
    }
}

deserialize!(Entry, ArmsValue);

impl JsonSchema for ArmsValue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Arms".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let arm = generator.subschema_for::<ArmValue>();
        schemars::json_schema!({
            "type": "array",
            "items": { "anyOf": [{ "type": "string" }, arm] }
        })
    }
}

impl FromYaml for BenchValue {
    fn expected() -> String {
        "how to time: {arms: [..], warmup: 5, iterations: 20, blocks: 4, launches: 3, ..}".into()
    }
    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        let bench = BenchValue::deserialize(MapAccessDeserializer::new(map))?;
        let BenchValue { iterations, blocks, launches, .. } = bench;
        for (name, count) in
            [("iterations", iterations), ("blocks", blocks), ("launches", launches)]
        {
            if count == 0 {
                return Err(A::Error::custom(format!("`{name}: 0` measures nothing (at least 1)")));
            }
        }
        Ok(bench)
    }
}

impl Value for BenchValue {
    fn accepted() -> String {
        "`{arms: [base, {name: other, kernel: all_gather/pull, variant: base}], \
         warmup: 5, iterations: 20, blocks: 4, launches: 3, cache: cold, verify: every}`, every part \
         of which may be left out; `cache` is `cold` or `warm`, `verify` is `every` or `drawn`"
            .into()
    }
    fn yaml(&self) -> String {
        let BenchValue { arms, warmup, iterations, blocks, launches, cache, verify } = self;
        let arms: Vec<String> = arms.0.iter().map(ArmValue::yaml).collect();
        format!(
            "{{arms: [{}], warmup: {warmup}, iterations: {iterations}, blocks: {blocks}, \
             launches: {launches}, cache: {}, verify: {}}}",
            arms.join(", "),
            cache.name(),
            verify.name()
        )
    }
}
