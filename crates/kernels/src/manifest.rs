//! What a kernel says about itself.

use std::collections::BTreeMap;

use collectives::{BetweenCalls, Collective, DType, Init, Judge, Op, Tile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::expression::Expression;
use crate::reduction::{FloatValue, ReductionSpec, Step};

/// Where kernel code runs.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum DeviceName {
    /// The host's processor.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
    /// An AMD GPU.
    Hip,
}

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
    /// Compiled objects by architecture, beside the manifest.
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
    #[serde(default = "crate::reduction::kernel_alone")]
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

/// Scalar types of arguments and workspaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ScalarType {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
}

impl ScalarType {
    /// Size in bytes.
    pub const fn bytes(self) -> u64 {
        match self {
            ScalarType::I8 | ScalarType::U8 => 1,
            ScalarType::I16 | ScalarType::U16 => 2,
            ScalarType::I32 | ScalarType::U32 => 4,
            ScalarType::I64 | ScalarType::U64 => 8,
        }
    }

    /// Little-endian bytes of a value.
    ///
    /// # Errors
    /// A value that the type cannot hold.
    pub fn encode(self, value: i64) -> Result<Vec<u8>, String> {
        let bits = self.bytes() * 8;
        let signed =
            matches!(self, ScalarType::I8 | ScalarType::I16 | ScalarType::I32 | ScalarType::I64);
        let fits = match (signed, bits) {
            (_, 64) => signed || value >= 0,
            (true, _) => (-(1i64 << (bits - 1))..1i64 << (bits - 1)).contains(&value),
            (false, _) => (0..1i64 << bits).contains(&value),
        };
        if !fits {
            return Err(format!("{value} does not fit in {}", format!("{self:?}").to_lowercase()));
        }
        Ok(value.to_le_bytes()[..self.bytes() as usize].to_vec())
    }
}

/// One parameter of an entry.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArgumentSpec {
    /// A region of the rank's own heap: `input`, `output`, `workspace.NAME`.
    Ptr(String),
    /// An address in a region, also of the peer that a struct is about.
    Address(AddressSpec),
    /// A null pointer.
    Null(NullOf),
    /// A signed 8-bit integer.
    I8(Expression),
    /// An unsigned 8-bit integer.
    U8(Expression),
    /// A signed 16-bit integer.
    I16(Expression),
    /// An unsigned 16-bit integer.
    U16(Expression),
    /// A signed 32-bit integer.
    I32(Expression),
    /// An unsigned 32-bit integer.
    U32(Expression),
    /// A signed 64-bit integer.
    I64(Expression),
    /// An unsigned 64-bit integer.
    U64(Expression),
    /// A 32-bit float: a number, or an integer expression.
    F32(FloatValue),
    /// A 64-bit float: a number, or an integer expression.
    F64(FloatValue),
    /// An array over ranks, in device memory.
    Table(TableSpec),
    /// Several fields at once, laid out as C does.
    Struct(StructSpec),
}

/// What a null stands for; only pointers may be null.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NullOf {
    /// A pointer.
    Ptr,
}

/// An array with one entry a rank.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableSpec {
    /// What an entry is: `heap_base`, `rank`, `group_rank`, `scalar` (the factor of a premultiplied
    /// sum), `send_rows`, `send_first`, `receive_rows`, `receive_first`, `remote_first` (rows of an
    /// all_to_all to and from that rank, where they begin, and where the own part begins there), or a region whose address on that rank it is.
    pub of: String,
    /// Which ranks.
    pub over: Over,
    /// The entry's type.
    #[serde(rename = "as")]
    pub element: ScalarType,
    /// By device pointer, or the array itself.
    #[serde(default)]
    pub pass: Pass,
    /// Entries of an array passed by value, where it is longer than the ranks.
    pub length: Option<u64>,
}

/// Which ranks a table runs over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// All ranks, by rank.
    World,
    /// The group's members, by group rank.
    Group,
    /// The group's members but the rank itself.
    Peers,
}

/// How an aggregate reaches the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pass {
    /// A pointer to device memory.
    #[default]
    Pointer,
    /// The bytes themselves.
    Value,
}

/// An address in a region.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddressSpec {
    /// The region: `input`, `output`, `workspace.NAME`.
    pub of: String,
    /// On whose heap.
    #[serde(default)]
    pub on: On,
    /// Bytes behind its first element.
    #[serde(default = "zero")]
    pub bytes: Expression,
}

/// Whose heap an address is in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum On {
    /// The rank's own.
    #[default]
    Own,
    /// That of the rank which a struct `over` ranks is about.
    Peer,
}

/// Several fields, laid out as C does.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StructSpec {
    /// In order.
    pub fields: Vec<ArgumentSpec>,
    /// An array of them, one a rank.
    pub over: Option<Over>,
    /// By value, or by device pointer.
    #[serde(default = "by_value")]
    pub pass: Pass,
}

fn by_value() -> Pass {
    Pass::Value
}
fn every_device() -> Vec<DeviceName> {
    vec![DeviceName::Cpu, DeviceName::Cuda, DeviceName::Hip]
}
fn yes() -> bool {
    true
}
fn zero() -> Expression {
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

impl ArgumentSpec {
    /// The expression of an integer argument, with its type.
    pub fn integer(&self) -> Option<(ScalarType, &Expression)> {
        match self {
            ArgumentSpec::I8(e) => Some((ScalarType::I8, e)),
            ArgumentSpec::U8(e) => Some((ScalarType::U8, e)),
            ArgumentSpec::I16(e) => Some((ScalarType::I16, e)),
            ArgumentSpec::U16(e) => Some((ScalarType::U16, e)),
            ArgumentSpec::I32(e) => Some((ScalarType::I32, e)),
            ArgumentSpec::U32(e) => Some((ScalarType::U32, e)),
            ArgumentSpec::I64(e) => Some((ScalarType::I64, e)),
            ArgumentSpec::U64(e) => Some((ScalarType::U64, e)),
            ArgumentSpec::Ptr(_)
            | ArgumentSpec::Address(_)
            | ArgumentSpec::Null(_)
            | ArgumentSpec::F32(_)
            | ArgumentSpec::F64(_)
            | ArgumentSpec::Table(_)
            | ArgumentSpec::Struct(_) => None,
        }
    }

    fn mentions(&self, symbol: &str) -> bool {
        match self {
            ArgumentSpec::Struct(spec) => spec.fields.iter().any(|field| field.mentions(symbol)),
            other => other.integer().is_some_and(|(_, expression)| expression.mentions(symbol)),
        }
    }
}
