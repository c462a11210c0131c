//! `oracle mpi [--planted NAME]` under mpirun, `oracle layouts FOLDER`: see `ci/oracle.sh`.
//! Exit codes: 0 everything agreed, 1 something did not, 2 usage.
#![forbid(unsafe_code)]

use std::path::Path;
use std::process::ExitCode;

/// Distinct (collective, op, dtype, ranks, group) that are compared.
const CASES: usize = 2400;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let agreed = match arguments[..] {
        ["layouts", folder] => oracle::layouts::write(Path::new(folder), CASES)
            .map(|()| true)
            .map_err(|error| format!("{folder}: {error}")),
        ["mpi"] => mpi(None),
        ["mpi", "--planted", name] => mpi(Some(name)),
        _ => Err("usage: oracle mpi [--planted NAME] | oracle layouts FOLDER".into()),
    };
    match agreed {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(why) => {
            eprintln!("oracle: {why}");
            ExitCode::from(2)
        }
    }
}

#[cfg(feature = "mpi")]
fn mpi(planted: Option<&str>) -> Result<bool, String> {
    let judged = match planted {
        None => oracle::expected::REFERENCE,
        Some(name) => oracle::planted::named(name).ok_or(format!("no planted fault `{name}`"))?,
    };
    oracle::mpi::compare(CASES, judged)
}

#[cfg(not(feature = "mpi"))]
fn mpi(_planted: Option<&str>) -> Result<bool, String> {
    Err("built without MPI (cargo build -p oracle --features mpi)".into())
}
