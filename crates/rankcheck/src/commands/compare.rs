//! `rankcheck compare`: is it faster, by how much, and how sure is that?

use std::path::PathBuf;

use bench::compare::{Comparison, Family, Policy, Verdict, between, within};
use clap::Args;
use report::{Kind, comparison_markdown};

use crate::arguments::reports::{appended_summary, report_argument};
use crate::commands::report::{of_comparison, write};
use crate::exit::Exit;
use crate::measurements::{self, FileArgument};

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// One file, whose arms are compared, or two: the base and what is compared with it. `NAME=FILE` gives a name;
    /// files of one name are launches of the same.
    #[arg(required = true, value_name = "[NAME=]FILE")]
    files: Vec<FileArgument>,
    /// The arm that others are held against, in one file [default: each row's first].
    #[arg(long, value_name = "ARM")]
    base: Option<String>,
    /// The smallest difference that matters, such as `2%`.
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = percent)]
    margin: f64,
    /// Exit with 1 where an arm is slower or invalid; p-values are then guarded against any false one (Holm).
    #[arg(long)]
    gate: bool,
    /// `human`, `json`, `markdown` or `html`, with `=PATH` for a file; repeatable [default: human].
    #[arg(long, value_name = "KIND[=PATH]", value_parser = report_argument)]
    report: Vec<(Kind, Option<PathBuf>)>,
}

/// A share, from a text such as `2%`.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').unwrap_or(text).trim().parse::<f64>();
    match number {
        Ok(number) if (0.0..=100.0).contains(&number) && number > 0.0 => Ok(number / 100.0),
        _ => Err(format!("`{text}` is no percentage above 0, such as 2%")),
    }
}

/// Compares, reports, and says whether the gate opens.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let family = if arguments.gate { Family::AnyFalse } else { Family::FewFalse };
    let policy = Policy { margin: arguments.margin, family };
    let read = measurements::read(&arguments.files)?;
    let comparison = match &read[..] {
        [one] => within(&one.file, arguments.base.as_deref(), one.source.clone(), policy)?,
        [_, _] if arguments.base.is_some() => {
            anyhow::bail!("--base names an arm of one file; of two files the first is the base")
        }
        [base, other] => {
            let sources = [base.source.clone(), other.source.clone()];
            between([&base.file, &other.file], sources, policy)?
        }
        others => anyhow::bail!("{} things to compare, and two can be", others.len()),
    };
    write(&arguments.report, |kind| of_comparison(kind, &comparison))?;
    appended_summary(|| comparison_markdown(&comparison))?;
    Ok(exit(arguments.gate, &comparison))
}

/// A gate says no to what is slower, and to what was not shown to be right.
fn exit(gate: bool, comparison: &Comparison) -> Exit {
    let refused =
        comparison.rows.iter().any(|row| row.invalid || row.verdict == Some(Verdict::Slower));
    if gate && refused {
        Exit::Failed
    } else if comparison.tested == 0 {
        Exit::Nothing
    } else {
        Exit::Passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_read() {
        assert_eq!(percent("2%"), Ok(0.02));
        assert_eq!(percent("0.5"), Ok(0.005));
        for wrong in ["0%", "x", "NaN", "-1%", ""] {
            assert!(percent(wrong).is_err(), "{wrong}");
        }
    }
}
