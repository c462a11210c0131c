//! Where a report goes: standard output, or a file that appears whole or not at all.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::ReportError;

/// A report's destination, opened before anything runs.
#[derive(Debug)]
pub enum ReportFile {
    /// Standard output.
    Stdout,
    /// A file: written beside it under another name, and renamed when it is complete.
    File {
        /// The file.
        path: PathBuf,
        /// The name it has until then; `None` for devices and pipes, which cannot be replaced.
        partial: Option<PathBuf>,
        /// Open for writing.
        file: File,
    },
}

fn error(path: &Path, reason: impl std::fmt::Display) -> ReportError {
    ReportError { path: path.display().to_string(), reason: reason.to_string() }
}

impl ReportFile {
    /// Opens `path`, or standard output for `None` and `-`.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn open(path: Option<&Path>) -> Result<ReportFile, ReportError> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            return Ok(ReportFile::Stdout);
        };
        if path.is_dir() {
            return Err(error(path, "is a folder (give a file's path)"));
        }
        // A link stays a link: what it points to is written.
        let resolved = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let path = resolved.as_path();
        if path.exists() && !path.is_file() {
            let file = std::fs::OpenOptions::new().write(true).open(path);
            let file = file.map_err(|reason| error(path, reason))?;
            return Ok(ReportFile::File { path: path.to_owned(), partial: None, file });
        }
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.ok_or_else(|| error(path, "is no file's path"))?;
        let partial = path.with_file_name(format!(".{name}.{}", std::process::id()));
        let file = File::create(&partial).map_err(|reason| error(path, reason))?;
        Ok(ReportFile::File { path: path.to_owned(), partial: Some(partial), file })
    }

    /// Writes the whole report.
    ///
    /// # Errors
    /// The disk is full, or the folder has gone.
    pub fn finish(&mut self, text: &str) -> Result<(), ReportError> {
        match self {
            ReportFile::Stdout => {
                let mut out = std::io::stdout().lock();
                let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
                written.map_err(|reason| error(Path::new("standard output"), reason))
            }
            ReportFile::File { path, partial, file } => {
                let renamed = |file: &File| match &*partial {
                    Some(partial) => {
                        file.sync_data().and_then(|()| std::fs::rename(partial, &*path))
                    }
                    None => Ok(()),
                };
                file.write_all(text.as_bytes())
                    .and_then(|()| renamed(file))
                    .map_err(|reason| error(path, reason))
            }
        }
    }
}

impl Drop for ReportFile {
    fn drop(&mut self) {
        if let ReportFile::File { partial: Some(partial), .. } = self {
            // Gone already if the report was finished.
            let _ = std::fs::remove_file(partial);
        }
    }
}
