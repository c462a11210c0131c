//! `rankcheck tuner prove`.

use std::fmt::Write as _;
use std::path::PathBuf;

use tuner::proof::{Expectation, Proof, prove};

use super::question::Question;
use super::{DialectArg, Format, load, read};
use crate::commands::{emit, json};
use crate::exit::Exit;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Log of one run with NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=TUNING
    log: PathBuf,
    /// Tuner file, as the library was given it
    #[arg(long)]
    file: PathBuf,
    #[command(flatten)]
    dialect: DialectArg,
    #[command(flatten)]
    question: Question,
    /// What the file said when the run was planned (`ring/ll128 64 channels`); a file that says
    /// something else by now proves nothing
    #[arg(long)]
    expect: Option<String>,
    /// The rows have to show algorithm, protocol and channels themselves (rccl-tests -A 1 or -M 1)
    #[arg(long)]
    own_columns: bool,
    /// How the answer is written
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// What `tuner prove --format json` writes.
#[derive(serde::Serialize, schemars::JsonSchema)]
pub(in crate::commands) struct Document {
    /// The name of the format, `rankcheck.tuner-proof/1`.
    schema: &'static str,
    /// The log, as given.
    log: String,
    /// The tuner file, as given.
    file: String,
    /// Whether the log proves that every rank has applied what the file says.
    holds: bool,
    /// What was found.
    proof: Proof,
}

/// Looks for the proof; 1 where there is none.
pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let (_, tables) = load(std::slice::from_ref(&args.file), &args.dialect)?;
    let file = args.file.display().to_string();
    let expected = Expectation {
        table: &tables[0],
        file: &file,
        query: args.question.query(1),
        own_columns: args.own_columns,
    };
    let mut proof = prove(&read(&args.log)?, &expected);
    if let Some(planned) = args.expect.as_deref().filter(|text| *text != proof.choice.to_string()) {
        let now = proof.choice;
        proof.problems.push(format!("{file} says {now} by now; the plan was made for {planned}"));
    }
    let holds = proof.holds();
    match args.format {
        Format::Json => emit(&json(&Document {
            schema: "rankcheck.tuner-proof/1",
            log: args.log.display().to_string(),
            file,
            holds,
            proof,
        })?)?,
        Format::Human if holds => emit(&proved(&proof, args))?,
        Format::Human => eprint!("{}", not_proved(&proof, args)),
    }
    Ok(if holds { Exit::Passed } else { Exit::Failed })
}

fn proved(proof: &Proof, args: &Args) -> String {
    let what = match proof.line {
        Some(line) => format!("{} ranks applied line {line}: {}", proof.applied_by, proof.choice),
        None => format!("no row applied: {}", proof.choice),
    };
    format!(
        "proved      {}: {} ranks loaded the file, {what}\n",
        args.log.display(),
        proof.loaded_by
    )
}

fn not_proved(proof: &Proof, args: &Args) -> String {
    let expected = match proof.line {
        Some(line) => format!("line {line} of {}: {}", args.file.display(), proof.choice),
        None => format!("no row of {}", args.file.display()),
    };
    let mut text = format!("not proved  {}: {expected}\n", args.log.display());
    for problem in &proof.problems {
        let _ = writeln!(text, "  {problem}");
    }
    text
}
