//! A hash of everything that a case's result rests on, besides the binary and the arguments of the run.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use scenario::{Case, Mode};

/// Hashes cases; folders of kernels are read once.
#[derive(Debug, Default)]
pub(crate) struct Fingerprints {
    folders: HashMap<PathBuf, u64>,
}

impl Fingerprints {
    /// By name, the fingerprints of some cases in their modes.
    pub(crate) fn of(cases: &[(&Case, Mode)], device: kernels::DeviceName) -> HashMap<String, u64> {
        let mut fingerprints = Fingerprints::default();
        let of = |(case, mode): &(&Case, Mode)| (case.name(device, *mode), fingerprints.case(case));
        cases.iter().map(of).collect()
    }

    /// The resolved case, its manifest, and every file beside its kernel.
    fn case(&mut self, case: &Case) -> u64 {
        let mut hash = Fnv::default();
        hash.add(format!("{:?}", case.problem).as_bytes());
        hash.add(format!("{:?}", case.requested).as_bytes());
        hash.add(format!("{:?}", (case.threads, case.residency, case.write_once)).as_bytes());
        hash.add(case.variant.as_bytes());
        hash.add(format!("{:?}", case.kernel.manifest).as_bytes());
        if let Some(folder) = case.kernel.source().and_then(|source| source.path.parent()) {
            hash.add(&self.folder(folder).to_le_bytes());
        }
        hash.0
    }

    fn folder(&mut self, folder: &Path) -> u64 {
        if let Some(known) = self.folders.get(folder) {
            return *known;
        }
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.is_file())
            .collect();
        files.sort();
        let mut hash = Fnv::default();
        for file in files {
            hash.add(file.as_os_str().as_encoded_bytes());
            // A file that cannot be read now differs from one that could.
            hash.add(&std::fs::read(&file).unwrap_or_default());
        }
        self.folders.insert(folder.to_owned(), hash.0);
        hash.0
    }
}

/// FNV-1a, the same on every machine.
#[derive(Debug)]
pub(crate) struct Fnv(pub(crate) u64);

impl Default for Fnv {
    fn default() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// Adds bytes, and where they end.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        let length = (bytes.len() as u64).to_le_bytes();
        for byte in bytes.iter().chain(&length) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
