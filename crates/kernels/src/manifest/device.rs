//! Names of the devices that kernels are written for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

impl DeviceName {
    /// Every device.
    pub const ALL: [DeviceName; 3] = [DeviceName::Cpu, DeviceName::Cuda, DeviceName::Hip];

    /// Whether it has memory of its own and a driver: anything but the host's processor.
    pub const fn is_gpu(self) -> bool {
        !matches!(self, DeviceName::Cpu)
    }

    /// Who makes it, in words.
    pub const fn maker(self) -> &'static str {
        match self {
            DeviceName::Cpu => "the host",
            DeviceName::Cuda => "NVIDIA",
            DeviceName::Hip => "AMD",
        }
    }

    /// The name as it stands in manifests, arguments and case names: `cpu`, `cuda` or `hip`.
    pub const fn name(self) -> &'static str {
        match self {
            DeviceName::Cpu => "cpu",
            DeviceName::Cuda => "cuda",
            DeviceName::Hip => "hip",
        }
    }

    /// The device for which an architecture's machine code is: `sm_90` is one of `cuda`,
    /// `gfx950` one of `hip`; `None` for any other text.
    pub fn of_architecture(architecture: &str) -> Option<DeviceName> {
        let numbered = |prefix: &str| {
            let rest = architecture.strip_prefix(prefix);
            rest.is_some_and(|rest| {
                rest.starts_with(|c: char| c.is_ascii_digit())
                    && rest.chars().all(|c| c.is_ascii_alphanumeric())
            })
        };
        if numbered("sm_") {
            Some(DeviceName::Cuda)
        } else if numbered("gfx") {
            Some(DeviceName::Hip)
        } else {
            None
        }
    }
}

impl std::fmt::Display for DeviceName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
