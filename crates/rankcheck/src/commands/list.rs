//! `rankcheck list`: the cases that a run would take, one a line.

use clap::Args;
use kernels::DeviceName;
use launch::runner::distinct_problems;

use crate::commands::emit;
use crate::commands::select::Select;
use crate::exit::Exit;
use crate::load::{KernelStore, load};
use crate::machine::device_named;

/// Arguments of `list`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    select: Select,
    /// What would run the kernels; `auto` is the CPU.
    #[arg(long, default_value = "auto", value_parser = device_named)]
    device: DeviceName,
    /// Only the cases that cannot run here, each with the reason.
    #[arg(long)]
    unsupported: bool,
    /// Totals only.
    #[arg(long)]
    count: bool,
}

/// Prints names, then totals on standard error.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let store = KernelStore::open(&arguments.select.kernels)?;
    let loaded = load(&arguments.select.paths, &store.library, arguments.select.seed)?;
    let device = arguments.device;
    let chosen = arguments.select.choose(&loaded.cases, device)?;
    let (mut unsupported, mut text) = (0, String::new());
    for (case, mode) in &chosen {
        let reason = case.unsupported_in(device, *mode);
        unsupported += usize::from(reason.is_some());
        let name = case.name(device, *mode);
        match reason {
            _ if arguments.count => {}
            Some(reason) if arguments.unsupported => text += &format!("{name}\n    {reason}\n"),
            None if !arguments.unsupported => text += &format!("{name}\n"),
            Some(reason) => text += &format!("{name}  (unsupported: {reason})\n"),
            None => {}
        }
    }
    emit(&text)?;
    eprintln!(
        "{} cases ({} problems, {unsupported} unsupported) of {} files; {} combinations were not generated, {} excluded, {} sampled out",
        chosen.len(),
        distinct_problems(chosen.iter().map(|(case, _)| &case.problem)),
        loaded.files,
        loaded.not_generated,
        loaded.excluded,
        loaded.sampled_out,
    );
    Ok(if chosen.is_empty() { Exit::Nothing } else { Exit::Passed })
}
