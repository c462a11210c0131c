//! What is compared: an arm, what it was launched with, and whether it is right.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    /// The arm's name, unique in its row. The first arm of a row is the base.
    pub name: String,
    /// What kind of thing the arm is.
    pub kind: ArmKind,
    /// What the operation means, such as `all_to_all`: arms with different tags are never compared.
    pub semantics: String,
    /// How the arm's layout differs from the base's, in words, where bytes are the same and places are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<String>,
    /// The identity of the code: a file with its hash, a commit, a library's version; absent where nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What was asked for; absent values left the choice to the kernel.
    #[serde(default, skip_serializing_if = "Launch::is_empty")]
    pub requested: Launch,
    /// What ran, read back; absent values are not known.
    #[serde(default, skip_serializing_if = "Launch::is_empty")]
    pub effective: Launch,
    /// Whether its bytes were judged, and what came out.
    #[serde(default)]
    pub verified: Verified,
}

/// What kind of thing an arm is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArmKind {
    /// A variant of a kernel, from the working tree.
    Variant,
    /// A kernel as it was at a revision.
    Revision,
    /// A program of somebody else's, which measured by itself.
    Command,
    /// A library's collective.
    Library,
    /// The base once more: what differs between it and the base is noise.
    Control,
}

/// The numbers of a launch; absent ones are not known, or were left open.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// The number of blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u32>,
    /// The number of threads a block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// The tile, in rows and columns, as scenarios spell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tile: Option<String>,
    /// The shared memory of a block, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_bytes: Option<u64>,
    /// The registers of a thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registers: Option<u32>,
    /// The bytes of a thread that did not fit into registers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spilled_bytes: Option<u64>,
}

impl Launch {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Launch::default()
    }
}

/// Whether an arm's bytes were judged around the timing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Verified {
    /// The same case, before anything was timed.
    #[serde(default)]
    pub before: Verification,
    /// What the last timed iteration left.
    #[serde(default)]
    pub after: Verification,
}

/// What came out of one judgement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verification {
    /// Nobody judged; imported samples say so.
    #[default]
    NotJudged,
    /// Every byte was right.
    Right,
    /// Something was wrong: the finding in words.
    Wrong(String),
    /// The program that measured says that it was right.
    ClaimedRight,
}
