//! The code behind a manifest: a source, compiled objects, or a program of the user's own.
//!
//! Owns the paths of these files and what is said about code that is missing. How a source becomes
//! an object is [`crate::compile`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::manifest::{DeviceName, Launch, Manifest};

/// What runs when a kernel is launched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Code {
    /// One source, which every device's toolchain compiles.
    Source(SourceFile),
    /// Machine code that was compiled elsewhere, for some GPUs.
    Objects(Objects),
    /// No code of its own: a host program launches a kernel that claims what the manifest says.
    Host,
}

/// A file as it is opened and as it is shown to people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The path by which this process opens the file.
    pub path: PathBuf,
    /// The path that messages and reports show; it does not name the cache folder.
    pub name: String,
}

/// Compiled objects of one kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objects {
    /// The file for each architecture, such as `sm_90` or `gfx950`.
    pub by_architecture: BTreeMap<String, SourceFile>,
    /// What the compiler wrote beside the object, where the manifest names it.
    pub metadata: Option<Metadata>,
}

/// What Triton writes beside an object; further keys are ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Metadata {
    /// The kernel's symbol in the object.
    pub name: Option<String>,
    /// Bytes of dynamic block-shared memory.
    pub shared: Option<u32>,
    /// Warps of a block.
    pub num_warps: Option<u32>,
    /// What it was compiled for.
    pub target: Option<MetadataTarget>,
}

/// The part of [`Metadata`] that says what the object was compiled for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct MetadataTarget {
    /// Threads of a warp.
    pub warp_size: Option<u32>,
}

/// The key of `object:` that names the metadata's file.
const METADATA: &str = "metadata";

/// What a device needs to run a kernel, and what there is instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingCode {
    /// What the device would need.
    pub needed: String,
    /// What the manifest has.
    pub found: String,
}

impl Code {
    /// The code that a manifest names; its files are looked for beside `manifest_path`, and `shown`
    /// turns a path into the one that people see.
    ///
    /// # Errors
    /// A file that is not there, an architecture that no device has, or metadata that contradict
    /// the manifest: what is wrong, and what to write.
    pub(crate) fn of(
        manifest: &Manifest,
        manifest_path: &Path,
        shown: &dyn Fn(&Path) -> PathBuf,
    ) -> Result<Code, String> {
        let file = |name: &str, what: &str| {
            let path = manifest_path.with_file_name(name);
            match path.is_file() {
                true => Ok(SourceFile { name: shown(&path).display().to_string(), path }),
                false => Err(format!("there is no {what} `{name}` beside the manifest")),
            }
        };
        match (&manifest.source, &manifest.object) {
            (Some(source), _) => Ok(Code::Source(file(source, "source")?)),
            (None, Some(object)) => {
                let mut objects = Objects { by_architecture: BTreeMap::new(), metadata: None };
                for (key, name) in object {
                    if key == METADATA {
                        let metadata = Metadata::read(&file(name, "metadata file")?)?;
                        metadata.agrees_with(manifest)?;
                        objects.metadata = Some(metadata);
                    } else if DeviceName::of_architecture(key).is_some() {
                        objects.by_architecture.insert(key.clone(), file(name, "object")?);
                    } else {
                        return Err(format!(
                            "`object: {key}` is no architecture (sm_90, gfx950 and the like, or {METADATA})"
                        ));
                    }
                }
                match objects.by_architecture.is_empty() {
                    false => Ok(Code::Objects(objects)),
                    true => {
                        Err("`object` names no architecture (sm_90, gfx950 and the like)".into())
                    }
                }
            }
            (None, None) => Ok(Code::Host),
        }
    }

    /// The files that the code consists of; none where a host program has it.
    pub fn files(&self) -> Vec<&SourceFile> {
        match self {
            Code::Source(source) => vec![source],
            Code::Objects(objects) => objects.by_architecture.values().collect(),
            Code::Host => Vec::new(),
        }
    }

    /// What is missing to run the code on any of a device's models; `None` where nothing is.
    pub fn missing_on(&self, device: DeviceName) -> Option<MissingCode> {
        match self {
            Code::Source(_) => None,
            Code::Objects(objects) => {
                let mut known = objects.by_architecture.keys();
                let is_its = |key: &String| DeviceName::of_architecture(key) == Some(device);
                (!known.any(is_its)).then(|| objects.missing(device.name()))
            }
            Code::Host => Some(host_program()),
        }
    }
}

impl Objects {
    /// The file for an architecture.
    ///
    /// # Errors
    /// There is none: what is needed and which there are.
    pub fn for_architecture(&self, architecture: &str) -> Result<&SourceFile, MissingCode> {
        self.by_architecture.get(architecture).ok_or_else(|| self.missing(architecture))
    }

    fn missing(&self, for_what: &str) -> MissingCode {
        let known: Vec<&str> = self.by_architecture.keys().map(String::as_str).collect();
        MissingCode {
            needed: format!("a compiled object for {for_what} (manifest: object)"),
            found: format!("objects for {}", known.join(", ")),
        }
    }
}

/// What is said of a manifest without code where code is to be run.
pub(crate) fn host_program() -> MissingCode {
    MissingCode {
        needed: "a `source` or an `object` in the manifest".into(),
        found: "a kernel that a host program launches".into(),
    }
}

impl Metadata {
    fn read(file: &SourceFile) -> Result<Metadata, String> {
        let text = std::fs::read_to_string(&file.path);
        let text = text.map_err(|error| format!("{}: {error}", file.name))?;
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.name))
    }

    /// Compares with what a manifest states, because a launch with other numbers would be another
    /// kernel.
    fn agrees_with(&self, manifest: &Manifest) -> Result<(), String> {
        let Launch { threads, shared_bytes, .. } = &manifest.launch;
        let warp = self.target.as_ref().and_then(|target| target.warp_size);
        let block = self.num_warps.zip(warp).map(|(warps, threads)| warps * threads);
        for (key, stated, expression) in
            [("threads", block, threads), ("shared_bytes", self.shared, shared_bytes)]
        {
            let Some(stated) = stated else { continue };
            let constant = expression.evaluate(&|symbol| Err(symbol.to_owned())).ok();
            if constant != Some(i64::from(stated)) {
                return Err(format!(
                    "the object's metadata say `{key}: {stated}` (write that in `launch`)"
                ));
            }
        }
        let entries = || manifest.variants.values().map(|variant| &variant.entry);
        match &self.name {
            Some(name) if entries().any(|entry| entry != name) => Err(format!(
                "the object's metadata name the entry `{name}` (write `entry: {name}`)"
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const MANIFEST: &str = "
kernel: foreign/triton
collective: all_gather
object: {sm_90: k.cubin, gfx950: k.hsaco, metadata: k.json}
launch: {grid: blocks, threads: 128, shared_bytes: 4096}
variants: {base: {entry: kernel, tile: {m: 8, n: 256}}}
args: [{ptr: input}, {ptr: output}]
";
    const METADATA: &str = r#"{"name": "kernel", "shared": 4096, "num_warps": 4,
        "target": {"backend": "cuda", "arch": 90, "warp_size": 32}, "num_stages": 3}"#;

    fn code(manifest: &str, metadata: &str) -> Result<Code, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k.yaml");
        std::fs::write(folder.path().join("k.cubin"), "sm_90's").unwrap();
        std::fs::write(folder.path().join("k.hsaco"), "gfx950's").unwrap();
        std::fs::write(folder.path().join("k.json"), metadata).unwrap();
        let manifest: Manifest = crate::yaml::parse(&path, manifest).unwrap();
        Code::of(&manifest, &path, &|path| PathBuf::from(path.file_name().unwrap()))
    }

    #[test]
    fn objects_are_found_by_architecture_and_missing_ones_are_told() {
        let code = code(MANIFEST, METADATA).unwrap();
        let Code::Objects(objects) = &code else { panic!("{code:?}") };
        assert_eq!(objects.for_architecture("sm_90").unwrap().name, "k.cubin");
        assert_eq!(objects.metadata.as_ref().unwrap().shared, Some(4096));
        let missing = objects.for_architecture("sm_100").unwrap_err();
        assert_eq!(missing.needed, "a compiled object for sm_100 (manifest: object)");
        assert_eq!(missing.found, "objects for gfx950, sm_90");
        assert_eq!(code.missing_on(DeviceName::Cuda), None);
        assert_eq!(code.missing_on(DeviceName::Hip), None);
        let cpu = code.missing_on(DeviceName::Cpu).unwrap();
        assert_eq!(cpu.needed, "a compiled object for cpu (manifest: object)");
    }

    #[rstest]
    #[case("threads: 128", "threads: 256", "metadata say `threads: 128`")]
    #[case("threads: 128", "threads: blocks", "metadata say `threads: 128`")]
    #[case("shared_bytes: 4096", "shared_bytes: 0", "metadata say `shared_bytes: 4096`")]
    #[case("entry: kernel", "entry: other", "write `entry: kernel`")]
    #[case("sm_90:", "sm90:", "`object: sm90` is no architecture")]
    #[case("sm_90: k.cubin, gfx950: k.hsaco, ", "", "names no architecture")]
    #[case("k.hsaco", "other.hsaco", "there is no object `other.hsaco`")]
    #[case("k.json", "other.json", "there is no metadata file `other.json`")]
    fn contradictions_are_refused(#[case] from: &str, #[case] to: &str, #[case] expected: &str) {
        let error = code(&MANIFEST.replace(from, to), METADATA).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }

    #[rstest]
    #[case("sm_90", Some(DeviceName::Cuda))]
    #[case("sm_90a", Some(DeviceName::Cuda))]
    #[case("gfx950", Some(DeviceName::Hip))]
    #[case("gfx90a", Some(DeviceName::Hip))]
    #[case("sm_", None)]
    #[case("sm90", None)]
    #[case("gfx", None)]
    #[case("gfx_950", None)]
    fn architectures_belong_to_devices(#[case] text: &str, #[case] device: Option<DeviceName>) {
        assert_eq!(DeviceName::of_architecture(text), device);
    }
}
