//! Finds kernels by name: beside the scenario, then in given folders, then in `kernels/`, then in
//! the copies that the binary carries. Files on disk win.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::code::{Code, SourceFile};
use crate::manifest::{Manifest, validate};
use crate::symbols::nearest;
use crate::yaml::{self, YamlError};

/// A file that the binary carries.
#[derive(Debug, Clone, Copy)]
pub struct Embedded {
    /// The path relative to the workspace, with `/` between its parts.
    pub path: &'static str,
    /// The contents of the file.
    pub bytes: &'static [u8],
}

/// A kernel that was found.
#[derive(Debug)]
pub struct Kernel {
    /// What the kernel's author says about it.
    pub manifest: Manifest,
    /// The manifest's path as it is shown to people.
    pub manifest_path: PathBuf,
    /// What runs when the kernel is launched.
    pub code: Code,
    /// Where `#include` looks besides the source's own folder.
    pub include: Vec<PathBuf>,
}

impl Kernel {
    /// The file that stands for the kernel in messages and reports: its source, or the manifest
    /// where the kernel has none.
    pub fn shown_file(&self) -> String {
        match &self.code {
            Code::Source(source) => source.name.clone(),
            Code::Objects(_) | Code::Host => self.manifest_path.display().to_string(),
        }
    }

    /// The source; `None` for a kernel of given objects and for one that a host program launches.
    pub fn source(&self) -> Option<&SourceFile> {
        match &self.code {
            Code::Source(source) => Some(source),
            Code::Objects(_) | Code::Host => None,
        }
    }
}

/// A kernel that cannot be had.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LibraryError {
    /// No manifest names the kernel.
    #[error("no kernel `{name}` (did you mean `{nearest}`? searched {searched})")]
    NotFound {
        /// The name that was asked for.
        name: String,
        /// The nearest name that exists.
        nearest: String,
        /// The folders that were searched, in order, as people see them.
        searched: String,
    },
    /// Two manifests of one folder name the kernel.
    #[error("two manifests name the kernel `{name}`: {first} and {second}")]
    Twice {
        /// The name that both manifests give.
        name: String,
        /// The manifest that comes first by name of file.
        first: PathBuf,
        /// The manifest that comes second.
        second: PathBuf,
    },
    /// A manifest that does not parse.
    #[error(transparent)]
    Yaml(#[from] YamlError),
    /// A manifest that parses, but cannot be used.
    #[error("{file}: {reason}")]
    Invalid {
        /// The manifest, as people see its path.
        file: PathBuf,
        /// What is wrong and what to do.
        reason: String,
    },
    /// A file or folder that cannot be read.
    #[error("{file}: {reason}")]
    Io {
        /// The file or folder.
        file: PathBuf,
        /// The reason that the system gives.
        reason: String,
    },
}

/// One folder of manifests.
#[derive(Debug, Clone)]
struct Folder {
    path: PathBuf,
    /// What stands for `path` in front of names shown to people.
    shown: String,
    /// How many levels of folders below it are looked into.
    depth: usize,
}

/// Where kernels are looked for.
#[derive(Debug)]
pub struct Library {
    folders: Vec<Folder>,
    include: Vec<PathBuf>,
    index: Mutex<BTreeMap<(PathBuf, usize), Arc<Index>>>,
    found: Mutex<BTreeMap<PathBuf, Arc<Kernel>>>,
}

/// Manifest files of a folder by the kernel they name.
type Index = BTreeMap<String, Vec<PathBuf>>;

/// Folders below which nothing is looked for.
const DEPTH: usize = 4;

impl Library {
    /// A library of the user's folders, `kernels/` below the current folder, and `embedded`: the
    /// folder to which the binary's own copies were written.
    ///
    /// # Errors
    /// A folder given by the user that cannot be read.
    pub fn new(given: &[PathBuf], embedded: &Path) -> Result<Library, LibraryError> {
        for folder in given {
            std::fs::read_dir(folder).map_err(|error| io(folder, &error))?;
        }
        let shown = |path: &Path| path.display().to_string();
        let mut folders: Vec<Folder> = given
            .iter()
            .map(|path| Folder { path: path.clone(), shown: shown(path), depth: DEPTH })
            .collect();
        let local = PathBuf::from("kernels");
        if local.is_dir() {
            folders.push(Folder { shown: shown(&local), path: local, depth: DEPTH });
        }
        folders.push(Folder { path: embedded.to_owned(), shown: "kernels".into(), depth: DEPTH });
        let include = folders.iter().map(|folder| folder.path.join("include")).collect();
        Ok(Library { folders, include, index: Mutex::default(), found: Mutex::default() })
    }

    /// The kernel of that name for a scenario in the folder `beside`.
    ///
    /// # Errors
    /// See [`LibraryError`].
    pub fn kernel(&self, name: &str, beside: Option<&Path>) -> Result<Arc<Kernel>, LibraryError> {
        let beside =
            // Beside the scenario means just that: its folder may be anything, even a whole disk.
            beside.map(|path| Folder {
                path: path.to_owned(),
                shown: path.display().to_string(),
                depth: 0,
            });
        let folders = beside.iter().chain(&self.folders);
        let mut known: Vec<String> = Vec::new();
        for folder in folders.clone() {
            let index = self.index(folder);
            if let Some(paths) = index.get(name) {
                if let [first, second, ..] = &paths[..] {
                    return Err(LibraryError::Twice {
                        name: name.into(),
                        first: first.clone(),
                        second: second.clone(),
                    });
                }
                return self.load(&paths[0], folder);
            }
            known.extend(index.keys().cloned());
        }
        Err(LibraryError::NotFound {
            name: name.into(),
            nearest: nearest(name, known.iter().map(String::as_str)).into(),
            searched: folders.map(|f| f.shown.clone()).collect::<Vec<_>>().join(", "),
        })
    }

    fn index(&self, Folder { path: folder, depth, .. }: &Folder) -> Arc<Index> {
        let mut cached = self.index.lock().expect("no holder panics");
        let key = (folder.clone(), *depth);
        if let Some(index) = cached.get(&key) {
            return index.clone();
        }
        let mut index = Index::new();
        walk(folder, *depth, &mut |path| {
            if let Some(name) = std::fs::read_to_string(path).ok().and_then(|t| named_kernel(&t)) {
                index.entry(name).or_default().push(path.to_owned());
            }
        });
        cached.entry(key).or_insert(Arc::new(index)).clone()
    }

    fn load(&self, path: &Path, folder: &Folder) -> Result<Arc<Kernel>, LibraryError> {
        if let Some(kernel) = self.found.lock().expect("no holder panics").get(path) {
            return Ok(kernel.clone());
        }
        let text = std::fs::read_to_string(path).map_err(|error| io(path, &error))?;
        let shown = |path: &Path| match path.strip_prefix(&folder.path) {
            Ok(rest) => Path::new(&folder.shown).join(rest),
            Err(_) => path.to_owned(),
        };
        let manifest: Manifest = yaml::parse(&shown(path), &text)?;
        let invalid = |reason: String| LibraryError::Invalid { file: shown(path), reason };
        validate(&manifest).map_err(invalid)?;
        let code = Code::of(&manifest, path, &shown).map_err(invalid)?;
        let kernel = Arc::new(Kernel {
            manifest_path: shown(path),
            code,
            include: self.include.clone(),
            manifest,
        });
        self.found.lock().expect("no holder panics").insert(path.to_owned(), kernel.clone());
        Ok(kernel)
    }
}

fn io(file: &Path, error: &std::io::Error) -> LibraryError {
    LibraryError::Io { file: file.to_owned(), reason: error.to_string() }
}

/// Calls `visit` for every YAML file below a folder, in order of names.
fn walk(folder: &Path, depth: usize, visit: &mut dyn FnMut(&Path)) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        // Links to folders are not followed: they may lead in circles.
        if path.is_dir() && !path.is_symlink() && depth > 0 {
            walk(&path, depth - 1, visit);
        } else if path.extension().is_some_and(|e| e == "yaml" || e == "yml") && path.is_file() {
            visit(&path);
        }
    }
}

/// The kernel that a manifest names; `None` for other YAML, scenarios among them.
fn named_kernel(text: &str) -> Option<String> {
    let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
    if value("scenario:").is_some() || value("variants:").is_none() {
        return None;
    }
    let name = value("kernel:")?.split('#').next().unwrap_or_default();
    Some(name.trim().trim_matches(['"', '\'']).to_owned())
}
