//! `rankcheck tuner probe`.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use tuner::probe::{Probe, Sample, probes, scenarios};
use tuner::sizes::Runner;
use tuner::{Dialect, Table};

use super::{DefaultArgs, DialectArg, read};
use crate::commands::{emit, json};
use crate::exit::Exit;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Tuner file
    file: PathBuf,
    #[command(flatten)]
    dialect: DialectArg,
    #[command(flatten)]
    defaults: DefaultArgs,
    /// What is written
    #[arg(long, value_enum, default_value = "commands")]
    format: Format,
    /// Writes each scenario to a file of its own in this folder (with --format scenario)
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Perf-tool commands, with what must happen in comments
    Commands,
    /// Scenario YAML for the arm that calls the library
    Scenario,
    /// For machines
    Json,
}

/// What `tuner probe --format json` writes.
#[derive(serde::Serialize, schemars::JsonSchema)]
pub(in crate::commands) struct Document {
    /// The name of the format, `rankcheck.tuner-probe/1`.
    schema: &'static str,
    /// The reader of the files.
    dialect: Dialect,
    /// Whether the file's name is all that tells the reader.
    dialect_guessed: bool,
    /// What loading that reader changes besides what the files say; null where nothing.
    caveat: Option<&'static str>,
    /// Element type of the runs, as scenarios spell it.
    dtype: &'static str,
    /// Both sides of every edge.
    probes: Vec<Probe>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let defaults = args.defaults.defaults();
    let file = read(&args.file)?;
    let reader = args.dialect.decided(&args.file, &file)?;
    let table = Table::load(reader.dialect, &file);
    let runner = match args.format {
        Format::Commands | Format::Json => args.defaults.tool.runner(),
        Format::Scenario => Runner::Library,
    };
    let probes = probes(&table, defaults, runner);
    match args.format {
        Format::Commands => emit(&commands(&probes, args, reader.dialect))?,
        Format::Json => emit(&json(&Document {
            schema: "rankcheck.tuner-probe/1",
            dialect: table.dialect,
            dialect_guessed: reader.guessed,
            caveat: table.dialect.caveat(),
            dtype: defaults.dtype.scenario_name,
            probes,
        })?)?,
        Format::Scenario => {
            let source = args.file.file_name().unwrap_or_default().to_string_lossy();
            write_scenarios(&scenarios(&probes, defaults.dtype, &source), args.out.as_ref())?;
        }
    }
    Ok(Exit::Passed)
}

fn commands(probes: &[Probe], args: &Args, dialect: Dialect) -> String {
    let mut text = format!("# both sides of every edge of {}\n", args.file.display());
    if let Some(caveat) = dialect.caveat() {
        let _ = writeln!(text, "# {caveat}");
    }
    let mut last = None;
    for probe in probes {
        let at = probe.situation;
        if last.replace(at) != Some(at) {
            let _ = writeln!(
                text,
                "\n# {}: nodes {}, ranks {}, pipeOps {}, regBuff {}",
                at.collective, at.nodes, at.ranks, at.pipe_ops, at.reg_buff
            );
            if at.pipe_ops > 1 {
                text += "# a perf tool cannot ask for pipeOps above 1: check the library's log\n";
            }
        }
        let lines = probe.lines.iter().map(usize::to_string).collect::<Vec<_>>().join(" and ");
        let _ = writeln!(
            text,
            "# edge {} (line {lines}): {} | {}",
            tuner::bytes::show(probe.edge),
            side(probe.below.as_ref()),
            side(probe.above.as_ref()),
        );
        match probe.command(args.defaults.dtype) {
            Some(command) if probe.is_visible() => text += &(command + "\n"),
            _ => text += "# not run: the same row decides on both sides\n",
        }
    }
    text
}

fn side(sample: Option<&Sample>) -> String {
    match sample {
        None => "nothing to run".to_owned(),
        Some(Sample { bytes, line: Some(line), choice }) => {
            format!("{bytes} {choice} (line {line})")
        }
        Some(Sample { bytes, line: None, choice }) => format!("{bytes} {choice}"),
    }
}

fn write_scenarios(scenarios: &[(String, String)], out: Option<&PathBuf>) -> anyhow::Result<()> {
    let Some(folder) = out else {
        let documents: Vec<_> = scenarios.iter().map(|(_, yaml)| yaml.as_str()).collect();
        return emit(&documents.join("---\n"));
    };
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for (name, yaml) in scenarios {
        let path = folder.join(name).with_extension("yaml");
        std::fs::write(&path, yaml).with_context(|| format!("cannot write {}", path.display()))?;
        emit(&format!("{}\n", path.display()))?;
    }
    Ok(())
}
