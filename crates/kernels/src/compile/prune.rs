//! What a cache holds, and the removal of what is old or too much.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::cache::{BUILT, Cache, OBJECTS};

/// Which entries of a cache stay; without a limit all of them do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Keep {
    /// Bytes that entries may take together; the ones used longest ago go first.
    pub bytes: Option<u64>,
    /// The longest time since an entry's last use.
    pub age: Option<Duration>,
}

impl Keep {
    /// Keeps nothing that is not in use.
    pub const NOTHING: Keep = Keep { bytes: Some(0), age: None };
}

/// An object, or a set of files that a binary wrote out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheEntry {
    /// The name below the folder of objects, or below the cache's own for written files.
    pub name: String,
    /// Bytes of all its files.
    pub bytes: u64,
    /// When it was last used; for written files, when they were written.
    pub used: SystemTime,
    /// Whether it is a compiled object.
    pub is_object: bool,
    path: PathBuf,
}

/// What pruning did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Entries that were removed.
    pub removed: usize,
    /// Bytes of the removed entries.
    pub removed_bytes: u64,
    /// Entries beyond the limits that stay because a running process uses them.
    pub in_use: usize,
}

impl Cache {
    /// All entries, the one used longest ago first.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn entries(&self) -> std::io::Result<Vec<CacheEntry>> {
        let mut entries = Vec::new();
        for folder in folders(&self.folder().join(OBJECTS))? {
            entries.extend(entry(&folder, &folder.join(BUILT), true));
        }
        for folder in folders(self.folder())?.into_iter().filter(|folder| is_unpacked(folder)) {
            entries.extend(entry(&folder, &folder, false));
        }
        entries.sort_by(|a, b| (a.used, &a.name).cmp(&(b.used, &b.name)));
        Ok(entries)
    }

    /// Removes entries beyond the limits, but none that a running process (this one included) has
    /// used.
    ///
    /// # Errors
    /// The folder cannot be read, or an entry cannot be moved.
    pub fn prune(&self, keep: Keep) -> std::io::Result<Pruned> {
        let now = SystemTime::now();
        self.alone(|used| {
            let entries = self.entries()?;
            let mut held: u64 = entries.iter().map(|entry| entry.bytes).sum();
            let mut pruned = Pruned::default();
            let aside = self.building()?;
            for entry in entries {
                let age = now.duration_since(entry.used).unwrap_or_default();
                let old = keep.age.is_some_and(|most| age > most);
                let much = keep.bytes.is_some_and(|most| held > most);
                if !old && !much {
                    continue;
                }
                if used.contains(&entry.name) {
                    pruned.in_use += 1;
                    continue;
                }
                // Gone at once; its files follow when `aside` is dropped.
                std::fs::rename(&entry.path, aside.folder.join(&entry.name))?;
                held -= entry.bytes;
                pruned.removed += 1;
                pruned.removed_bytes += entry.bytes;
            }
            Ok(pruned)
        })
    }
}

/// `NAME-DIGEST`, as [`Cache::unpack`] names it.
fn is_unpacked(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    name.rsplit_once('-').is_some_and(|(_, digest)| {
        digest.len() == 16 && digest.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

fn folders(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let all = std::fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    Ok(all.filter(|path| path.is_dir()).collect())
}

/// `None` where it was removed while it was looked at.
fn entry(folder: &Path, clock: &Path, is_object: bool) -> Option<CacheEntry> {
    Some(CacheEntry {
        name: folder.file_name()?.to_string_lossy().into_owned(),
        bytes: bytes_below(folder),
        used: std::fs::metadata(clock)
            .or_else(|_| std::fs::metadata(folder))
            .ok()?
            .modified()
            .ok()?,
        is_object,
        path: folder.to_owned(),
    })
}

fn bytes_below(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => bytes_below(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::Embedded;

    const HOUR: Duration = Duration::from_secs(3600);

    /// A cache with objects of 1000 bytes, last used this many hours ago; no process uses them now.
    fn cache(folder: &Path, hours: &[(&str, u32)]) -> Cache {
        let cache = Cache::at(folder.to_owned()).unwrap();
        for (key, hours) in hours {
            let building = cache.building().unwrap();
            let found = cache.store(key, building, &[0; 1000], Vec::new(), &[]).unwrap();
            used(&found.path.with_file_name(BUILT), *hours);
        }
        cache
    }

    fn used(clock: &Path, hours: u32) {
        let file = std::fs::File::open(clock).unwrap();
        file.set_modified(SystemTime::now() - HOUR * hours).unwrap();
    }

    fn names(cache: &Cache) -> Vec<String> {
        cache.entries().unwrap().into_iter().map(|entry| entry.name).collect()
    }

    #[test]
    fn entries_are_listed_with_size_and_last_use() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path(), &[("young", 1), ("old", 5)]);
        let files = [Embedded { path: "a/b.h", bytes: b"text" }];
        let unpacked = cache.unpack("kernels", &files).unwrap();
        used(&unpacked, 3);
        let entries = cache.entries().unwrap();
        let name = unpacked.file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(names(&cache), ["old", &name, "young"]);
        assert_eq!(entries[1].bytes, 4);
        assert!(!entries[1].is_object && entries[0].is_object);
        assert!(entries[0].bytes > 1000, "the object and what is said of it");
        cache.look_up("old").unwrap();
        assert_eq!(names(&cache).last().unwrap(), "old", "looking one up is a use");
    }

    #[test]
    fn without_limits_everything_stays() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path(), &[("a", 1), ("b", 5000)]);
        assert_eq!(cache.prune(Keep::default()).unwrap(), Pruned::default());
        assert_eq!(names(&cache), ["b", "a"]);
    }

    #[test]
    fn what_was_used_long_ago_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path(), &[("a", 1), ("b", 5), ("c", 9)]);
        let each = cache.entries().unwrap()[0].bytes;
        let keep = Keep { bytes: Some(2 * each), age: None };
        let pruned = cache.prune(keep).unwrap();
        assert_eq!(pruned, Pruned { removed: 1, removed_bytes: each, in_use: 0 });
        assert_eq!(names(&cache), ["b", "a"]);
        let pruned = cache.prune(Keep { bytes: None, age: Some(HOUR * 4) }).unwrap();
        assert_eq!(pruned.removed, 1);
        assert_eq!(names(&cache), ["a"]);
        let left = std::fs::read_dir(folder.path().join("building")).unwrap().count();
        assert_eq!(left, 0, "nothing stays aside");
    }

    #[test]
    fn what_a_running_process_uses_stays() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path(), &[("a", 1), ("b", 5)]);
        // Locks belong to open files, so another `Cache` is as good as another process.
        let running = Cache::at(folder.path().to_owned()).unwrap();
        running.note_use("b").unwrap();
        let files = [Embedded { path: "a/b.h", bytes: b"text" }];
        let unpacked = running.unpack("kernels", &files).unwrap();
        let pruned = cache.prune(Keep::NOTHING).unwrap();
        assert_eq!((pruned.removed, pruned.in_use), (1, 2));
        assert!(running.look_up("b").is_some() && unpacked.join("a/b.h").is_file());
        assert!(running.look_up("a").is_none());
        drop(running);
        assert_eq!(cache.prune(Keep::NOTHING).unwrap().removed, 2);
        assert_eq!(names(&cache), Vec::<String>::new());
    }

    #[test]
    fn what_a_process_notes_before_it_compiles_stays() {
        let folder = tempfile::tempdir().unwrap();
        let running = Cache::at(folder.path().to_owned()).unwrap();
        running.note_use("a").unwrap();
        let cache = cache(folder.path(), &[("a", 9)]);
        assert_eq!(cache.prune(Keep::NOTHING).unwrap().in_use, 1);
        assert!(running.look_up("a").is_some());
    }
}
