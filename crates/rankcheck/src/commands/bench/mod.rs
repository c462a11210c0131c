//! `rankcheck bench`: verifies arms, times them in drawn blocks, keeps every sample.

mod arms;
mod axes;
mod dry_run;
mod measuring;
mod revision;
mod show;

use std::path::PathBuf;

use clap::Args;
use measure::{Planned, plan};
use scenario::{Case, Filter, Mode};

use self::arms::ArmArgument;
use self::axes::AxisArgument;
use crate::commands::select::{self, Select};
use crate::exit::Exit;
use crate::load::KernelStore;
use crate::machine::DeviceArguments;

/// Arguments of `bench`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    select: Select,
    #[command(flatten)]
    device: DeviceArguments,
    /// Other values for an axis: `ranks=2,4`, `shape=64x64,128x128`, or the products of `m=1024,4096` and
    /// `n=4096`; repeatable.
    #[arg(long, value_name = "NAME=LIST")]
    axis: Vec<AxisArgument>,
    /// Another arm: `NAME=VARIANT`, `NAME=KERNEL.VARIANT`, or `NAME=@REV`: the first
    /// arm's kernel with its manifest and headers as they were at a revision; repeatable. An arm called `base`
    /// comes first.
    #[arg(long, value_name = "NAME=WHAT")]
    arm: Vec<ArmArgument>,
    /// A file in which a revision may differ besides the kernel's source and manifest; repeatable.
    #[arg(long, value_name = "FILE")]
    differs: Vec<String>,
    /// Fresh launches of all processes a row [default: the scenario's].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    launches: Option<u32>,
    /// Blocks a fresh launch; in each every arm runs twice [default: the scenario's].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    blocks: Option<u32>,
    /// Samples a run [default: the scenario's].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    iterations: Option<u32>,
    /// Iterations in front of the first sample of a run [default: the scenario's].
    #[arg(long, value_name = "N")]
    warmup: Option<u32>,
    /// Where every sample is written: a file of `rankcheck.bench/1`.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Where a table with the columns of iris.bench is written.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Say what would run, row by row, and run nothing; needs no device and no compiler.
    #[arg(long)]
    dry_run: bool,
}

/// Plans, and runs or prints what would run.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    select::launching(&arguments.select.mode)?;
    let store = KernelStore::open(&arguments.select.kernels)?;
    let loaded = arms::load(arguments, &store)?;
    let device = arguments.device.name();
    let modes: Vec<Mode> = Mode::ALL
        .into_iter()
        .filter(|mode| *mode != Mode::Host && arguments.select.mode.contains(mode))
        .collect();
    let mut rows: Vec<Planned<'_>> = Vec::new();
    let filter = arguments.select.filter()?;
    for file in &loaded.files {
        let of_file = plan(&file.arms, &modes, device.name())?;
        rows.extend(of_file.into_iter().filter(|row| takes(&filter, row, device)));
    }
    if rows.is_empty() {
        eprintln!("nothing selected: {} files have no row that matches", loaded.files.len());
        return Ok(Exit::Nothing);
    }
    match arguments.dry_run {
        true => dry_run::print(&rows),
        false => measuring::run(arguments, store, &loaded, &rows),
    }
}

/// A row is taken where a case of any arm is.
fn takes(filter: &Filter, row: &Planned<'_>, device: kernels::DeviceName) -> bool {
    let mut cases = row.arms.iter().map(|arm| arm.case);
    cases.any(|case: &Case| filter.takes(case, device, row.mode))
}
