//! The object cache: one folder an object, made aside and renamed into place.
//!
//! ```text
//! objects/KEY/object.so    KEY hashes the source, the definitions, the flags and the toolchain
//! objects/KEY/built.json   the object's hash and symbols, and every header with its hash; its
//!                          time of change is when the object was last used
//! kernels-DIGEST/          files of a binary, written out
//! building/PID-N/          work in progress; what a killed process left is swept at the next start
//! users/PID-N              entries that a process has used; locked for as long as it runs
//! lock                     held shared while an entry is noted, exclusively while entries go
//! ```
//! An entry whose object or headers no longer have their hash is built again.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::library::Embedded;

/// A cache folder, opened by this process.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
    user: Arc<User>,
}

/// What this process has used of a cache.
#[derive(Debug)]
struct User {
    path: PathBuf,
    /// The locked file, and the names that stand in it.
    noted: Mutex<(File, BTreeSet<String>)>,
}

impl Drop for User {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// What an entry was made from.
#[derive(Debug, Serialize, Deserialize)]
struct Built {
    object: String,
    symbols: Vec<String>,
    headers: Vec<(PathBuf, String)>,
}

/// An object in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    pub(crate) sha256: String,
    pub(crate) symbols: Vec<String>,
}

pub(super) const OBJECTS: &str = "objects";
const BUILDING: &str = "building";
const USERS: &str = "users";
const LOCK: &str = "lock";
const OBJECT: &str = "object.so";
pub(super) const BUILT: &str = "built.json";

/// The SHA-256 of some bytes, in hexadecimal.
pub fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A name for a file of this process that no other has.
fn own_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

impl Cache {
    /// The cache in the folder that `RANKCHECK_CACHE` names, else in `rankcheck` in the user's
    /// cache folder.
    ///
    /// # Errors
    /// The folder cannot be made or written.
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
    /// The folder cannot be made or written.
    pub fn at(folder: PathBuf) -> std::io::Result<Cache> {
        for part in [OBJECTS, BUILDING, USERS] {
            std::fs::create_dir_all(folder.join(part))?;
        }
        let folder = folder.canonicalize()?;
        let path = folder.join(USERS).join(own_name());
        // A file that is there and not yet locked would be taken for a dead process's.
        let entering = lock_file(&folder)?;
        entering.lock()?;
        let file = File::create(&path)?;
        file.lock()?;
        sweep(&folder)?;
        drop(entering);
        let noted = Mutex::new((file, BTreeSet::new()));
        Ok(Cache { folder, user: Arc::new(User { path, noted }) })
    }

    /// The cache's folder, as an absolute path.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Sees that an entry is not pruned while this process runs; it need not be there yet.
    pub(crate) fn note_use(&self, name: &str) -> std::io::Result<()> {
        let mut noted = self.user.noted.lock().expect("no holder panics");
        if noted.1.contains(name) {
            return Ok(());
        }
        let entering = lock_file(&self.folder)?;
        entering.lock_shared()?;
        noted.0.write_all(format!("{name}\n").as_bytes())?;
        noted.1.insert(name.to_owned());
        Ok(())
    }

    /// Runs `work`, which may remove entries, with the names of those that running processes use.
    pub(super) fn alone<T>(
        &self,
        work: impl FnOnce(&BTreeSet<String>) -> std::io::Result<T>,
    ) -> std::io::Result<T> {
        let entering = lock_file(&self.folder)?;
        entering.lock()?;
        let mut used = BTreeSet::new();
        for user in users(&self.folder)? {
            if user.runs {
                let text = std::fs::read_to_string(&user.path)?;
                used.extend(text.lines().map(str::to_owned));
            }
        }
        work(&used)
    }

    /// A fresh folder for work in progress; gone when dropped.
    pub(crate) fn building(&self) -> std::io::Result<Building> {
        let folder = self.folder.join(BUILDING).join(own_name());
        std::fs::create_dir_all(&folder)?;
        Ok(Building { folder })
    }

    fn entry(&self, key: &str) -> PathBuf {
        self.folder.join(OBJECTS).join(key)
    }

    /// The object of `key`, if it is there and whole and its headers have not changed.
    pub(crate) fn look_up(&self, key: &str) -> Option<Found> {
        let entry = self.entry(key);
        let built = entry.join(BUILT);
        let Built { object, symbols, headers } =
            serde_json::from_slice(&std::fs::read(&built).ok()?).ok()?;
        let path = entry.join(OBJECT);
        let same = |path: &Path, expected: &str| {
            std::fs::read(path).is_ok_and(|bytes| hash(&bytes) == expected)
        };
        let whole =
            same(&path, &object) && headers.iter().all(|(path, expected)| same(path, expected));
        if !whole {
            return None;
        }
        // An object in a folder that cannot be written is as good; it only looks older than it is.
        let _ = File::options()
            .append(true)
            .open(&built)
            .and_then(|file| file.set_modified(SystemTime::now()));
        Some(Found { path, sha256: object, symbols })
    }

    /// Puts a finished object into place. If another process was faster, its entry stays unless it
    /// is no good.
    pub(crate) fn store(
        &self,
        key: &str,
        building: Building,
        object: &[u8],
        symbols: Vec<String>,
        headers: &[PathBuf],
    ) -> std::io::Result<Found> {
        let headers = headers
            .iter()
            .map(|path| Ok((path.clone(), hash(&std::fs::read(path)?))))
            .collect::<std::io::Result<Vec<_>>>()?;
        let built = Built { object: hash(object), symbols, headers };
        let text = serde_json::to_vec(&built).map_err(std::io::Error::other)?;
        building.clear_scratch()?;
        std::fs::write(building.folder.join(OBJECT), object)?;
        std::fs::write(building.folder.join(BUILT), text)?;
        let entry = self.entry(key);
        // A rename onto a folder that is not empty fails, so a bad entry is moved away first.
        for _ in 0..3 {
            if std::fs::rename(&building.folder, &entry).is_ok() || self.look_up(key).is_some() {
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
    /// The files cannot be written.
    pub fn unpack(&self, name: &str, files: &[Embedded]) -> std::io::Result<PathBuf> {
        let mut all = Sha256::new();
        for file in files {
            all.update(file.path.as_bytes());
            all.update([0]);
            all.update(hash(file.bytes).as_bytes());
        }
        let digest: String = all.finalize().iter().take(8).map(|b| format!("{b:02x}")).collect();
        let name = format!("{name}-{digest}");
        self.note_use(&name)?;
        let target = self.folder.join(name);
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

fn lock_file(folder: &Path) -> std::io::Result<File> {
    File::options().create(true).truncate(false).write(true).open(folder.join(LOCK))
}

/// A file in which a process noted what it uses.
struct UserFile {
    path: PathBuf,
    /// Whether the process still runs; the system unlocks the file when it ends.
    runs: bool,
}

fn users(folder: &Path) -> std::io::Result<Vec<UserFile>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder.join(USERS))?.flatten() {
        let path = entry.path();
        let Ok(file) = File::open(&path) else { continue };
        let runs = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
        all.push(UserFile { path, runs });
    }
    Ok(all)
}

/// Removes what killed processes left. To be called by the holder of the lock.
fn sweep(folder: &Path) -> std::io::Result<()> {
    for user in users(folder)?.into_iter().filter(|user| !user.runs) {
        let _ = std::fs::remove_file(user.path);
    }
    for entry in std::fs::read_dir(folder.join(BUILDING))?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name.split('-').next().unwrap_or_default();
        if !Path::new("/proc").join(process).exists() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}

/// Work in progress.
#[derive(Debug)]
pub(crate) struct Building {
    pub(super) folder: PathBuf,
}

impl Building {
    /// An empty folder for intermediate files.
    pub(crate) fn scratch(&self) -> std::io::Result<PathBuf> {
        let scratch = self.folder.join("scratch");
        std::fs::create_dir_all(&scratch)?;
        Ok(scratch)
    }

    fn clear_scratch(&self) -> std::io::Result<()> {
        std::fs::remove_dir_all(self.scratch()?)
    }
}

impl Drop for Building {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(cache: &Cache, key: &str, object: &[u8], headers: &[PathBuf]) -> Found {
        let building = cache.building().unwrap();
        std::fs::write(building.scratch().unwrap().join("unit.o"), "intermediate").unwrap();
        cache.store(key, building, object, vec!["symbol".into()], headers).unwrap()
    }

    #[test]
    fn an_entry_is_found_until_its_object_or_a_header_changes() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().join("cache")).unwrap();
        let header = folder.path().join("k.h");
        std::fs::write(&header, "1").unwrap();
        assert_eq!(cache.look_up("key"), None);
        let stored = store(&cache, "key", b"object", std::slice::from_ref(&header));
        assert_eq!(stored.sha256, hash(b"object"));
        assert_eq!(stored.symbols, ["symbol"]);
        assert_eq!(cache.look_up("key"), Some(stored.clone()));
        let inside: BTreeSet<_> = std::fs::read_dir(stored.path.parent().unwrap())
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        assert_eq!(inside, ["built.json", "object.so"].map(str::to_owned).into());

        std::fs::write(&header, "2").unwrap();
        assert_eq!(cache.look_up("key"), None, "another header");
        let again = store(&cache, "key", b"object 2", &[header]);
        assert_eq!(cache.look_up("key"), Some(again.clone()), "a bad entry is replaced");
        std::fs::write(&again.path, "damaged").unwrap();
        assert_eq!(cache.look_up("key"), None, "another object");
    }

    #[test]
    fn what_dead_processes_left_is_swept_and_what_runs_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().to_owned()).unwrap();
        let building = cache.building().unwrap();
        // No process has a number that large: the system's own limit is 2^22.
        let dead = ["building/99999999-0", "users/99999999-0"].map(|name| folder.path().join(name));
        std::fs::create_dir(&dead[0]).unwrap();
        std::fs::write(&dead[1], "key\n").unwrap();
        let other = Cache::at(folder.path().to_owned()).unwrap();
        assert!(dead.iter().all(|path| !path.exists()), "{dead:?}");
        assert!(building.folder.exists());
        assert!(cache.user.path.exists() && other.user.path.exists());
        drop(cache);
        assert_eq!(std::fs::read_dir(folder.path().join("users")).unwrap().count(), 1);
    }

    #[test]
    fn files_of_a_binary_are_written_once_and_mended() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().to_owned()).unwrap();
        let files = [Embedded { path: "a/b.h", bytes: b"text" }];
        let target = cache.unpack("kernels", &files).unwrap();
        assert_eq!(std::fs::read(target.join("a/b.h")).unwrap(), b"text");
        std::fs::write(target.join("a/b.h"), "damaged").unwrap();
        assert_eq!(cache.unpack("kernels", &files).unwrap(), target);
        assert_eq!(std::fs::read(target.join("a/b.h")).unwrap(), b"text");
        let other = [Embedded { path: "a/b.h", bytes: b"other" }];
        assert_ne!(cache.unpack("kernels", &other).unwrap(), target);
    }
}
