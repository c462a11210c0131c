//! `rankcheck perflog`: logs of nccl-tests and rccl-tests, read and judged.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use tuner::perflog::{Log, Status, csv, read};

use super::{emit, json};
use crate::exit::Exit;

/// Arguments of `rankcheck perflog`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Logs, text or JSON
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// How the answer is written
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people
    Human,
    /// For machines, everything
    Json,
    /// For machines, one line for each half of each row
    Csv,
}

/// What `perflog --format json` writes.
#[derive(serde::Serialize, schemars::JsonSchema)]
pub(super) struct Document {
    /// The name of the format, `rankcheck.perflog/1`.
    schema: &'static str,
    /// One entry a file, in the order given.
    logs: Vec<File>,
}

/// One log.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct File {
    /// Its path, as given.
    file: String,
    /// What was read in it.
    #[serde(flatten)]
    log: Log,
}

/// Reads and judges the logs; 1 where one of them is not `ok` or too slow for the tool's own limit.
pub(crate) fn run(args: Args) -> anyhow::Result<Exit> {
    let files = args
        .files
        .iter()
        .map(|path| {
            let bytes =
                std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
            Ok(File { file: path.display().to_string(), log: read(&bytes) })
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    let good = |file: &File| file.log.status == Status::Ok && !file.log.below_min_bandwidth;
    let passed = files.iter().all(good);
    emit(&match args.format {
        Format::Human => human(&files),
        Format::Json => json(&Document { schema: "rankcheck.perflog/1", logs: files })?,
        Format::Csv => {
            csv(&files.iter().map(|file| (file.file.as_str(), &file.log)).collect::<Vec<_>>())
        }
    })?;
    Ok(if passed { Exit::Passed } else { Exit::Failed })
}

fn human(files: &[File]) -> String {
    /// Reasons shown for one log; JSON has all.
    const MAX_REASONS: usize = 8;
    let mut text = String::new();
    for File { file, log } in files {
        let _ = writeln!(text, "{:<16} {file}", log.status.name());
        let _ = writeln!(text, "  {}", summary(log));
        for reason in log.reasons.iter().take(MAX_REASONS) {
            let _ = writeln!(text, "  {reason}");
        }
        if log.reasons.len() > MAX_REASONS {
            let _ = writeln!(text, "  and {} more", log.reasons.len() - MAX_REASONS);
        }
        for note in &log.notes {
            let _ = writeln!(text, "  note: {note}");
        }
    }
    let bad = files.iter().filter(|file| file.log.status != Status::Ok).count();
    let _ = writeln!(text, "{} logs, {} ok, {bad} not", files.len(), files.len() - bad);
    text
}

fn summary(log: &Log) -> String {
    let mut parts = vec![log.collective.clone().unwrap_or_else(|| "unknown collective".to_owned())];
    parts.extend(log.tool.clone());
    parts.extend(log.ranks.map(|ranks| format!("{ranks} ranks")));
    let (rows, unreadable) = (log.rows.len(), log.unreadable.len());
    parts.push(format!("{rows} rows read, {unreadable} unreadable"));
    let sizes = || log.rows.iter().map(|row| row.size_bytes);
    if let (Some(least), Some(most)) = (sizes().min(), sizes().max()) {
        parts.push(format!("{least}..{most} bytes"));
    }
    for average in log.footers.iter().flat_map(|footer| &footer.averages) {
        parts.push(format!("mean busbw {} GB/s", average.busbw_gbs));
    }
    parts.join(", ")
}
