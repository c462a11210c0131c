//! `rankcheck tuner judge`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use bench::compare::{Family, Policy};
use tuner::Table;
use tuner::judge::{Content, Judgement, LogFile, Overall, judge, summary};
use tuner::plan::Plan;

use super::read;
use crate::commands::compare::percent;
use crate::commands::{emit, json};
use crate::exit::Exit;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The plan, as `rankcheck tuner plan --format json` writes it
    plan: PathBuf,
    /// Logs of its runs, called RUN.log, or folders of them; a summary is what `rankcheck perflog
    /// --format csv` writes
    #[arg(required = true)]
    logs: Vec<PathBuf>,
    /// The smallest difference that matters, such as 2%
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = percent)]
    margin: f64,
    /// Exit with 1 where a row is worse; p-values are then guarded against any false one (Holm)
    #[arg(long)]
    gate: bool,
    /// How the answer is written
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people
    Human,
    /// To paste into a review
    Markdown,
    /// For machines
    Json,
}

/// A file that was read.
struct File {
    path: PathBuf,
    bytes: Vec<u8>,
    sha256: String,
}

/// Judges the logs; 1 where the gate says no, 4 where no run counts.
pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let shown = args.plan.display();
    let plan: Plan = serde_json::from_slice(&read(&args.plan)?)
        .with_context(|| format!("{shown}: no plan (write it with `tuner plan --format json`)"))?;
    let (files, statuses) = files(&args.logs)?;
    let logs = logs(&files)?;
    let beside = args.plan.parent();
    // Runs were given paths; they are looked for here, then beside the plan.
    let table = |path: &str| {
        let places = [Some(PathBuf::from(path)), beside.map(|folder| folder.join(path))];
        let bytes = places.into_iter().flatten().find_map(|path| std::fs::read(path).ok())?;
        Some(Table::load(plan.dialect, &bytes))
    };
    let family = if args.gate { Family::AnyFalse } else { Family::FewFalse };
    let policy = Policy { margin: args.margin, family };
    let judgement = judge(&plan, &logs, &table, &statuses, policy);
    emit(&match args.format {
        Format::Human => judgement.text(),
        Format::Markdown => judgement.markdown(),
        Format::Json => json(&judgement)?,
    })?;
    Ok(exit(args.gate, &judgement))
}

fn exit(gate: bool, judgement: &Judgement) -> Exit {
    match judgement.verdict {
        Overall::Worse if gate => Exit::Failed,
        _ if judgement.tested == 0 => Exit::Nothing,
        _ => Exit::Passed,
    }
}

/// The files that were named and those of folders, and the exit statuses that a folder's script wrote down.
fn files(paths: &[PathBuf]) -> anyhow::Result<(Vec<File>, BTreeMap<String, i32>)> {
    let mut named = Vec::new();
    let mut statuses = BTreeMap::new();
    for path in paths {
        if !path.is_dir() {
            named.push(path.clone());
            continue;
        }
        let folder = std::fs::read_dir(path).with_context(|| path.display().to_string())?;
        let inside = folder.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<_>>>()?;
        let mut inside: Vec<PathBuf> = inside.into_iter().filter(|path| is_taken(path)).collect();
        inside.sort();
        named.extend(inside);
        let Ok(text) = std::fs::read_to_string(path.join("status.tsv")) else { continue };
        let lines = text.lines().filter_map(|line| line.split_once('\t'));
        statuses
            .extend(lines.filter_map(|(status, run)| Some((run.to_owned(), status.parse().ok()?))));
    }
    let files = named.into_iter().map(|path| {
        let bytes = read(&path)?;
        let sha256 = kernels::hash(&bytes);
        Ok(File { path, bytes, sha256 })
    });
    Ok((files.collect::<anyhow::Result<_>>()?, statuses))
}

fn is_taken(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "log" || extension == "csv")
}

/// What the files hold of which run. A log goes before a summary of it.
fn logs(files: &[File]) -> anyhow::Result<Vec<LogFile<'_>>> {
    let mut logs: Vec<LogFile<'_>> = Vec::new();
    let mut summaries = Vec::new();
    for file in files {
        let summarised = std::str::from_utf8(&file.bytes).ok().and_then(summary);
        if let Some(runs) = summarised {
            summaries.extend(runs.into_iter().map(|(run, halves)| LogFile {
                run,
                sha256: &file.sha256,
                content: Content::Summary(halves),
            }));
            continue;
        }
        let run = file.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if logs.iter().any(|log| log.run == run) {
            anyhow::bail!("two logs are called {run}.log: which is the run's?");
        }
        logs.push(LogFile { run, sha256: &file.sha256, content: Content::Log(&file.bytes) });
    }
    for summary in summaries {
        if !logs.iter().any(|log| log.run == summary.run) {
            logs.push(summary);
        }
    }
    Ok(logs)
}
