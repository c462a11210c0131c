//! `rankcheck selftest`: is this tool to be trusted on this machine?

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Args;
use launch::Runner;
use launch::runner::Options;
use report::{Kind, ReportFile};
use scenario::Mode;

use crate::arguments::reports::report_argument;
use crate::embedded;
use crate::environment;
use crate::exit::Exit;
use crate::interrupt::interrupted;
use crate::load::{KernelStore, run_config};
use crate::machine::DeviceArguments;
use crate::selftest::matrix;

/// Arguments of `selftest`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    device: DeviceArguments,
    /// How ranks exist.
    #[arg(long, value_delimiter = ',', default_value = "logical,process")]
    mode: Vec<Mode>,
    /// `human`, `json` or `markdown`, with `=PATH` for a file; repeatable [default: human].
    #[arg(long, value_name = "KIND[=PATH]", value_parser = report_argument)]
    report: Vec<(Kind, Option<PathBuf>)>,
    /// A folder with a mutants.yaml, in place of the mutants that the binary carries.
    #[arg(long, value_name = "DIR")]
    mutants: Option<PathBuf>,
}

/// Runs all mutants and twins, and reports what was caught.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let mut reports = reports(arguments)?;
    let store = KernelStore::open(&[])?;
    let folder = match &arguments.mutants {
        Some(folder) => folder.clone(),
        None => {
            let unpacked = store.cache.unpack("mutants", &embedded::mutants());
            unpacked.context("writing the embedded mutants to the cache folder")?
        }
    };
    let machine = arguments.device.open(&store.cache)?;
    let environment = environment::describe(Some(&machine));
    let jobs = arguments.device.jobs();
    let runner = Runner {
        options: Options { jobs, interrupted: interrupted()? },
        config: run_config(store.cache, machine),
    };
    let matrix = matrix::run(&folder, &store.library, &arguments.mode, &runner, environment)?;
    for (kind, file) in &mut reports {
        file.finish(&match kind {
            Kind::Json => serde_json::to_string_pretty(&matrix)? + "\n",
            Kind::Markdown => matrix.markdown(),
            Kind::Human | Kind::Junit | Kind::Html | Kind::Csv => matrix.human(),
        })?;
    }
    let summary = &matrix.summary;
    Ok(match summary {
        _ if summary.interrupted => Exit::Interrupted,
        _ if summary.missed + summary.twins_failed > 0 => Exit::Failed,
        _ if summary.caught == 0 => Exit::Nothing,
        _ => Exit::Passed,
    })
}

/// Opens every report before anything runs. People want to see something, unless standard output
/// belongs to a machine.
fn reports(arguments: &Arguments) -> anyhow::Result<Vec<(Kind, ReportFile)>> {
    let mut reports = Vec::new();
    for (kind, path) in &arguments.report {
        if matches!(kind, Kind::Junit | Kind::Html | Kind::Csv) {
            bail!("selftest has no report of this kind (expected human, json or markdown)");
        }
        reports.push((*kind, ReportFile::open(path.as_deref())?));
    }
    if !reports.iter().any(|(_, file)| matches!(file, ReportFile::Stdout)) {
        reports.push((Kind::Human, ReportFile::Stdout));
    }
    Ok(reports)
}
