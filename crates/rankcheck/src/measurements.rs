//! Files of measurements, as the command line names them.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Context as _;
use bench::compare::{Source, join};
use bench::file::{BenchFile, Machine};
use bench::import::{self, Origin};

/// `[NAME=]FILE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileArgument {
    name: Option<String>,
    path: PathBuf,
}

impl FromStr for FileArgument {
    type Err = String;
    fn from_str(text: &str) -> Result<FileArgument, String> {
        let (name, path) = match text.split_once('=') {
            // A path may have such a sign, a name has no folder in front of it.
            Some((name, path)) if !name.is_empty() && !name.contains('/') => {
                (Some(name.to_owned()), path)
            }
            _ => (None, text),
        };
        match path.is_empty() {
            true => Err(format!("`{text}` names no file")),
            false => Ok(FileArgument { name, path: path.into() }),
        }
    }
}

impl FileArgument {
    /// The file's path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Measurements that belong together, and what they are called.
#[derive(Debug)]
pub(crate) struct Measurements {
    pub(crate) file: BenchFile,
    pub(crate) source: Source,
}

/// Reads files; those of one name are launches of the same.
pub(crate) fn read(arguments: &[FileArgument]) -> anyhow::Result<Vec<Measurements>> {
    let mut named: Vec<(String, Vec<&Path>)> = Vec::new();
    for FileArgument { name, path } in arguments {
        let label = name.clone().unwrap_or_else(|| path.display().to_string());
        match named.iter_mut().find(|(known, _)| *known == label) {
            Some((_, paths)) => paths.push(path),
            None => named.push((label, vec![path])),
        }
    }
    let measurements = named.into_iter().map(|(name, paths)| {
        let files = paths.iter().map(|path| one(path)).collect::<anyhow::Result<Vec<_>>>()?;
        let file = join(files).with_context(|| format!("the files of {name}"))?;
        let source = Source {
            paths: paths.iter().map(|path| path.display().to_string()).collect(),
            hardware: hardware(&file.machine),
            seed: file.seed,
            name,
        };
        Ok(Measurements { file, source })
    });
    measurements.collect()
}

/// Reads a file of any format: rankcheck's own, those of iris.bench, logs of perf tools, lists of samples.
fn one(path: &Path) -> anyhow::Result<BenchFile> {
    let shown = path.display().to_string();
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {shown}"))?;
    let sha256 = kernels::hash(&bytes);
    let origin = Origin { path: &shown, sha256: &sha256 };
    let known = std::str::from_utf8(&bytes).ok().and_then(|text| import::read(text, origin));
    if let Some(known) = known {
        return known.with_context(|| shown.clone());
    }
    let log = tuner::perflog::read(&bytes);
    tuner::measured::measurements(&log, origin).with_context(|| {
        format!(
            "{shown}: no measurements in it (known are rankcheck.bench/1, JSON and CSV of iris.bench, logs of \
             nccl-tests and rccl-tests, and lists of samples in JSON)"
        )
    })
}

/// The hardware in a few words; empty where nobody said.
fn hardware(machine: &Machine) -> String {
    let mut names: Vec<&str> = machine.gpus.iter().map(|gpu| gpu.name.as_str()).collect();
    names.dedup();
    match (&names[..], machine.gpus.len()) {
        ([], _) => machine.cpu.clone(),
        (names, count) => format!("{count} x {}", names.join(", ")),
    }
}
