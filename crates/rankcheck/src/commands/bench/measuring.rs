//! Rows one after another; the file is complete after each.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Instant;

use bench::file::{self, BenchFile, Machine as FileMachine, Protocol, Row, SCHEMA};
use device::nvml::{GpuReading, Nvml};
use indicatif::{ProgressBar, ProgressStyle};
use kernels::DeviceName;
use launch::RunConfig;
use measure::row::steps;
use measure::{Planned, Session, measure};
use ranks::Pool;
use report::ReportFile;
use sha2::{Digest as _, Sha256};
use verdict::Environment;

use super::arms::Loaded;
use super::{Arguments, show};
use crate::commands::emit;
use crate::environment;
use crate::exit::Exit;
use crate::interrupt::interrupted;
use crate::load::{KernelStore, run_config};
use crate::machine::Machine;

/// The seed of the order of arms where nobody says.
const SEED: u64 = 7;

/// Measures every row, prints each, and writes the file.
pub(super) fn run(
    arguments: &Arguments,
    store: KernelStore,
    loaded: &Loaded,
    rows: &[Planned<'_>],
) -> anyhow::Result<Exit> {
    let machine = arguments.device.open(&store.cache)?;
    let environment = environment::describe(Some(&machine));
    let mut file = head(arguments, loaded, &machine, &environment);
    let target = machine.target.clone();
    let interrupted = interrupted()?;
    let config = RunConfig {
        commit: environment.commit.clone(),
        dirty: environment.dirty,
        ..run_config(store.cache, machine)
    };
    let mut pool = Pool::new(target.clone(), interrupted)?;
    let session = Session {
        config: &config,
        seed: file.seed.unwrap_or(SEED),
        started: Instant::now(),
        copy_speed: measure::ceiling::copy_speed(&mut pool),
        interrupted,
    };
    let gpus: Vec<u32> = file.machine.gpus.iter().map(|gpu| gpu.number).collect();
    // A machine whose GPUs tell nothing of themselves measures all the same.
    let nvml = (target.device() == DeviceName::Cuda).then(|| Nvml::open().ok()).flatten();
    if let Some(driver) = nvml.and_then(|nvml| nvml.driver_version()) {
        file.machine.gpus.iter_mut().for_each(|gpu| gpu.driver.clone_from(&driver));
    }
    let read = |file: &mut BenchFile| {
        let at_ns = session.started.elapsed().as_nanos() as f64;
        let readings = gpus.iter().filter_map(|gpu| Some(reading(nvml?.read(*gpu), *gpu, at_ns)));
        file.machine.readings.extend(readings);
    };
    read(&mut file);
    let bar = bar(rows.iter().map(steps).sum());
    for (number, planned) in rows.iter().enumerate() {
        bar.set_message(planned.id.clone());
        let row = measure(&session, number, planned, &mut pool, &mut |_| bar.inc(1));
        bar.suspend(|| emit(&show::row(&row)))?;
        file.rows.push(row);
        read(&mut file);
        file.interrupted = interrupted.load(Ordering::Relaxed);
        if let Some(path) = &arguments.json {
            save(path, &file::write(&file)?)?;
        }
        if let Some(path) = &arguments.csv {
            save(path, &bench::export::csv(&file))?;
        }
        if file.interrupted {
            break;
        }
    }
    bar.finish_and_clear();
    emit(&show::end(&file, rows.len()))?;
    Ok(exit(&file))
}

/// Whether a row says anything, and whether an arm was wrong.
fn exit(file: &BenchFile) -> Exit {
    let has_samples = |row: &Row| row.launches.iter().any(|launch| !launch.blocks.is_empty());
    if file.interrupted {
        Exit::Interrupted
    } else if file.rows.iter().any(|row| !row.invalid.is_empty()) {
        Exit::Failed
    } else if file.rows.iter().any(has_samples) {
        Exit::Passed
    } else {
        Exit::Nothing
    }
}

/// The file before anything was measured.
fn head(
    arguments: &Arguments,
    loaded: &Loaded,
    machine: &Machine,
    environment: &Environment,
) -> BenchFile {
    let scenario = match &loaded.files[..] {
        [only] => Some(file::Scenario {
            name: only.name.clone(),
            path: only.source.path.display().to_string(),
            sha256: hex(&Sha256::digest(only.source.text.as_bytes())),
        }),
        _ => None,
    };
    let protocol = loaded.files.first().map(|file| Protocol {
        warmup: file.bench.warmup,
        iterations: file.bench.iterations,
        blocks: file.bench.blocks,
        launches: file.bench.launches,
        clock: match machine.target.device().is_gpu() {
            false => {
                "ranks meet on a board without sleeping; a rank's time runs from the first one's begin to its own end, on one monotonic clock".into()
            }
            true => {
                "queues wait at a gate that the host opens; times are the device's own events, from the process's first begin to each rank's end".into()
            }
        },
    });
    let gpus = machine.gpus.iter().map(|gpu| file::Gpu {
        number: gpu.number,
        name: gpu.name.clone(),
        driver: String::new(),
        memory_bytes: gpu.memory_bytes,
    });
    let versions: BTreeMap<String, String> =
        environment.compiler.iter().map(|compiler| ("compiler".into(), compiler.clone())).collect();
    BenchFile {
        schema: SCHEMA.to_owned(),
        rankcheck: environment.rankcheck.clone(),
        machine: FileMachine {
            system: environment.system.clone(),
            cpu: device::hardware::describe_hardware(),
            cores: std::thread::available_parallelism().map_or(0, |cores| cores.get() as u32),
            memory_bytes: environment.memory_bytes,
            gpus: gpus.collect(),
            versions,
            readings: Vec::new(),
        },
        command: std::env::args().skip(1).collect(),
        seed: Some(arguments.select.seed.unwrap_or(SEED)),
        scenario,
        protocol: protocol.unwrap_or_default(),
        provenance: Vec::new(),
        notes: loaded.files.iter().flat_map(|file| file.notes.clone()).collect(),
        interrupted: false,
        rows: Vec::new(),
    }
}

/// What a GPU said, as the file spells it.
fn reading(said: GpuReading, gpu: u32, at_ns: f64) -> file::Reading {
    let GpuReading {
        sm_clock_mhz,
        memory_clock_mhz,
        temperature_c,
        power_mw,
        throttled,
        processes,
    } = said;
    file::Reading {
        at_ns,
        gpu,
        sm_clock_mhz,
        memory_clock_mhz,
        temperature_c,
        power_w: power_mw.map(|power| f64::from(power) / 1e3),
        throttled: throttled.into_iter().map(str::to_owned).collect(),
        other_processes: processes,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes the file whole, or leaves the one that is there.
fn save(path: &Path, text: &str) -> anyhow::Result<()> {
    Ok(ReportFile::open(Some(path))?.finish(text)?)
}

/// A bar on terminals only, with the time that is left.
fn bar(steps: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = "{bar:40} {pos}/{len} {elapsed} (about {eta} left) {msg}";
    let style = ProgressStyle::with_template(template);
    ProgressBar::new(steps as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
