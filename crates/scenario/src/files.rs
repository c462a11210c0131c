//! Which scenario files a path means: the file, all files below a folder, or an embedded theme.

use std::path::{Path, PathBuf};

use kernels::Embedded;
use kernels::yaml::{self, YamlError};
use walkdir::WalkDir;

use crate::keys::ScenarioFile;

/// A scenario file's text.
#[derive(Debug, Clone)]
pub struct ScenarioSource {
    /// As it is shown to people.
    pub path: PathBuf,
    /// YAML.
    pub text: String,
}

/// A path that names no scenario.
#[derive(Debug, Clone, thiserror::Error)]
pub enum FileError {
    /// Nothing there.
    #[error("no such file or folder: {0} (and no embedded scenario of that name: {1})")]
    Missing(PathBuf, String),
    /// A folder without scenarios.
    #[error("{0} holds no scenario (a .yaml file with a `scenario:` key)")]
    Empty(PathBuf),
    /// Unreadable.
    #[error("{0}: {1}")]
    Io(PathBuf, String),
}

/// The scenario files that `path` means. Files on disk win over the `embedded` ones, whose paths
/// begin with `scenarios/`.
///
/// # Errors
/// See [`FileError`].
pub fn find(path: &Path, embedded: &[Embedded]) -> Result<Vec<ScenarioSource>, FileError> {
    if path.is_file() {
        return Ok(vec![read(path)?]);
    }
    if path.is_dir() {
        let found = below(path)?;
        return if found.is_empty() { Err(FileError::Empty(path.to_owned())) } else { Ok(found) };
    }
    let local = Path::new("scenarios").join(path);
    if path.is_relative() && (local.is_file() || local.is_dir()) {
        return find(&local, embedded);
    }
    let found: Vec<ScenarioSource> = embedded
        .iter()
        .filter(|file| is_yaml(Path::new(file.path)) && is_below(Path::new(file.path), path))
        .map(|file| ScenarioSource {
            path: PathBuf::from(file.path),
            text: String::from_utf8_lossy(file.bytes).into_owned(),
        })
        .collect();
    if found.is_empty() {
        let mut themes: Vec<&str> =
            embedded.iter().filter_map(|file| theme_name(file.path)).collect();
        themes.dedup();
        return Err(FileError::Missing(path.to_owned(), themes.join(", ")));
    }
    Ok(found)
}

/// The theme of an embedded scenario: `tiles` of `scenarios/tiles/partial_tiles.yaml`.
pub fn theme_name(path: &str) -> Option<&str> {
    let rest = path.strip_prefix("scenarios/")?;
    rest.split('/').next().map(|theme| theme.strip_suffix(".yaml").unwrap_or(theme))
}

/// `scenarios/smoke/a.yaml` is below `scenarios`, `smoke`, `scenarios/smoke`, `smoke/a` and itself.
fn is_below(file: &Path, path: &Path) -> bool {
    let below = |prefix: &Path| file.starts_with(prefix) || file.with_extension("") == prefix;
    below(path) || below(&Path::new("scenarios").join(path))
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

fn read(path: &Path) -> Result<ScenarioSource, FileError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| FileError::Io(path.to_owned(), error.to_string()))?;
    Ok(ScenarioSource { path: path.to_owned(), text })
}

/// The scenarios in a folder and in those below it, in order of their paths. Links to folders are not
/// followed: they may lead in circles.
fn below(folder: &Path) -> Result<Vec<ScenarioSource>, FileError> {
    let mut found = Vec::new();
    for entry in WalkDir::new(folder).sort_by_file_name() {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(folder).to_owned();
            FileError::Io(path, error.to_string())
        })?;
        let path = entry.path();
        if !is_yaml(path) || !path.is_file() {
            continue;
        }
        let source = read(path)?;
        // Manifests may lie beside scenarios; everything else must parse as a scenario.
        if !source.text.lines().any(|line| line.starts_with("variants:")) {
            found.push(source);
        }
    }
    Ok(found)
}

impl ScenarioSource {
    /// Reads the YAML.
    ///
    /// # Errors
    /// With line and column.
    pub fn parse(&self) -> Result<ScenarioFile, YamlError> {
        yaml::parse(&self.path, &self.text)
    }
}
