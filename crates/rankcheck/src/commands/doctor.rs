//! `rankcheck doctor`: what this machine has, and what each missing piece is for.

use clap::Args;
use kernels::{Cache, Compiler};
use launch::budget::{available_bytes, show_bytes};

use crate::commands::emit;
use crate::environment;
use crate::exit::Exit;

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {}

/// Prints one line a piece; fails when the CPU cannot run kernels.
pub(crate) fn run(_: &Arguments) -> anyhow::Result<Exit> {
    let compiler = Compiler::find();
    let facts = environment::describe(compiler.as_ref().ok());
    let mut text = String::new();
    let mut line = |what: &str, found: &str, purpose: &str| {
        text += &format!(
            "{what:<14} {found}
{:<14}   {purpose}
",
            ""
        )
    };
    line("rankcheck", &facts.rankcheck, &facts.system);
    line("processor", &facts.hardware, "device cpu: logical and process mode");
    let memory = format!(
        "{} in all, {} available",
        show_bytes(facts.memory_bytes),
        show_bytes(available_bytes())
    );
    line("memory", &memory, "heaps of all ranks; cases that need more are unsupported");
    match &compiler {
        Ok(found) => line(
            "C++ compiler",
            &format!("{} ({})", found.version, found.path.display()),
            "builds kernels for the CPU",
        ),
        Err(error) => line("C++ compiler", "missing", &error.to_string()),
    }
    match Cache::open() {
        Ok(cache) => line(
            "cache",
            &cache.folder().display().to_string(),
            "objects; RANKCHECK_CACHE names another folder",
        ),
        Err(error) => line(
            "cache",
            "cannot be written",
            &format!("{error} (name another folder in RANKCHECK_CACHE)"),
        ),
    }
    let nextest = std::process::Command::new("cargo").args(["nextest", "--version"]).output();
    let nextest = nextest.ok().filter(|output| output.status.success());
    let version = nextest.map(|output| {
        String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned()
    });
    line(
        "cargo-nextest",
        version.as_deref().unwrap_or("missing"),
        "one test a case; `cargo install cargo-nextest --locked`",
    );
    line("GPUs", "not supported by this build", "devices cuda and hip");
    emit(&text)?;
    Ok(if compiler.is_ok() { Exit::Passed } else { Exit::Missing })
}
