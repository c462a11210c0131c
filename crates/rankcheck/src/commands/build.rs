//! `rankcheck build`: compiles the objects of a run and runs nothing. For machines without a GPU,
//! to see that kernels compile for one, and to carry the cache to machines without a compiler.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use clap::Args;
use device::vendors::vendor;
use kernels::{Build, Compiler, DeviceName, Toolchain};
use launch::builder::Builder;

use crate::commands::emit;
use crate::commands::select::Select;
use crate::exit::Exit;
use crate::load::{KernelStore, load};
use crate::machine::device_named;

/// Arguments of `build`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    select: Select,
    /// What would run the kernels; `auto` is the CPU.
    #[arg(long, default_value = "auto", value_parser = device_named)]
    device: DeviceName,
    /// Architecture of the GPU: 90 for sm_90.
    #[arg(long, value_name = "N", default_value_t = 90)]
    capability: u32,
    /// Objects at once [default: the number of cores].
    #[arg(short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    jobs: Option<u16>,
}

/// Compiles every object once and prints those that do not compile.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let device = arguments.device;
    let (toolchain, build): (Arc<dyn Toolchain>, _) = match device.is_gpu() {
        false => (Arc::new(Compiler::find()?), Build::Fast),
        true => {
            let architecture = format!("sm_{}", arguments.capability);
            ((vendor(device)?.toolchain)(&architecture)?, Build::Gpu(device))
        }
    };
    let store = KernelStore::open(&arguments.select.kernels)?;
    let loaded = load(&arguments.select.paths, &store.library, arguments.select.seed)?;
    let chosen = arguments.select.choose(&loaded.cases, device)?;
    let wanted: Vec<_> = chosen
        .iter()
        .filter(|(case, _)| case.unsupported(device).is_none())
        .flat_map(|(case, _)| (0..case.problem.calls.len()).map(move |call| (*case, call)))
        .collect();
    let builder = Builder::new(store.cache, toolchain);
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(BTreeSet::new()));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..arguments.jobs.map_or(cores, usize::from) {
            scope.spawn(|| {
                while let Some((case, call)) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(error) = builder.object(case, *call, build) {
                        failures.lock().expect("no holder panics").insert(error.to_string());
                    }
                }
            });
        }
    });
    let failures = failures.into_inner()?;
    let mut text = String::new();
    for failure in &failures {
        text += failure.trim_end();
        text += "\n";
    }
    emit(&text)?;
    eprintln!(
        "{} compiled, {} kernels do not compile, in {}",
        builder.compiled(),
        failures.len(),
        builder.folder().display()
    );
    Ok(match failures.len() {
        0 if wanted.is_empty() => Exit::Nothing,
        0 => Exit::Passed,
        _ => Exit::Failed,
    })
}
