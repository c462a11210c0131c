//! Arms: from the scenario and the command line to the cases of each.

use std::path::PathBuf;
use std::str::FromStr;

use bench::file::ArmKind;
use measure::rows::ArmCases;
use scenario::values::{ArmValue, BenchValue, Placed, VariantName};
use scenario::{ScenarioFile, ScenarioSource, expand, find};

use super::revision::{Revision, told};
use super::{Arguments, axes};
use crate::embedded;
use crate::load::KernelStore;

/// One `--arm`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArmArgument {
    name: String,
    what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum What {
    /// A variant, of the scenario's kernel or another.
    Kernel { kernel: Option<String>, variant: String },
    /// The first arm's kernel, or another variant of it, as it was at a revision.
    Revision { revision: String, variant: Option<String> },
}

impl FromStr for ArmArgument {
    type Err = String;
    fn from_str(text: &str) -> Result<ArmArgument, String> {
        let (name, what) = match text.split_once('=') {
            Some((name, what)) if !name.is_empty() && !what.is_empty() => (name, what),
            _ => return Err(format!("`{text}` is not NAME=WHAT, such as other=hoisted")),
        };
        let what = if let Some(revision) = what.strip_prefix('@') {
            let (revision, variant) = match revision.split_once(':') {
                Some((revision, variant)) => (revision.to_owned(), Some(variant.to_owned())),
                None => (revision.to_owned(), None),
            };
            What::Revision { revision, variant }
        } else {
            let (kernel, variant) = match what.rsplit_once('.') {
                Some((kernel, variant)) => (Some(kernel.to_owned()), variant.to_owned()),
                None => (None, what.to_owned()),
            };
            What::Kernel { kernel, variant }
        };
        Ok(ArmArgument { name: name.to_owned(), what })
    }
}

/// A scenario file with the cases of each arm.
#[derive(Debug)]
pub(super) struct BenchedFile {
    pub(super) source: ScenarioSource,
    pub(super) name: String,
    pub(super) bench: BenchValue,
    pub(super) arms: Vec<ArmCases>,
    /// In what arms differ, in sentences.
    pub(super) notes: Vec<String>,
}

/// All that a benchmark is about.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) files: Vec<BenchedFile>,
}

/// Loads every scenario and expands it once an arm.
pub(super) fn load(arguments: &Arguments, store: &KernelStore) -> anyhow::Result<Loaded> {
    let default = [PathBuf::from("scenarios/bench")];
    let given = &arguments.select.paths;
    let paths = if given.is_empty() { &default[..] } else { given };
    let mut files = Vec::new();
    for path in paths {
        for source in find(path, &embedded::scenarios())? {
            files.push(file(arguments, store, source)?);
        }
    }
    Ok(Loaded { files })
}

fn file(
    arguments: &Arguments,
    store: &KernelStore,
    source: ScenarioSource,
) -> anyhow::Result<BenchedFile> {
    let mut parsed = source.parse()?;
    axes::apply(&mut parsed, &arguments.axis)?;
    let bench = protocol(arguments, &parsed);
    parsed.bench = Some(Placed::from(bench.clone()));
    let specs = specs(arguments, &parsed, &bench, store, &source)?;
    let (mut arms, mut notes) = (Vec::new(), Vec::new());
    for Spec { name, arm, revision } in specs {
        let mut of_arm = parsed.clone();
        if let Some(kernel) = &arm.kernel {
            of_arm.kernel.value.clone_from(kernel);
        }
        of_arm.matrix.value.variant = None;
        of_arm.variant = arm.variant.map(|variant| Placed::from(VariantName(variant)));
        let seed = arguments.select.seed;
        let Some(revision) = revision else {
            let expansion = expand(&source.path, &of_arm, &store.library, seed)?;
            let (kind, cases) = (ArmKind::Variant, expansion.cases);
            arms.push(ArmCases { name, kind, cases, source: None });
            continue;
        };
        let then = Revision::open(&revision, store, &arguments.select.kernels, &source.path)?;
        let there = then.folder.join(&source.path);
        let cases = expand(&there, &of_arm, &then.library, seed)?.cases;
        let today = store.library.kernel(&of_arm.kernel.value, source.path.parent())?;
        if let Some(case) = cases.first() {
            let differences = then.differences(&case.kernel, &today)?;
            notes.push(told(&name, &differences, &today, &arguments.differs)?);
        }
        let code = Some(format!("commit {}", then.commit));
        arms.push(ArmCases { name, kind: ArmKind::Revision, cases, source: code });
    }
    Ok(BenchedFile { name: parsed.scenario.value.clone(), source, bench, arms, notes })
}

/// An arm before it is expanded.
struct Spec {
    name: String,
    arm: ArmValue,
    /// Where its files are taken from; absent for today's.
    revision: Option<String>,
}

/// How is timed: as the scenario says, unless the command line says otherwise.
fn protocol(arguments: &Arguments, parsed: &ScenarioFile) -> BenchValue {
    let stated = parsed.bench.as_ref().map(|bench| bench.value.clone());
    let mut bench = stated.unwrap_or_default();
    bench.warmup = arguments.warmup.unwrap_or(bench.warmup);
    bench.iterations = arguments.iterations.unwrap_or(bench.iterations);
    bench.blocks = arguments.blocks.unwrap_or(bench.blocks);
    bench.launches = arguments.launches.unwrap_or(bench.launches);
    bench
}

/// The arms by name: those of the scenario, else every variant of its matrix, and those of the command line.
fn specs(
    arguments: &Arguments,
    parsed: &ScenarioFile,
    bench: &BenchValue,
    store: &KernelStore,
    source: &ScenarioSource,
) -> anyhow::Result<Vec<Spec>> {
    let mut specs: Vec<ArmValue> = bench.arms.0.clone();
    if specs.is_empty() {
        let listed = parsed.matrix.value.variant.as_ref();
        let stated = parsed.variant.as_ref().map(|variant| variant.value.0.clone());
        specs = match (listed, stated) {
            (Some(list), _) => {
                list.value.iter().map(|variant| ArmValue::variant(&variant.value.0)).collect()
            }
            (None, Some(variant)) => vec![ArmValue::variant(&variant)],
            (None, None) => {
                let beside = source.path.parent();
                let kernel = store.library.kernel(&parsed.kernel.value, beside)?;
                let first = kernel.manifest.variants.keys().next();
                first.map(|variant| ArmValue::variant(variant)).into_iter().collect()
            }
        };
    }
    let mut named: Vec<Spec> =
        specs.into_iter().map(|arm| Spec { name: arm.shown(), arm, revision: None }).collect();
    for ArmArgument { name, what } in &arguments.arm {
        let mut revision = None;
        let arm = match what.clone() {
            What::Kernel { kernel, variant } => {
                ArmValue { kernel, variant: Some(variant), ..ArmValue::default() }
            }
            What::Revision { revision: at, variant } => {
                revision = Some(at);
                // The arm whose place it takes, or the first one, says which kernel is meant.
                let same = named.iter().find(|spec| spec.name == *name).or(named.first());
                let meant = same.map(|spec| spec.arm.clone()).unwrap_or_default();
                ArmValue { name: None, variant: variant.or(meant.variant.clone()), ..meant }
            }
        };
        let spec = Spec { name: name.clone(), arm, revision };
        match named.iter().position(|known| known.name == *name) {
            // What it was is held against what it is.
            Some(known) if spec.revision.is_some() => {
                named[known].name += " today";
                named.insert(known, spec);
            }
            Some(known) => named[known] = spec,
            None if name == "base" => named.insert(0, spec),
            None => named.push(spec),
        }
    }
    Ok(named)
}
