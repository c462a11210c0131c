//! Where samples come from: hardware, versions, and what the hardware said of itself meanwhile.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The machine that measured. Nothing about its user or its name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The operating system and its kernel's version; empty where nobody said.
    #[serde(default)]
    pub system: String,
    /// The processor's name; empty where nobody said.
    #[serde(default)]
    pub cpu: String,
    /// The number of the processor's cores that the benchmark could use; 0 where nobody said.
    #[serde(default)]
    pub cores: u32,
    /// The machine's memory, in bytes; 0 where nobody said.
    #[serde(default)]
    pub memory_bytes: u64,
    /// The GPUs that ranks ran on, in order of their numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<Gpu>,
    /// Versions of compilers and libraries, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub versions: BTreeMap<String, String>,
    /// What the GPUs said of themselves while the benchmark ran, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<Reading>,
}

/// A GPU.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gpu {
    /// The GPU's number, as ranks are mapped onto it.
    pub number: u32,
    /// The GPU's name.
    pub name: String,
    /// The driver's version.
    pub driver: String,
    /// The GPU's memory, in bytes.
    pub memory_bytes: u64,
}

/// What a GPU said of itself at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// When, in nanoseconds since the benchmark began.
    pub at_ns: f64,
    /// The GPU's number.
    pub gpu: u32,
    /// The clock of its processors, in MHz.
    pub sm_clock_mhz: Option<u32>,
    /// The clock of its memory, in MHz.
    pub memory_clock_mhz: Option<u32>,
    /// Its temperature, in degrees Celsius.
    pub temperature_c: Option<u32>,
    /// Its power, in watts.
    pub power_w: Option<f64>,
    /// Reasons why its clocks were held down, in the library's words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub throttled: Vec<String>,
    /// How many other processes used it.
    pub other_processes: Option<u32>,
}
