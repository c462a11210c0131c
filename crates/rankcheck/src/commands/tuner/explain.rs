//! `rankcheck tuner explain`.

use std::fmt::Write as _;
use std::path::PathBuf;

use tuner::explain::{Explanation, Verdict, explain};
use tuner::{Dialect, Query, Unavailable};

use super::question::Question;
use super::{DialectArg, Format, load};
use crate::commands::{emit, json};
use crate::exit::Exit;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Tuner file
    file: PathBuf,
    #[command(flatten)]
    dialect: DialectArg,
    #[command(flatten)]
    question: Question,
    /// Operations in the pipeline, as the library estimates them
    #[arg(long, default_value_t = 1)]
    pipe_ops: i32,
    /// Choices that the library does not offer: `nvls`, `ll128` or `tree/ll128`; repeatable
    #[arg(long)]
    unavailable: Vec<Unavailable>,
    /// How the answer is written
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// What `tuner explain --format json` writes.
#[derive(serde::Serialize, schemars::JsonSchema)]
pub(in crate::commands) struct Document {
    /// The name of the format, `rankcheck.tuner-explain/1`.
    schema: &'static str,
    /// The reader of the files.
    dialect: Dialect,
    /// Whether the file's name is all that tells the reader.
    dialect_guessed: bool,
    /// What loading that reader changes besides what the files say; null where nothing.
    caveat: Option<&'static str>,
    /// The whole story of the question.
    explanation: Explanation,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let (reader, tables) = load(std::slice::from_ref(&args.file), &args.dialect)?;
    let unavailable = args.unavailable.iter().fold(Unavailable::default(), |a, b| a.union(*b));
    let query = args.question.query(args.pipe_ops);
    let explanation = explain(&tables[0], query, unavailable);
    emit(&match args.format {
        Format::Human => human(&explanation, reader.dialect),
        Format::Json => json(&Document {
            schema: "rankcheck.tuner-explain/1",
            dialect: reader.dialect,
            dialect_guessed: reader.guessed,
            caveat: reader.dialect.caveat(),
            explanation,
        })?,
    })?;
    Ok(Exit::Passed)
}

fn human(explanation: &Explanation, dialect: Dialect) -> String {
    let Query { situation: at, bytes } = explanation.query;
    let mut text = format!(
        "{}, {} bytes, {} nodes, {} ranks, pipeOps {}, regBuff {} ({dialect})\n",
        at.collective,
        tuner::bytes::show(bytes),
        at.nodes,
        at.ranks,
        at.pipe_ops,
        at.reg_buff
    );
    for step in &explanation.steps {
        let verdict = match &step.verdict {
            Verdict::Applies => "APPLIES".to_owned(),
            Verdict::Unavailable => {
                "matches, but its choice is unavailable: falls through".to_owned()
            }
            Verdict::Mismatch(reasons) => {
                let said = |reason: &tuner::evaluate::Mismatch| {
                    reason.describe(&step.row, &explanation.query)
                };
                format!("no: {}", reasons.iter().map(said).collect::<Vec<_>>().join("; "))
            }
        };
        let _ = writeln!(
            text,
            "  line {}: {}\n    {verdict}",
            step.row.line,
            step.row.rule.told(dialect)
        );
    }
    let _ = writeln!(text, "result: {}", explanation.choice);
    let mut lost = explanation.choice;
    for fallback in &explanation.fallbacks {
        if let Some((algorithm, protocol)) = lost.pick {
            let row = fallback.row.map_or(String::new(), |row| format!(" (line {})", row.line));
            let choice = fallback.choice;
            let _ = writeln!(text, "where {algorithm}/{protocol} is unavailable: {choice}{row}");
        }
        lost = fallback.choice;
    }
    if let Some(caveat) = dialect.caveat() {
        let _ = writeln!(text, "note: {caveat}");
    }
    text
}
