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
    /// A file: it gets its name when it is complete.
    File {
        /// The file's path.
        path: PathBuf,
        /// What it is until then.
        partial: Partial,
        /// The file, open for writing.
        file: File,
    },
}

/// What a report is until it is complete.
#[derive(Debug)]
pub enum Partial {
    /// The device or pipe itself, which cannot be replaced.
    Itself,
    /// A file without a name: whatever ends this process takes it away.
    Nameless,
    /// A file of this name in the same folder, where the file system knows no files without names.
    Named(PathBuf),
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
            return Ok(ReportFile::File { path: path.to_owned(), partial: Partial::Itself, file });
        }
        if path.file_name().is_none() {
            return Err(error(path, "is no file's path"));
        }
        let (file, partial) = match nameless(path) {
            Some(file) => (file, Partial::Nameless),
            None => {
                let partial = beside(path);
                let file = File::create(&partial).map_err(|reason| error(path, reason))?;
                (file, Partial::Named(partial))
            }
        };
        Ok(ReportFile::File { path: path.to_owned(), partial, file })
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
                let named = |file: &File| match &*partial {
                    Partial::Itself => Ok(()),
                    Partial::Named(name) => {
                        file.sync_data().and_then(|()| std::fs::rename(name, &*path))
                    }
                    Partial::Nameless => {
                        file.sync_data()?;
                        // Only a name can replace another, so it has one of its own for a moment.
                        let name = beside(path);
                        link(file, &name).and_then(|()| std::fs::rename(&name, &*path))
                    }
                };
                file.write_all(text.as_bytes())
                    .and_then(|()| named(file))
                    .map_err(|reason| error(path, reason))
            }
        }
    }
}

/// A name in the same folder that belongs to this process.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}", std::process::id()))
}

/// A file without a name in the folder of `path`; `None` where there are none such.
#[cfg(target_os = "linux")]
fn nameless(path: &Path) -> Option<File> {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP | Mode::ROTH | Mode::WOTH;
    openat(CWD, folder.unwrap_or(Path::new(".")), flags, mode).ok().map(File::from)
}

/// Gives a file without a name this one.
#[cfg(target_os = "linux")]
fn link(file: &File, name: &Path) -> std::io::Result<()> {
    use std::os::fd::AsRawFd as _;

    use rustix::fs::{AtFlags, CWD, linkat};
    // What a process with this id has left, which is not ours.
    let _ = std::fs::remove_file(name);
    let open = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, open, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn nameless(_path: &Path) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
fn link(_file: &File, _name: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

impl Drop for ReportFile {
    fn drop(&mut self) {
        if let ReportFile::File { partial: Partial::Named(partial), .. } = self {
            // Gone already if the report was finished.
            let _ = std::fs::remove_file(partial);
        }
    }
}
