//! The keys of a manifest, as they are read.

use std::collections::BTreeMap;

use collectives::{BetweenCalls, Collective, DType, Init, Judge, Op, Tile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arguments::ArgumentSpec;
use super::device::DeviceName;
use super::reduction::ReductionSpec;
use super::scalar::ScalarType;
use super::steps::Step;
use crate::expression::Expression;

/// A kernel's manifest, as its author writes it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// `folder/name`, as scenarios refer to it.
    pub kernel: String,
    /// What it claims to do.
    #[serde(deserialize_with = "collective")]
    #[schemars(with = "String")]
    pub collective: Collective,
    /// HIP or CUDA C++ source, beside the manifest. Without source and object, and with
    /// `devices: []`, the manifest speaks for a kernel that a host program launches.
    pub source: Option<String>,
    /// Compiled objects beside the manifest, by architecture (`sm_90`, `gfx950`); the key
    /// `metadata` names what Triton wrote beside them.
    pub object: Option<BTreeMap<String, String>>,
    /// Where it can run.
    #[serde(default = "every_device")]
    pub devices: Vec<DeviceName>,
    /// Which groups it can serve.
    #[serde(default)]
    pub groups: Groups,
    /// What else it needs.
    #[serde(default)]
    pub requires: Vec<Requirement>,
    /// Grid and block.
    pub launch: Launch,
    /// Preprocessor definitions on every device.
    #[serde(default)]
    pub defines: BTreeMap<String, Define>,
    /// More definitions on one device.
    #[serde(default)]
    pub specialise: BTreeMap<DeviceName, BTreeMap<String, Define>>,
    /// What stands in for inline assembly on the CPU, by its instructions: a statement in which
    /// `%0`, `%1`, .. are the operands.
    #[serde(default)]
    pub hooks: BTreeMap<String, String>,
    /// Named entries.
    pub variants: BTreeMap<String, Variant>,
    /// Whether input may lie in output, where the collective allows it.
    #[serde(default = "yes")]
    pub in_place: bool,
    /// Whether a rank may begin its next call when its own call has ended, as on a stream, whatever its peers do.
    /// Where not, whoever calls the kernel waits for all ranks in between. Kernels that do not wait for peers
    /// are called so anyway.
    #[serde(default = "yes")]
    pub overlap: bool,
    /// Which ops it can do; all of them where it is not said.
    #[schemars(with = "Option<Vec<String>>")]
    pub ops: Option<Vec<Op>>,
    /// Which element types it can serve; all of them where it is not said.
    #[schemars(with = "Option<Vec<String>>")]
    pub dtypes: Option<Vec<DType>>,
    /// What it promises about arithmetic.
    #[serde(default)]
    pub reduction: ReductionSpec,
    /// What happens in a call; the kernel alone where it is not said.
    #[serde(default = "super::steps::kernel_alone")]
    pub steps: Vec<Step>,
    /// Extra memory on every rank.
    #[serde(default)]
    pub workspace: BTreeMap<String, WorkspaceSpec>,
    /// The entry's parameters, in order.
    pub args: Vec<ArgumentSpec>,
}

/// Which groups a kernel can serve.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Groups {
    /// Any list of ranks.
    #[default]
    Any,
    /// Ascending with one stride.
    Strided,
    /// The whole world in rank order.
    World,
}

/// What a kernel needs beyond memory and a grid.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Requirement {
    /// It waits for other ranks: all of them must run at once.
    Concurrent,
    /// It waits for other blocks: all blocks of a rank must be resident.
    ResidencyAll,
    /// The group size divides the number of blocks.
    GroupDividesBlocks,
    /// Symbols that must be multiples of a number.
    Divisible(BTreeMap<String, u64>),
}

/// Grid and block, in one dimension.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// Thread blocks.
    pub grid: Expression,
    /// Threads a block.
    pub threads: Expression,
    /// Dynamic block-shared memory in bytes.
    #[serde(default = "zero")]
    pub shared_bytes: Expression,
}

/// One entry and its defaults.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// The function: `extern "C"`, or an instance of a template.
    pub entry: String,
    /// The tile it uses when a scenario names none.
    #[schemars(with = "BTreeMap<String, u64>")]
    pub tile: Tile,
    /// The blocks it uses when a scenario names none.
    #[serde(default = "default_blocks")]
    pub blocks: u32,
    /// What this variant needs besides the kernel's `requires`.
    #[serde(default)]
    pub requires: Vec<Requirement>,
    /// What this variant promises about arithmetic, in place of the kernel's `reduction`.
    pub reduction: Option<ReductionSpec>,
    /// More definitions; a variant that has some is built by itself.
    #[serde(default)]
    pub defines: BTreeMap<String, Define>,
}

/// The value of a preprocessor definition.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Define(pub DefineText);

/// Number or text: `dtype.storage`, `dtype.name`, an expression, or `'text'` taken literally.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum DefineText {
    /// A number.
    Number(i64),
    /// See above.
    Text(String),
}

/// Extra memory a kernel declares.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceSpec {
    /// Element type, for its size.
    #[serde(rename = "type")]
    pub element: ScalarType,
    /// Elements.
    pub count: Expression,
    /// Contents before the first call.
    #[serde(default = "init_poison")]
    #[schemars(with = "String")]
    pub init: Init,
    /// Contents before the next calls.
    #[serde(default = "between_reset")]
    #[schemars(with = "String")]
    pub between_calls: BetweenCalls,
    /// What is checked.
    #[serde(default = "judge_ignore")]
    #[schemars(with = "String")]
    pub judge: Judge,
}

fn every_device() -> Vec<DeviceName> {
    DeviceName::ALL.to_vec()
}
fn yes() -> bool {
    true
}
pub(super) fn zero() -> Expression {
    Expression::literal(0)
}
fn default_blocks() -> u32 {
    4
}
fn init_poison() -> Init {
    Init::Poison
}
fn between_reset() -> BetweenCalls {
    BetweenCalls::Reset
}
fn judge_ignore() -> Judge {
    Judge::Ignore
}

fn collective<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Collective, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(serde::de::Error::custom)
}

impl Manifest {
    /// A variant's requirements: the kernel's and its own.
    pub fn requirements<'a>(
        &'a self,
        variant: &'a Variant,
    ) -> impl Iterator<Item = &'a Requirement> {
        self.requires.iter().chain(&variant.requires)
    }

    /// Whether it has no code of its own: some program launches a kernel that claims all this.
    pub fn is_host_program(&self) -> bool {
        self.source.is_none() && self.object.is_none()
    }

    /// What a variant promises about arithmetic.
    pub fn reduction<'a>(&'a self, variant: &'a Variant) -> &'a ReductionSpec {
        variant.reduction.as_ref().unwrap_or(&self.reduction)
    }

    /// Whether a variant waits for other ranks.
    pub fn waits(&self, variant: &Variant) -> bool {
        self.requirements(variant).any(|requirement| *requirement == Requirement::Concurrent)
    }

    /// Whether a symbol reaches the kernel, by a definition on `device` or by an argument.
    pub fn conveys(&self, device: DeviceName, symbol: &str) -> bool {
        let defined = |defines: &BTreeMap<String, Define>| {
            defines.values().any(|define| match &define.0 {
                DefineText::Number(_) => false,
                DefineText::Text(text) => {
                    Expression::parse(text).is_ok_and(|expression| expression.mentions(symbol))
                }
            })
        };
        defined(&self.defines)
            || self.specialise.get(&device).is_some_and(defined)
            || self.variants.values().any(|variant| defined(&variant.defines))
            || self.args.iter().any(|argument| argument.mentions(symbol))
            || self.launch.grid.mentions(symbol)
            || self.launch.threads.mentions(symbol)
    }
}
