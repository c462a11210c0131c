//! Scenarios as tests: one test a case, named `cpu-<mode>::<id>`.
//!
//! ```no_run
//! // tests/scenarios.rs of a crate, with `harness = false`:
//! fn main() -> std::process::ExitCode {
//!     rankcheck::rank_main();
//!     rankcheck::nextest::main("../scenarios", &[])
//! }
//! ```
//! Under nextest every case is a process of its own. Listing expands every file; running one test
//! parses only the file that its id names. A case that cannot run here is ignored when listed, so
//! it is counted as skipped, never as passed; `rankcheck list --unsupported` says why.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use kernels::{Compiler, DeviceName};
use launch::{RunConfig, run_case};
use libtest_mimic::{Arguments, Failed, Trial};
use ranks::Pool;
use report::failure_text;
use scenario::{Case, Mode};
use verdict::{CaseResult, Verdict};

use crate::load::{self, KernelStore, Loaded, load};
use crate::machine::Machine;

/// Runs the cases of a folder of scenarios as tests. `kernels` are more folders of kernels.
pub fn main(scenarios: impl AsRef<Path>, kernels: &[PathBuf]) -> ExitCode {
    let arguments = Arguments::from_args();
    let scenarios = scenarios.as_ref();
    match trials(scenarios, kernels, named_test(&arguments).as_deref()) {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// The one test that is asked for by its whole name, as nextest does.
fn named_test(arguments: &Arguments) -> Option<String> {
    arguments.filter.clone().filter(|_| arguments.exact && !arguments.list)
}

fn trials(scenarios: &Path, kernels: &[PathBuf], only: Option<&str>) -> anyhow::Result<Vec<Trial>> {
    let store = KernelStore::open(kernels)?;
    let loaded = match only.and_then(|name| file_of(scenarios, name)) {
        Some(file) => load(&[file], &store.library, None)?,
        None => load(&[scenarios.to_owned()], &store.library, None)?,
    };
    let Loaded { cases, .. } = loaded;
    let cases: &'static [Case] = Vec::leak(cases);
    let cache: &'static OnceLock<RunConfig> = Box::leak(Box::default());
    let store: &'static KernelStore = Box::leak(Box::new(store));
    let mut trials = Vec::new();
    for case in cases {
        for mode in Mode::LAUNCHING.into_iter().filter(|mode| case.modes.contains(mode)) {
            let name = case.name(DeviceName::Cpu, mode);
            if only.is_some_and(|only| only != name) {
                continue;
            }
            let ignored = case.unsupported(DeviceName::Cpu).is_some();
            let trial = Trial::test(name, move || run(case, mode, cache, store));
            trials.push(trial.with_ignored_flag(ignored));
        }
    }
    Ok(trials)
}

/// The scenario file whose cases have ids like this: `theme/file` of `cpu-logical::theme/file/...`.
/// Scenarios are named after their files; where one is not, every file is read.
fn file_of(scenarios: &Path, name: &str) -> Option<PathBuf> {
    let id = name.split_once("::")?.1;
    let mut file = scenarios.to_owned();
    id.split('/').find_map(|part| {
        file.push(part);
        Some(file.with_added_extension("yaml")).filter(|file| file.is_file())
    })
}

fn run_config(store: &KernelStore) -> Result<RunConfig, Failed> {
    let compiler = Compiler::find().map_err(|error| Failed::from(error.to_string()))?;
    Ok(load::run_config(store.cache.clone(), Machine::cpu(compiler)))
}

fn run(
    case: &Case,
    mode: Mode,
    cache: &OnceLock<RunConfig>,
    store: &KernelStore,
) -> Result<(), Failed> {
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);
    if cache.get().is_none() {
        // Another test may have been faster; then this one is dropped.
        let _ = cache.set(run_config(store)?);
    }
    let config = cache.get().expect("just set");
    let mut pool = Pool::new(config.target.clone(), &INTERRUPTED)
        .map_err(|error| Failed::from(error.to_string()))?;
    let result: CaseResult = run_case(case, mode, &mut pool, config);
    match (result.verdict, &result.reason) {
        (Verdict::Pass, _) => Ok(()),
        (Verdict::Fail, _) => Err(failure_text(&result).into()),
        (verdict, Some(reason)) => Err(format!("{verdict:?}: {reason}").into()),
        (verdict, None) => Err(format!("{verdict:?}").into()),
    }
}
