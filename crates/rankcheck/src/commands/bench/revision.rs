//! `--arm base=@REV`: kernels, manifests and headers as they were at a commit, taken from git without touching
//! the work tree, and in which files they differ from those of today.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;
use kernels::{Embedded, Kernel, Library};

use crate::embedded;
use crate::load::KernelStore;

/// Folders of the repository as they were at a commit.
#[derive(Debug)]
pub(super) struct Revision {
    /// The commit's full name.
    pub(super) commit: String,
    /// Where they lie, with paths relative to the current folder.
    pub(super) folder: PathBuf,
    pub(super) library: Library,
}

impl Revision {
    /// Takes `kernels/`, the folders of `--kernels` and the scenario's own folder at a revision.
    ///
    /// # Errors
    /// There is no such revision, or it has no kernels.
    pub(super) fn open(
        name: &str,
        store: &KernelStore,
        given: &[PathBuf],
        scenario: &Path,
    ) -> anyhow::Result<Revision> {
        let asked = format!("{name}^{{commit}}");
        let commit = git(&["rev-parse", "--verify", "--end-of-options", &asked])
            .with_context(|| format!("there is no revision `{name}` here"))?;
        let commit = String::from_utf8_lossy(&commit).trim().to_owned();
        let beside = scenario.parent().map(Path::to_path_buf);
        let mut folders: BTreeSet<PathBuf> = given.iter().cloned().collect();
        folders.insert("kernels".into());
        let inside = |folder: &PathBuf| folder.is_relative() && !folder.starts_with("..");
        let mut list = vec!["ls-tree", "-r", "-z", "--name-only", &commit, "--"];
        let named: Vec<String> = folders
            .iter()
            .chain(beside.iter().filter(|beside| !beside.as_os_str().is_empty()))
            .filter(|folder| inside(folder))
            .map(|folder| folder.display().to_string())
            .collect();
        list.extend(named.iter().map(String::as_str));
        let names = git(&list)?;
        let mut files = Vec::new();
        for path in names.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
            let path = String::from_utf8_lossy(path).into_owned();
            let bytes = git(&["show", &format!("{commit}:./{path}")])?;
            // A run has few revisions, and they are needed until it ends.
            files.push(Embedded { path: path.leak(), bytes: bytes.leak() });
        }
        if files.is_empty() {
            anyhow::bail!("revision {name} has no file in {}", named.join(", "));
        }
        let folder = store.cache.unpack("revision", &files)?;
        let unpacked = store.cache.unpack("kernels", &embedded::kernels())?;
        let there = folders.iter().filter(|path| inside(path)).map(|path| folder.join(path));
        let there: Vec<PathBuf> = there.filter(|path| path.is_dir()).collect();
        let library = Library::new(&there, &unpacked)?;
        Ok(Revision { commit, folder, library })
    }

    /// In which files the kernel of this revision differs from today's: source, manifest and what lies beside
    /// them or in a folder of headers.
    ///
    /// # Errors
    /// The revision has no such kernel, or nothing differs.
    pub(super) fn differences(
        &self,
        then: &Kernel,
        today: &Kernel,
    ) -> anyhow::Result<Vec<Difference>> {
        let name = &today.manifest.kernel;
        let at_revision = then.source().is_some_and(|file| file.path.starts_with(&self.folder));
        if !at_revision {
            anyhow::bail!("revision {} has no kernel {name}", &self.commit[..12]);
        }
        let files = |kernel: &Kernel| -> anyhow::Result<BTreeMap<String, String>> {
            let mut files = BTreeMap::new();
            let source = kernel.source().map(|source| source.path.clone());
            let own = source.as_deref().and_then(Path::parent).map(Path::to_path_buf);
            for folder in own.iter().chain(kernel.include.iter().take(1)) {
                hashes(folder, folder, &mut files)?;
            }
            // Other kernels of the same folder are nothing of this one's.
            let own = own_files(kernel);
            files.retain(|name, _| own.contains(name) || is_header(name));
            Ok(files)
        };
        let (then, now) = (files(then)?, files(today)?);
        let names: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
        let hash = |of: &BTreeMap<String, String>, name: &String| {
            of.get(name).map_or("absent".to_owned(), |hash| hash[..12].to_owned())
        };
        let differences: Vec<Difference> = names
            .into_iter()
            .filter(|name| then.get(*name) != now.get(*name))
            .map(|name| Difference {
                file: name.clone(),
                then: hash(&then, name),
                now: hash(&now, name),
            })
            .collect();
        if differences.is_empty() {
            anyhow::bail!(
                "kernel {name} has the same files at {} as here: the arms would be one (is the change \
                 committed, or the revision the right one?)",
                &self.commit[..12]
            );
        }
        Ok(differences)
    }
}

/// A file that is not the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Difference {
    /// The file's name in the kernel's folder or in that of headers.
    pub(super) file: String,
    /// The beginning of its hash at the revision.
    pub(super) then: String,
    /// The beginning of its hash here.
    pub(super) now: String,
}

/// As the report says it; refused where a file differs that nobody declared.
pub(super) fn told(
    arm: &str,
    differences: &[Difference],
    today: &Kernel,
    declared: &[String],
) -> anyhow::Result<String> {
    let own = own_files(today);
    let undeclared: Vec<&str> = differences
        .iter()
        .map(|difference| difference.file.as_str())
        .filter(|file| !own.contains(*file) && !declared.iter().any(|one| one == file))
        .collect();
    if !undeclared.is_empty() {
        anyhow::bail!(
            "arm `{arm}` differs in {} too, not in the kernel's source and manifest alone (declare each with \
             --differs FILE, or choose a revision that has them)",
            undeclared.join(", ")
        );
    }
    let files: Vec<String> = differences
        .iter()
        .map(|Difference { file, then, now }| format!("{file} ({then} -> {now})"))
        .collect();
    Ok(format!("arm `{arm}` differs from today's kernel only in {}", files.join(", ")))
}

/// The names of a kernel's source and manifest.
fn own_files(kernel: &Kernel) -> BTreeSet<String> {
    let source = kernel.source().and_then(|source| source.path.file_name());
    let files = source.into_iter().chain(kernel.manifest_path.file_name());
    files.map(|name| name.to_string_lossy().into_owned()).collect()
}

fn is_header(name: &str) -> bool {
    [".h", ".hpp", ".hip.h", ".cuh"].iter().any(|ending| name.ends_with(ending))
}

/// The hashes of all files of a folder, by their paths in it.
fn hashes(root: &Path, folder: &Path, into: &mut BTreeMap<String, String>) -> anyhow::Result<()> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            hashes(root, &path, into)?;
        } else {
            let bytes = std::fs::read(&path)?;
            let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            into.insert(name, kernels::hash(&bytes));
        }
    }
    Ok(())
}

/// What git says.
fn git(arguments: &[&str]) -> anyhow::Result<Vec<u8>> {
    let mut command = Command::new("git");
    let output = command.args(arguments).stdin(Stdio::null()).output().context("running git")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        anyhow::bail!("git {}: {}", arguments[0], said.lines().next().unwrap_or("no reason"));
    }
    Ok(output.stdout)
}
