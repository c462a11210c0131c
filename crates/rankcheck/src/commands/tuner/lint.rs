//! `rankcheck tuner lint`.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use tuner::Dialect;
use tuner::lint::{Edit, Effect, Finding, Severity, fix, lint, sarif};

use super::{DialectArg, read};
use crate::commands::{emit, json};
use crate::exit::Exit;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Tuner files
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    dialect: DialectArg,
    /// How findings are written
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
    /// Rewrites what is mechanical in the files, and lists every edit
    #[arg(long)]
    fix: bool,
    /// Warnings fail too
    #[arg(long)]
    strict: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people
    Human,
    /// For machines
    Json,
    /// For annotations in CI
    Sarif,
}

/// What `tuner lint --format json` writes.
#[derive(serde::Serialize, schemars::JsonSchema)]
pub(in crate::commands) struct Document {
    /// The name of the format, `rankcheck.tuner-lint/1`.
    schema: &'static str,
    /// One entry a file, in the order given.
    files: Vec<File>,
}

/// One file, looked at.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct File {
    /// Its path, as given.
    file: String,
    /// The reader whose decisions the findings about several rows are about.
    dialect: Dialect,
    /// Whether the file's name is all that tells the reader.
    dialect_guessed: bool,
    /// What `--fix` has rewritten.
    edits: Vec<Edit>,
    /// What was found, in order of place, after the edits.
    findings: Vec<Finding>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let files =
        args.files.iter().map(|path| check(path, args)).collect::<anyhow::Result<Vec<_>>>()?;
    let worst = files.iter().flat_map(|file| &file.findings).map(|finding| finding.severity).min();
    let text = match args.format {
        Format::Human => files.iter().map(human).collect(),
        Format::Json => json(&Document { schema: "rankcheck.tuner-lint/1", files })?,
        Format::Sarif => {
            let found: Vec<_> =
                files.iter().map(|file| (file.file.as_str(), file.findings.as_slice())).collect();
            // Edits are never silent: SARIF has no place for what was already done.
            files.iter().for_each(|file| eprint!("{}", edits(file)));
            json(&sarif(&found))?
        }
    };
    emit(&text)?;
    Ok(match worst {
        Some(Severity::Error) => Exit::Failed,
        Some(Severity::Warning) if args.strict => Exit::Failed,
        Some(Severity::Warning | Severity::Info) | None => Exit::Passed,
    })
}

fn check(path: &PathBuf, args: &Args) -> anyhow::Result<File> {
    let mut text = read(path)?;
    // Every finding tells what every reader does, so that a doubtful guess may stand.
    let reader = args.dialect.of(path, &text);
    reader.tell(path);
    let dialect = reader.dialect;
    let mut edits = Vec::new();
    if args.fix {
        let (fixed, done) = fix(&text);
        if fixed != text {
            std::fs::write(path, &fixed)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        (text, edits) = (fixed, done);
    }
    let findings = lint(&text, dialect);
    let dialect_guessed = reader.guessed;
    Ok(File { file: path.display().to_string(), dialect, dialect_guessed, edits, findings })
}

fn edits(file: &File) -> String {
    let show = |edit: &Edit| {
        let Edit { line, rule, before, after } = edit;
        format!("{}:{line}: fixed [{}]\n  - {before}\n  + {after}\n", file.file, rule.name())
    };
    file.edits.iter().map(show).collect()
}

/// Each effect once, with the dialects that have it.
fn by_effect(effects: &[Effect]) -> Vec<(String, &str)> {
    let mut grouped: Vec<(Vec<Dialect>, &str)> = Vec::new();
    for effect in effects {
        match grouped.iter_mut().find(|(_, what)| *what == effect.what) {
            Some((dialects, _)) => dialects.push(effect.dialect),
            None => grouped.push((vec![effect.dialect], &effect.what)),
        }
    }
    let names = |dialects: Vec<Dialect>| match dialects.len() == Dialect::ALL.len() {
        true => "every dialect".to_owned(),
        false => dialects.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    };
    grouped.into_iter().map(|(dialects, what)| (names(dialects), what)).collect()
}

fn human(file: &File) -> String {
    let mut text = edits(file);
    for finding in &file.findings {
        let Finding { line, column, rule, severity, message, effects, suggestion, .. } = finding;
        let place = format!("{}:{line}:{column}", file.file);
        let _ = writeln!(text, "{place}: {}: {message} [{}]", severity.name(), rule.name());
        for (who, what) in by_effect(effects) {
            let _ = writeln!(text, "  {who}: {what}");
        }
        if let Some(suggestion) = suggestion {
            let _ = writeln!(text, "  help: {suggestion}");
        }
    }
    let count = |severity| file.findings.iter().filter(|f| f.severity == severity).count();
    let fixable = file.findings.iter().filter(|finding| finding.fixable).count();
    let hint =
        if fixable > 0 { format!("; {fixable} can be fixed with --fix") } else { String::new() };
    let _ = writeln!(
        text,
        "{} ({}): {} errors, {} warnings, {} infos{hint}",
        file.file,
        file.dialect,
        count(Severity::Error),
        count(Severity::Warning),
        count(Severity::Info),
    );
    text
}
