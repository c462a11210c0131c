//! `args` of a manifest: one value for each parameter of an entry.

use schemars::JsonSchema;
use serde::Deserialize;

use super::model::zero;
use super::scalar::ScalarType;
use crate::expression::Expression;

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

    pub(super) fn mentions(&self, symbol: &str) -> bool {
        match self {
            ArgumentSpec::Struct(spec) => spec.fields.iter().any(|field| field.mentions(symbol)),
            other => other.integer().is_some_and(|(_, expression)| expression.mentions(symbol)),
        }
    }
}

/// A number, or an integer expression.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FloatValue {
    /// A number.
    Number(f64),
    /// An integer expression.
    Expression(Expression),
}
