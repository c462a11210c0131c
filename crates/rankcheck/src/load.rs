//! From paths to cases: the first half of every verb that looks at scenarios.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use anyhow::Context as _;
use kernels::{Cache, Library};
use launch::RunConfig;
use launch::builder::Builder;
use scenario::{Case, expand, find};

use crate::embedded;
use crate::machine::Machine;

/// Where kernels are looked for, and where objects are kept.
pub(crate) struct KernelStore {
    pub cache: Cache,
    pub library: Library,
}

impl KernelStore {
    /// Opens the cache and the user's kernel folders.
    pub(crate) fn open(kernels: &[PathBuf]) -> anyhow::Result<KernelStore> {
        let cache = Cache::open().context("the cache folder (name another in RANKCHECK_CACHE)")?;
        let unpacked = cache.unpack("kernels", &embedded::kernels());
        let unpacked = unpacked.context("writing the embedded kernels to the cache folder")?;
        Ok(KernelStore { cache, library: Library::new(kernels, &unpacked)? })
    }
}

/// All cases of some paths.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub cases: Vec<Case>,
    pub files: usize,
    pub not_generated: usize,
    pub excluded: usize,
    pub sampled_out: usize,
}

/// Loads and expands every scenario file of `paths`; no path means `scenarios`.
pub(crate) fn load(
    paths: &[PathBuf],
    library: &Library,
    seed: Option<u64>,
) -> anyhow::Result<Loaded> {
    let default = [PathBuf::from("scenarios")];
    let paths = if paths.is_empty() { &default[..] } else { paths };
    let mut loaded = Loaded::default();
    for path in paths {
        for source in find(path, &embedded::scenarios())? {
            let expansion = expand(&source.path, &source.parse()?, library, seed)?;
            loaded.files += 1;
            loaded.not_generated += expansion.not_generated;
            loaded.excluded += expansion.excluded;
            loaded.sampled_out += expansion.sampled_out;
            loaded.cases.extend(expansion.cases);
        }
    }
    let mut ids: Vec<&str> = loaded.cases.iter().map(|case| case.id.as_str()).collect();
    ids.sort_unstable();
    if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
        anyhow::bail!("two scenario files give the id {} (`scenario:` names must differ)", pair[0]);
    }
    Ok(loaded)
}

/// What cases share where no argument says otherwise.
pub(crate) fn run_config(cache: Cache, machine: Machine) -> RunConfig {
    RunConfig {
        builder: Builder::new(cache, machine.toolchain),
        target: machine.target,
        lost: AtomicBool::new(false),
        budget: machine.budget,
        timeout: None,
        all_orders: false,
        schedules: launch::Schedules::default(),
        keep_heaps: None,
        replay_arguments: String::new(),
        commit: None,
        dirty: None,
    }
}
