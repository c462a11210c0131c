//! `rankcheck tuner diff`.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use tuner::diff::{Decision, Map, NewShadow, Overlap, changes, maps, new_shadows};
use tuner::gate::{Allowed, outside};
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

/// Rows of one changed file that lose sizes they had.
#[derive(serde::Serialize)]
struct Shadowed {
    file: String,
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
        Format::Json => json(&serde_json::json!({
            "schema": "rankcheck.tuner-diff/1",
            "dialect": dialect,
            "dialect_guessed": reader.guessed,
            "caveat": dialect.caveat(),
            "files": names,
            "changes": changed.iter().map(with_overlap).collect::<Vec<_>>(),
            "shadowed": shadowed,
            "outside_gate": outside_gate,
        }))?,
    })?;
    for change in &outside_gate {
        eprintln!("outside the declared ranges: {change}");
    }
    Ok(if outside_gate.is_empty() { Exit::Passed } else { Exit::Failed })
}

fn with_overlap(map: &Map) -> serde_json::Value {
    let spans: Vec<_> = map
        .spans
        .iter()
        .map(|span| {
            serde_json::json!({
                "from": span.from,
                "to": span.to,
                "decisions": span.decisions,
                "overlap": span.overlap(),
            })
        })
        .collect();
    serde_json::json!({"scope": map.scope, "spans": spans})
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
