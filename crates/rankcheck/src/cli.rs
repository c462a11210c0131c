//! Arguments and the one place where an error becomes an exit code.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::commands::{
    bench, build, cache, compare, doctor, exec, explain, fuzz, judge, list, new, perflog, report,
    run, schema, selftest, tuner,
};
use crate::exit::Exit;
use crate::machine::MissingDevice;

/// Judges GPU collective kernels, byte by byte, on every rank.
#[derive(Debug, Parser)]
#[command(name = "rankcheck", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Run scenarios and judge every byte of every rank's heap.
    Run(run::Arguments),
    /// Verify the arms of a benchmark, time them side by side, and keep every sample.
    Bench(bench::Arguments),
    /// Say which arms of benchmarks are faster or slower, by how much, and how sure that is.
    Compare(compare::Arguments),
    /// Compile the objects that a run would take, and run nothing.
    Build(build::Arguments),
    /// Say how large the cache of compiled objects is, and make it smaller.
    Cache(cache::Arguments),
    /// List the cases that a run would take.
    List(list::Arguments),
    /// Explain a case: shapes, arguments, heap map; or `args`: the symbols of manifests.
    Explain(explain::Arguments),
    /// Print the JSON Schema of scenario files or manifests.
    Schema(schema::Arguments),
    /// Say what this machine has, what is missing, and what each piece is for.
    Doctor(doctor::Arguments),
    /// Run kernels that are wrong on purpose, and see that each is found out.
    Selftest(selftest::Arguments),
    /// Draw random valid cases of a kernel, and shrink the first that fails.
    Fuzz(fuzz::Arguments),
    /// Start ranks of your own program, which opens cases through the library, and judge them.
    Exec(exec::Arguments),
    /// The judge that the library starts for a host program.
    #[command(hide = true)]
    Judge(judge::Arguments),
    /// Write a small kernel or scenario that passes, to start from.
    New(new::Arguments),
    /// Make reports of a run, of measurements or of a comparison.
    Report(report::Arguments),
    /// Checks, explains and compares the CSV rules of a collective library's tuner.
    Tuner(tuner::Args),
    /// Reads logs of nccl-tests and rccl-tests and judges each.
    Perflog(perflog::Args),
}

/// Parses the process's arguments, runs the verb and returns its exit code.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let wrong = error.use_stderr();
            // Nothing to do about a closed terminal.
            let _ = error.print();
            return if wrong { Exit::Usage.into() } else { Exit::Passed.into() };
        }
    };
    let result = match cli.verb {
        Verb::Run(arguments) => run::run(&arguments),
        Verb::Bench(arguments) => bench::run(&arguments),
        Verb::Compare(arguments) => compare::run(&arguments),
        Verb::Build(arguments) => build::run(&arguments),
        Verb::Cache(arguments) => cache::run(&arguments),
        Verb::List(arguments) => list::run(&arguments),
        Verb::Explain(arguments) => explain::run(&arguments),
        Verb::Schema(arguments) => schema::run(&arguments),
        Verb::Doctor(arguments) => doctor::run(&arguments),
        Verb::Selftest(arguments) => selftest::run(&arguments),
        Verb::Fuzz(arguments) => fuzz::run(&arguments),
        Verb::Exec(arguments) => exec::run(&arguments),
        Verb::Judge(arguments) => judge::run(&arguments),
        Verb::New(arguments) => new::run(&arguments),
        Verb::Report(arguments) => report::run(&arguments),
        Verb::Tuner(arguments) => tuner::run(arguments),
        Verb::Perflog(arguments) => perflog::run(arguments),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("error: {error:#}");
            code_of(&error).into()
        }
    }
}

/// What kind of error it is decides the code; by default it is the user's input.
fn code_of(error: &anyhow::Error) -> Exit {
    let missing = error.is::<kernels::CompilerError>()
        || error.is::<device::MissingLibrary>()
        || error.is::<MissingDevice>();
    if missing {
        Exit::Missing
    } else if error.is::<ranks::PoolError>() {
        Exit::Internal
    } else {
        Exit::Usage
    }
}
