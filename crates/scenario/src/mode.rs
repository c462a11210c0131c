//! How ranks exist.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How ranks exist.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// All of them in one process.
    Logical,
    /// One process a rank.
    Process,
    /// In the user's own program, which launches the kernel itself.
    Host,
}

impl Mode {
    /// Every mode, in the order in which they are listed to users.
    pub const ALL: [Mode; 3] = [Mode::Logical, Mode::Process, Mode::Host];
    /// Those in which rankcheck itself launches kernels.
    pub const LAUNCHING: [Mode; 2] = [Mode::Logical, Mode::Process];

    /// The one spelling that is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Logical => "logical",
            Mode::Process => "process",
            Mode::Host => "host",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Mode {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        Mode::ALL
            .into_iter()
            .find(|mode| mode.name() == text)
            .ok_or_else(|| format!("unknown mode `{text}`, expected logical, process or host"))
    }
}
