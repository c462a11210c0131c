//! Integer types of arguments and workspaces.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
