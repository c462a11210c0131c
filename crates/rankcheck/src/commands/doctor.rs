//! `rankcheck doctor`: what this machine has, and what each missing piece is for.

use clap::Args;
use collectives::Collective;
use device::cuda::{Nvrtc, OVERRIDE};
use device::vendors::vendor;
use kernels::{Cache, Compiler, DeviceName};
use ranks::budget::{available_bytes, show_bytes};
use ranks::heaps::speed::{problem, speeds};
use ranks::probe;

use crate::commands::emit;
use crate::environment;
use crate::exit::Exit;
use crate::machine::Machine;

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Measure how fast heaps are judged on GPU 0 (takes 24 GiB of its memory), and nothing else.
    #[arg(long)]
    measure: bool,
}

/// Prints one line a piece; fails when the CPU cannot run kernels.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    if arguments.measure {
        return measure();
    }
    let compiler = Compiler::find();
    let facts = environment::describe(None);
    let mut text = String::new();
    let mut line = |what: &str, found: &str, purpose: &str| {
        text += &format!(
            "{what:<14} {found}
{:<14}   {purpose}
",
            ""
        )
    };
    line("rankcheck", &facts.rankcheck, &facts.system);
    line("processor", &facts.hardware, "device cpu: logical and process mode");
    let memory = format!(
        "{} in all, {} available",
        show_bytes(facts.memory_bytes),
        show_bytes(available_bytes())
    );
    line("memory", &memory, "heaps of all ranks; cases that need more are unsupported");
    match &compiler {
        Ok(found) => line(
            "C++ compiler",
            &format!("{} ({})", found.version, found.path.display()),
            "builds kernels for the CPU",
        ),
        Err(error) => line("C++ compiler", "missing", &error.to_string()),
    }
    match Cache::open() {
        Ok(cache) => line(
            "cache",
            &cache.folder().display().to_string(),
            "objects; RANKCHECK_CACHE names another folder",
        ),
        Err(error) => line(
            "cache",
            "cannot be written",
            &format!("{error} (name another folder in RANKCHECK_CACHE)"),
        ),
    }
    let nextest = std::process::Command::new("cargo").args(["nextest", "--version"]).output();
    let nextest = nextest.ok().filter(|output| output.status.success());
    let version = nextest.map(|output| {
        String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned()
    });
    line(
        "cargo-nextest",
        version.as_deref().unwrap_or("missing"),
        "one test a case; `cargo install cargo-nextest --locked`",
    );
    for device in DeviceName::ALL.into_iter().filter(|device| device.is_gpu()) {
        gpus(device, &mut line);
    }
    match Nvrtc::find("") {
        Ok(nvrtc) => {
            let found = format!("{} ({})", nvrtc.release(), nvrtc.path().display());
            line(
                "NVRTC",
                &found,
                &format!("builds kernels for NVIDIA GPUs; {OVERRIDE} names another"),
            );
            match nvrtc.includes().first() {
                Some(folder) => {
                    line("CUDA headers", &folder.display().to_string(), "cuda_fp16.h and others");
                }
                None => line("CUDA headers", "missing", "kernels that include cuda_fp16.h, say"),
            }
        }
        Err(error) => line("NVRTC", "missing", &format!("{error} (name one in {OVERRIDE})")),
    }
    emit(&text)?;
    Ok(if compiler.is_ok() { Exit::Passed } else { Exit::Missing })
}

/// The GPUs of a device, and its driver.
fn gpus(device: DeviceName, line: &mut dyn FnMut(&str, &str, &str)) {
    let maker = device.maker();
    let none = format!("{maker} GPUs");
    if vendor(device).is_err() {
        return line(&none, "not supported by this build", &format!("device {device}"));
    }
    let found = match probe::gpus(device) {
        Ok(found) => found,
        Err(why) => return line(&none, "none", &format!("device {device}: {why}")),
    };
    for gpu in &found.gpus {
        let (memory, name) = (show_bytes(gpu.memory_bytes), &gpu.name);
        let name = format!(
            "{name}, {memory}, {}, {} multiprocessors",
            gpu.architecture, gpu.multiprocessors
        );
        let use_ = format!("device {device}: logical and process mode");
        line(&format!("GPU {}", gpu.number), &name, &use_);
    }
    let driver = format!("{} ({})", found.driver.version, found.driver.path);
    line(&format!("{maker} driver"), &driver, &format!("runs kernels on {maker} GPUs"));
}

/// The judge's speed on a GPU as a part of the GPU's own copy.
fn measure() -> anyhow::Result<Exit> {
    let machine = Machine::first_gpu(&Cache::open()?)?;
    let mut text = format!("{}\n", machine.hardware());
    for collective in [Collective::AllGather, Collective::AllReduce] {
        let speeds = speeds(&machine.target, &problem(collective))?;
        let gigabytes = |speed: f64| speed / 1e9;
        text += &format!(
            "{collective} of 8 ranks, 8192x8192 f32, {} of heaps: copy {:.0} GB/s read and written, \
             fill {:.0} GB/s = {:.2} of it, verify {:.0} GB/s = {:.2} of it\n",
            show_bytes(speeds.bytes),
            gigabytes(speeds.copy),
            gigabytes(speeds.fill),
            speeds.fill / speeds.copy,
            gigabytes(speeds.verify),
            speeds.verify / speeds.copy,
        );
    }
    emit(&text)?;
    Ok(Exit::Passed)
}
