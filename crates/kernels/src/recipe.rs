//! What an object is made from, files aside: entries, definitions and the kind of build.

use std::collections::BTreeMap;
use std::sync::Arc;

use collectives::{DType, Problem, Tile};

use crate::expression::Expression;
use crate::library::Kernel;
use crate::manifest::{Define, DefineText, DeviceName, Variant};

/// How an object is built. All kinds of build give the same bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Build {
    /// For the CPU, at full speed.
    #[default]
    Fast,
    /// For the CPU, with every memory access reporting itself.
    Observed,
    /// For a GPU, by its vendor's compiler.
    Gpu(DeviceName),
}

impl Build {
    /// The device that runs the object.
    pub fn device(self) -> DeviceName {
        match self {
            Build::Fast | Build::Observed => DeviceName::Cpu,
            Build::Gpu(device) => device,
        }
    }
}

/// A definition of a manifest that has no value for a problem.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("definition {name}: {reason}")]
pub struct Undefined {
    /// The definition's name.
    pub name: String,
    /// Why it has no value.
    pub reason: String,
}

/// Everything that an object depends on, the contents of files and the toolchain aside.
#[derive(Debug, Clone)]
pub struct Recipe {
    pub(crate) kernel: Arc<Kernel>,
    /// The functions that the object exports; an entry's index here is its number in the object.
    pub(crate) entries: Vec<String>,
    /// Preprocessor definitions, by name.
    pub(crate) defines: BTreeMap<String, String>,
    pub(crate) build: Build,
}

impl Recipe {
    /// The recipe for a variant of `kernel`. Variants without definitions of their own
    /// share one object.
    ///
    /// # Errors
    /// A definition that has no value for this problem.
    pub fn new(
        kernel: &Arc<Kernel>,
        variant: &Variant,
        problem: &Problem,
        tile: Tile,
        group_size: u32,
        build: Build,
    ) -> Result<Recipe, Undefined> {
        let manifest = &kernel.manifest;
        let mut defines = BTreeMap::new();
        let special = manifest.specialise.get(&build.device());
        let all = manifest.defines.iter().chain(special.into_iter().flatten());
        for (name, define) in all.chain(&variant.defines) {
            let held = manifest.reduction(variant).numerics().held_in(problem.dtype);
            let value = define_value(define, problem, tile, group_size, held)
                .map_err(|reason| Undefined { name: name.clone(), reason })?;
            defines.insert(name.clone(), value);
        }
        let mut entries: Vec<String> = if variant.defines.is_empty() {
            let shared = manifest.variants.values().filter(|other| other.defines.is_empty());
            shared.map(|other| other.entry.clone()).collect()
        } else {
            vec![variant.entry.clone()]
        };
        entries.sort();
        entries.dedup();
        Ok(Recipe { kernel: kernel.clone(), entries, defines, build })
    }

    /// A text that is equal for two recipes that give one object, as long as no file changes.
    pub fn identity(&self) -> String {
        let Recipe { kernel, entries, defines, build } = self;
        let files: Vec<_> = kernel.code.files().iter().map(|file| &file.path).collect();
        format!("{files:?} {entries:?} {defines:?} {build:?}")
    }
}

fn define_value(
    define: &Define,
    problem: &Problem,
    tile: Tile,
    group_size: u32,
    held: DType,
) -> Result<String, String> {
    let text = match &define.0 {
        DefineText::Number(number) => return Ok(number.to_string()),
        DefineText::Text(text) => text.as_str(),
    };
    if let Some(literal) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return Ok(literal.to_owned());
    }
    match text {
        "dtype.storage" => Ok(problem.dtype.storage().into()),
        "dtype.type" => Ok(problem.dtype.device_type().into()),
        "reduction.accumulate" => Ok(held.device_type().into()),
        "dtype.name" => Ok(problem.dtype.name().into()),
        _ => {
            let expression = Expression::parse(text)?;
            let value = expression.evaluate(&|symbol| match symbol {
                "tile.m" => whole(tile.m),
                "tile.n" => whole(tile.n),
                "group.size" => Ok(group_size.into()),
                "world" => Ok(problem.world.into()),
                "dtype.bytes" => whole(problem.dtype.bytes()),
                other => Err(format!(
                    "`{other}` is not a constant of a build (tile.m, tile.n, group.size, world, dtype.bytes are)"
                )),
            });
            value.map(|value| value.to_string()).map_err(|error| error.to_string())
        }
    }
}

fn whole(value: u64) -> Result<i64, String> {
    i64::try_from(value).map_err(|_| format!("{value} is beyond 63 bits"))
}
