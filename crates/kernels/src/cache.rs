//! The object cache: one folder an object, made aside and renamed into place.
//!
//! ```text
//! objects/KEY/object.so    KEY hashes the source, the definitions, the flags and the compiler
//! objects/KEY/built.json   the object's hash, and every header it was built from with its hash
//! building/PID-N/          work in progress; what a killed process left is swept at the next start
//! ```
//! An entry whose object or headers no longer have their hash is built again.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::library::Embedded;

/// A cache folder.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
}

/// What an entry was made from.
#[derive(Debug, Serialize, Deserialize)]
struct Built {
    object: String,
    headers: Vec<(PathBuf, String)>,
}

/// Hexadecimal SHA-256.
pub fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Cache {
    /// The folder named in `RANKCHECK_CACHE`, else `rankcheck` in the user's cache folder.
    ///
    /// # Errors
    /// It cannot be made or written.
    pub fn open() -> std::io::Result<Cache> {
        let var = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let folder = var("RANKCHECK_CACHE")
            .or_else(|| var("XDG_CACHE_HOME").map(|cache| cache.join("rankcheck")))
            .or_else(|| var("HOME").map(|home| home.join(".cache/rankcheck")))
            .unwrap_or_else(|| std::env::temp_dir().join("rankcheck-cache"));
        Cache::at(folder)
    }

    /// The cache in a folder.
    ///
    /// # Errors
    /// It cannot be made or written.
    pub fn at(folder: PathBuf) -> std::io::Result<Cache> {
        std::fs::create_dir_all(folder.join("objects"))?;
        std::fs::create_dir_all(folder.join("building"))?;
        let folder = folder.canonicalize()?;
        let cache = Cache { folder };
        cache.sweep()?;
        Ok(cache)
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Removes what killed processes left.
    fn sweep(&self) -> std::io::Result<()> {
        for entry in std::fs::read_dir(self.folder.join("building"))?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let process = name.split('-').next().unwrap_or_default();
            if !Path::new("/proc").join(process).exists() {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        Ok(())
    }

    /// A fresh folder for work in progress; gone when dropped.
    pub(crate) fn building(&self) -> std::io::Result<Building> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = self.folder.join("building").join(name);
        std::fs::create_dir_all(&folder)?;
        Ok(Building { folder })
    }

    fn entry(&self, key: &str) -> PathBuf {
        self.folder.join("objects").join(key)
    }

    /// The object of `key`, if it is there and whole and its headers have not changed.
    pub(crate) fn look_up(&self, key: &str) -> Option<(PathBuf, String)> {
        let entry = self.entry(key);
        let built: Built =
            serde_json::from_slice(&std::fs::read(entry.join("built.json")).ok()?).ok()?;
        let object = entry.join("object.so");
        let same = |path: &Path, expected: &str| {
            std::fs::read(path).is_ok_and(|bytes| hash(&bytes) == expected)
        };
        let whole = same(&object, &built.object)
            && built.headers.iter().all(|(path, expected)| same(path, expected));
        whole.then_some((object, built.object))
    }

    /// Puts a finished object into place. If another process was faster, its entry stays unless it
    /// is no good.
    pub(crate) fn store(
        &self,
        key: &str,
        building: Building,
        headers: &[PathBuf],
    ) -> std::io::Result<(PathBuf, String)> {
        let object = hash(&std::fs::read(building.folder.join("object.so"))?);
        let headers = headers
            .iter()
            .map(|path| Ok((path.clone(), hash(&std::fs::read(path)?))))
            .collect::<std::io::Result<Vec<_>>>()?;
        let built = Built { object, headers };
        let text = serde_json::to_vec(&built).map_err(std::io::Error::other)?;
        std::fs::write(building.folder.join("built.json"), text)?;
        let entry = self.entry(key);
        // A rename onto a folder that is not empty fails, so a bad entry is moved away first.
        for _ in 0..3 {
            if std::fs::rename(&building.folder, &entry).is_ok() {
                break;
            }
            if self.look_up(key).is_some() {
                break;
            }
            let aside = self.building()?;
            let _ = std::fs::rename(&entry, aside.folder.join("bad"));
        }
        self.look_up(key).ok_or_else(|| {
            std::io::Error::other(format!("the cache entry {} cannot be replaced", entry.display()))
        })
    }

    /// Writes the binary's own files below the cache, once for each set of contents, and returns
    /// their folder.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn unpack(&self, name: &str, files: &[Embedded]) -> std::io::Result<PathBuf> {
        let mut all = Sha256::new();
        for file in files {
            all.update(file.path.as_bytes());
            all.update([0]);
            all.update(hash(file.bytes).as_bytes());
        }
        let digest: String = all.finalize().iter().take(8).map(|b| format!("{b:02x}")).collect();
        let target = self.folder.join(format!("{name}-{digest}"));
        let whole = || {
            files.iter().all(|file| {
                std::fs::read(target.join(file.path)).is_ok_and(|bytes| bytes == file.bytes)
            })
        };
        if whole() {
            return Ok(target);
        }
        let building = self.building()?;
        for file in files {
            let path = building.folder.join(file.path);
            std::fs::create_dir_all(path.parent().expect("a file has a folder"))?;
            std::fs::write(path, file.bytes)?;
        }
        if std::fs::rename(&building.folder, &target).is_err() && !whole() {
            let aside = self.building()?;
            let _ = std::fs::rename(&target, aside.folder.join("bad"));
            std::fs::rename(&building.folder, &target)?;
        }
        Ok(target)
    }
}

/// Work in progress.
#[derive(Debug)]
pub(crate) struct Building {
    pub folder: PathBuf,
}

impl Drop for Building {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
