//! `rankcheck tuner diff`.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use tuner::diff::{Decision, Map, NewShadow, Overlap, Span, changes, maps, new_shadows};
use tuner::gate::{Allowed, Outside, outside};
use tuner::scope::Scope;
use tuner::{Dialect, Table, Unavailable};

use super::{DialectArg, Format, load};
use crate::commands::{emit, json};
use crate::exit::Exit;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// OLD NEW, or BASE A B for two pending changes to one base
    #[arg(required = true, num_args = 2..=3, value_names = ["OLD", "NEW"])]
    files: Vec<PathBuf>,
    #[command(flatten)]
    dialect: DialectArg,
    /// Choices that the library does not offer: `nvls`, `ll128` or `tree/ll128`; repeatable
    #[arg(long)]
    unavailable: Vec<Unavailable>,
    /// What the change may touch: `allreduce nodes=2 ranks=16 32M..150994943`, all but the sizes left
    /// out at will; repeatable. A change outside all of them fails
    #[arg(long, value_name = "RANGE")]
    gate: Vec<Allowed>,
    /// Writes a picture of all intervals to this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// How the answer is written
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// What `tuner diff --format json` writes.
#[derive(serde::Serialize, schemars::JsonSchema)]
pub(in crate::commands) struct Document {
    /// The name of the format, `rankcheck.tuner-diff/1`.
    schema: &'static str,
    /// The reader of the files.
    dialect: Dialect,
    /// Whether the file's name is all that tells the reader.
    dialect_guessed: bool,
    /// What loading that reader changes besides what the files say; null where nothing.
    caveat: Option<&'static str>,
    /// The files, as given; decisions are in this order.
    files: Vec<String>,
    /// Sizes that some file handles otherwise than the first does.
    changes: Vec<Change>,
    /// Rows that lose sizes by a change, one entry for each file after the first.
    shadowed: Vec<Shadowed>,
    /// Changes outside what `--gate` declares; empty without it.
    outside_gate: Vec<Outside>,
}

/// The changes in the communicators of one scope.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct Change {
    /// The communicators.
    scope: Scope,
    /// Spans in order of size.
    spans: Vec<ChangedSpan>,
}

/// Sizes over which every file's decision is constant.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct ChangedSpan {
    /// Smallest size, in bytes.
    from: u64,
    /// Largest size, in bytes.
    to: u64,
    /// One decision a file.
    decisions: Vec<Decision>,
    /// How the files after the first relate here.
    overlap: Overlap,
}

/// Rows of one changed file that lose sizes they had.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct Shadowed {
    /// The file, as given.
    file: String,
    /// Its rows.
    rows: Vec<NewShadow>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let (reader, tables) = load(&args.files, &args.dialect)?;
    let dialect = reader.dialect;
    let tables: Vec<&Table> = tables.iter().collect();
    let names: Vec<_> = args.files.iter().map(|path| path.display().to_string()).collect();
    let unavailable = args.unavailable.iter().fold(Unavailable::default(), |a, b| a.union(*b));
    let changed = changes(&tables, unavailable);
    let outside_gate = match args.gate.as_slice() {
        [] => Vec::new(),
        allowed => outside(&changed, allowed),
    };
    let shadowed: Vec<_> = tables[1..]
        .iter()
        .zip(&names[1..])
        .map(|(table, file)| Shadowed { file: file.clone(), rows: new_shadows(tables[0], table) })
        .collect();
    if let Some(path) = &args.svg {
        let labels: Vec<_> = names.iter().map(String::as_str).collect();
        let picture = tuner::svg::draw(&maps(&tables, unavailable), &labels);
        std::fs::write(path, picture)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    emit(&match args.format {
        Format::Human => human(&changed, &shadowed, &names, dialect),
        Format::Json => json(&Document {
            schema: "rankcheck.tuner-diff/1",
            dialect,
            dialect_guessed: reader.guessed,
            caveat: dialect.caveat(),
            files: names,
            changes: changed.into_iter().map(with_overlap).collect(),
            shadowed,
            outside_gate: outside_gate.clone(),
        })?,
    })?;
    for change in &outside_gate {
        eprintln!("outside the declared ranges: {change}");
    }
    Ok(if outside_gate.is_empty() { Exit::Passed } else { Exit::Failed })
}

fn with_overlap(map: Map) -> Change {
    let told = |span: Span| ChangedSpan {
        overlap: span.overlap(),
        from: span.from,
        to: span.to,
        decisions: span.decisions,
    };
    Change { scope: map.scope, spans: map.spans.into_iter().map(told).collect() }
}

fn human(changed: &[Map], shadowed: &[Shadowed], names: &[String], dialect: Dialect) -> String {
    let mut text = String::new();
    let three = names.len() > 2;
    let heads = if three { ["base", "A", "B"].as_slice() } else { ["old", "new"].as_slice() };
    for (head, name) in heads.iter().zip(names) {
        let _ = writeln!(text, "{head}: {name} ({dialect})");
    }
    if changed.is_empty() {
        text += "no size is handled differently\n";
    }
    for map in changed {
        let _ = writeln!(text, "\n{}", map.scope);
        let mut rows = vec![["from bytes", "to bytes"].map(str::to_owned).to_vec()];
        rows[0].extend(heads.iter().map(|head| (*head).to_owned()));
        rows[0].extend(three.then(|| "overlap".to_owned()));
        for span in &map.spans {
            let mut row = vec![span.from.to_string(), end(span.to)];
            row.extend(span.decisions.iter().map(decision));
            row.extend(three.then(|| overlap(span.overlap()).to_owned()));
            rows.push(row);
        }
        text += &columns(&rows);
    }
    for Shadowed { file, rows } in shadowed.iter().filter(|file| !file.rows.is_empty()) {
        let _ = writeln!(text, "\nshadowed in {file}:");
        for NewShadow { old_line, shadow } in rows {
            let before = match old_line {
                Some(line) => format!("was line {line}"),
                None => "new".to_owned(),
            };
            let (line, title) = (shadow.row.line, shadow.title());
            let _ = writeln!(text, "  line {line} ({before}): {title}: {}", shadow.describe());
            let only = if shadow.intact_elsewhere { "only for" } else { "for" };
            let _ = writeln!(text, "    {only} {}", shadow.scope);
        }
    }
    if let Some(caveat) = dialect.caveat() {
        let _ = writeln!(text, "note: {caveat}");
    }
    text
}

fn end(to: u64) -> String {
    if to == u64::MAX { "unbounded".to_owned() } else { to.to_string() }
}

fn decision(decision: &Decision) -> String {
    match decision.row {
        Some(row) => format!("{} (line {})", decision.choice, row.line),
        None => decision.choice.to_string(),
    }
}

fn overlap(overlap: Overlap) -> &'static str {
    match overlap {
        Overlap::Unchanged => "unchanged",
        Overlap::One => "one change",
        Overlap::Agree => "both, same",
        Overlap::Conflict => "CONFLICT",
    }
}

/// Left-aligned columns, two blanks apart.
fn columns(rows: &[Vec<String>]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<_> = (0..rows[0].len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("  {cell:width$}"));
        cells.collect::<String>().trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}
