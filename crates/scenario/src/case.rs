//! One fully resolved test.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use collectives::{DType, HeapPlan, Problem, Tile};
use kernels::{DeviceName, Kernel, Requirement, Variant};
use serde::{Deserialize, Serialize};

use crate::keys::Settings;
use crate::mode::Mode;
use crate::values::BenchValue;

/// Why a case does not run here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// What it needs.
    pub needed: String,
    /// What there is.
    pub found: String,
}

impl Reason {
    /// A reason.
    pub fn new(needed: impl Into<String>, found: impl Into<String>) -> Reason {
        Reason { needed: needed.into(), found: found.into() }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "needs {}, found {}", self.needed, self.found)
    }
}

/// What the scenario asked for in a call, where omitted means the variant's default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Requested {
    /// The tile, if one was given; kept even where it equals the default.
    pub tile: Option<Tile>,
    /// The blocks, if a number was given.
    pub blocks: Option<u32>,
}

/// One fully resolved test; nothing is left to choose or draw.
#[derive(Debug, Clone)]
pub struct Case {
    /// Spelled from values: the same in every run and on every machine.
    pub id: String,
    /// The scenario's name.
    pub scenario: String,
    /// The scenario's file.
    pub file: PathBuf,
    /// The line of the value that best names the case.
    pub line: u64,
    /// What is judged.
    pub kernel: Arc<Kernel>,
    /// Which of its variants.
    pub variant: String,
    /// The pure part.
    pub problem: Problem,
    /// By call.
    pub requested: Vec<Requested>,
    /// Threads a block, where the scenario does not leave them to the manifest.
    pub threads: Option<u32>,
    /// In which modes it may run.
    pub modes: Vec<Mode>,
    /// At most this many blocks a rank resident at once.
    pub residency: Option<u32>,
    /// Whether no element of an output may be written twice.
    pub write_once: bool,
    /// Seconds a launch may take, where the scenario says so.
    pub timeout: Option<u64>,
    /// Whether its ranks may share a GPU where they wait for each other in processes of their own.
    pub shares_gpu: bool,
    /// How it is timed.
    pub bench: BenchValue,
    /// How the heaps of `problem` are laid out.
    pub plan: Arc<HeapPlan>,
    /// What a scenario of this case alone would say, the seed of the command line included.
    pub settings: Arc<Settings>,
}

impl Case {
    /// Whether another case is the same test, wherever it comes from and whatever it is called.
    pub fn is_same_test(&self, other: &Case) -> bool {
        // Every field by name: one that is forgotten does not compile.
        let Case {
            id: _,
            scenario: _,
            file: _,
            line: _,
            kernel,
            variant,
            problem,
            requested,
            threads,
            modes,
            residency,
            write_once,
            timeout,
            shares_gpu,
            bench,
            plan,
            // It may say the same in other words.
            settings: _,
        } = self;
        let sources = |kernel: &Kernel| -> Vec<_> {
            kernel.code.files().iter().map(|file| file.path.canonicalize().ok()).collect()
        };
        kernel.manifest.kernel == other.kernel.manifest.kernel
            && sources(kernel) == sources(&other.kernel)
            && *variant == other.variant
            && *problem == other.problem
            && *requested == other.requested
            && *threads == other.threads
            && *modes == other.modes
            && *residency == other.residency
            && *write_once == other.write_once
            && *timeout == other.timeout
            && *shares_gpu == other.shares_gpu
            && *bench == other.bench
            && *plan == other.plan
    }

    /// The variant.
    pub fn variant(&self) -> &Variant {
        &self.kernel.manifest.variants[&self.variant]
    }

    /// Whether the kernel waits for other ranks.
    pub fn waits(&self) -> bool {
        self.kernel.manifest.waits(self.variant())
    }

    /// How it is shown: `cpu-logical::<id>`.
    pub fn name(&self, device: DeviceName, mode: Mode) -> String {
        format!("{device}-{mode}::{}", self.id)
    }

    /// Why the kernel, by its own manifest, cannot serve this case; `None` where it can.
    pub fn unsupported(&self, device: DeviceName) -> Option<Reason> {
        let manifest = &self.kernel.manifest;
        if !manifest.devices.contains(&device) {
            let devices = format!("{:?}", manifest.devices).to_lowercase();
            return Some(Reason::new(
                format!("a kernel for {device:?}").to_lowercase(),
                format!("`devices: {devices}` in its manifest"),
            ));
        }
        if let Some(missing) = self.kernel.code.missing_on(device) {
            return Some(Reason::new(missing.needed, missing.found));
        }
        self.no_such_type(device).or_else(|| self.unserved())
    }

    /// As [`Case::unsupported`]; in mode host it matters no more what the kernel's code runs on.
    pub fn unsupported_in(&self, device: DeviceName, mode: Mode) -> Option<Reason> {
        match mode {
            Mode::Host => self.unserved(),
            Mode::Logical | Mode::Process => self.unsupported(device),
        }
    }

    /// Why the manifest's promises do not cover this case, whatever runs it.
    pub fn unserved(&self) -> Option<Reason> {
        let manifest = &self.kernel.manifest;
        if let Some(reason) = self.undeclared() {
            return Some(reason);
        }
        self.problem.calls.iter().find_map(|call| {
            let group = &call.group;
            match manifest.groups {
                kernels::Groups::Any => None,
                kernels::Groups::Strided => group
                    .stride()
                    .is_none()
                    .then(|| Reason::new("a strided group (manifest: groups)", group.to_string())),
                kernels::Groups::World => (!group.is_world(self.problem.world))
                    .then(|| Reason::new("the whole world (manifest: groups)", group.to_string())),
            }
            .or_else(|| {
                manifest
                    .requirements(self.variant())
                    .find_map(|requirement| self.unmet(requirement, call))
            })
        })
    }

    /// Arithmetic in a type that the device's vendor does not have.
    fn no_such_type(&self, device: DeviceName) -> Option<Reason> {
        let dtype = self.problem.dtype;
        let fnuz = matches!(dtype, DType::F8E4M3Fnuz | DType::F8E5M2Fnuz);
        let missing = device == DeviceName::Cuda && fnuz && self.problem.collective.reduces();
        missing.then(|| Reason::new(format!("arithmetic in {}", dtype.name()), "none in CUDA"))
    }

    /// What the manifest does not serve, or does not say enough about, to judge its arithmetic.
    fn undeclared(&self) -> Option<Reason> {
        let manifest = &self.kernel.manifest;
        let dtype = self.problem.dtype;
        if self.problem.in_place && !manifest.in_place {
            return Some(Reason::new("an output of its own (manifest: in_place)", "in_place"));
        }
        if manifest.dtypes.as_ref().is_some_and(|dtypes| !dtypes.contains(&dtype)) {
            return Some(Reason::new(
                "an element type of the kernel (manifest: dtypes)",
                dtype.name(),
            ));
        }
        let op = self.problem.calls.iter().map(|call| call.details.op).find(|op| {
            self.problem.collective.reduces()
                && manifest.ops.as_ref().is_some_and(|ops| !ops.contains(op))
        });
        if let Some(op) = op {
            return Some(Reason::new("an op of the kernel (manifest: ops)", op.name()));
        }
        let undeclared = collectives::declared::undeclared(&self.problem)?;
        Some(Reason::new(undeclared.needed, undeclared.found))
    }

    fn unmet(&self, requirement: &Requirement, call: &collectives::Call) -> Option<Reason> {
        match requirement {
            // Both are met by running everything co-resident or in processes of their own.
            Requirement::Concurrent | Requirement::ResidencyAll => None,
            Requirement::GroupDividesBlocks => (!call.blocks.is_multiple_of(call.group.size()))
                .then(|| {
                    Reason::new(
                        "a number of blocks that the group size divides (manifest: requires)",
                        format!("{} blocks, {} ranks", call.blocks, call.group.size()),
                    )
                }),
            Requirement::Divisible(symbols) => symbols.iter().find_map(|(symbol, divisor)| {
                let value = match symbol.as_str() {
                    "m" => call.shape.m,
                    "n" => call.shape.n,
                    "blocks" => call.blocks.into(),
                    "group.size" => call.group.size().into(),
                    "tile.m" => call.tile.m,
                    "tile.n" => call.tile.n,
                    other => {
                        return Some(Reason::new(
                            "`divisible` of m, n, blocks, group.size, tile.m or tile.n",
                            format!("`{other}` in the manifest"),
                        ));
                    }
                };
                (!value.is_multiple_of((*divisor).max(1))).then(|| {
                    Reason::new(
                        format!("{symbol} divisible by {divisor} (manifest: requires)"),
                        format!("{symbol} = {value}"),
                    )
                })
            }),
        }
    }
}
