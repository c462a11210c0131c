//! Objects of recipes: found in the cache, compiled, or given by the manifest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::cache::{Cache, Found, hash};
use super::diagnostics::{BuildError, refused};
use super::toolchain::{CompileFailure, CompileJob, Compiled, Toolchain};
use crate::code::{Code, Objects, SourceFile, host_program};
use crate::recipe::{Build, Recipe};
use crate::unit::Parts;

/// An object that a device can load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// The object's file.
    pub path: PathBuf,
    /// The SHA-256 of the object, in hexadecimal.
    pub sha256: String,
    /// The SHA-256 of what was compiled: the source, or the object itself where it was given.
    pub source_sha256: String,
    /// Names of the entries; index is the entry's number.
    pub entries: Vec<String>,
    /// The symbol of each entry; empty where the object has a table of entries.
    pub symbols: Vec<String>,
    /// Whether the source reports its own launch, so that an empty record means it did not run.
    pub records_launch: bool,
    /// Whether it was compiled now rather than found.
    pub fresh: bool,
}

/// What the key of a cached object begins with; another number makes all older ones useless.
const FORMAT: &str = "3";

impl Recipe {
    /// The object for a toolchain's device: from the cache, from the toolchain, or the one that the
    /// manifest gives.
    ///
    /// # Errors
    /// See [`BuildError`].
    pub fn make(&self, cache: &Cache, toolchain: &dyn Toolchain) -> Result<Object, BuildError> {
        match &self.kernel.code {
            Code::Source(source) => self.compiled(cache, toolchain, source),
            Code::Objects(objects) => self.given(objects, toolchain),
            Code::Host => Err(BuildError::Missing(host_program())),
        }
    }

    fn compiled(
        &self,
        cache: &Cache,
        toolchain: &dyn Toolchain,
        file: &SourceFile,
    ) -> Result<Object, BuildError> {
        let io = |error: String| BuildError::Io { source_name: file.name.clone(), reason: error };
        let source = std::fs::read(&file.path).map_err(|error| io(error.to_string()))?;
        let source = String::from_utf8_lossy(&source);
        let parts = Parts {
            name: &file.name,
            source: &source,
            defines: &self.defines,
            entries: &self.entries,
            hooks: &self.kernel.manifest.hooks,
            prelude: toolchain.prelude(),
        };
        let wanted = Wanted {
            unit: &parts.unit(toolchain.object_kind()),
            beside: file.path.parent().map(named_folder),
            folders: &self.header_folders(toolchain),
            entries: &self.entries,
            build: self.build,
            hooks: &self.kernel.manifest.hooks,
        };
        let (found, fresh) = wanted.make(cache, toolchain).map_err(|failure| match failure {
            CompileFailure::Refused(log) => refused(&log, &file.name, &source, &self.entries),
            CompileFailure::System(reason) => io(reason),
        })?;
        Ok(Object {
            path: found.path,
            sha256: found.sha256,
            source_sha256: hash(source.as_bytes()),
            entries: self.entries.clone(),
            symbols: found.symbols,
            records_launch: source.contains("RC_RECORD_LAUNCH"),
            fresh,
        })
    }

    /// The manifest's own object for the toolchain's architecture; entries are its symbols.
    fn given(&self, objects: &Objects, toolchain: &dyn Toolchain) -> Result<Object, BuildError> {
        let architecture = toolchain.architecture();
        let architecture = architecture.unwrap_or_else(|| toolchain.device().to_string());
        let file = objects.for_architecture(&architecture).map_err(BuildError::Missing)?;
        let bytes = std::fs::read(&file.path).map_err(|error| BuildError::Io {
            source_name: file.name.clone(),
            reason: error.to_string(),
        })?;
        let sha256 = hash(&bytes);
        Ok(Object {
            path: file.path.clone(),
            source_sha256: sha256.clone(),
            sha256,
            entries: self.entries.clone(),
            symbols: self.entries.clone(),
            // What a compiler elsewhere put in is not known; the device still reads a record that
            // it finds.
            records_launch: false,
            fresh: false,
        })
    }

    /// The folders of kernels with headers, each followed by its part for the toolchain.
    fn header_folders(&self, toolchain: &dyn Toolchain) -> Vec<PathBuf> {
        let folders = self.kernel.include.iter().filter(|folder| folder.is_dir());
        let own = toolchain.include_folder();
        folders.flat_map(|folder| [folder.clone(), folder.join(own)]).collect()
    }
}

/// A folder's name that is not empty.
fn named_folder(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// The module of a source that is this project's own and includes nothing, from the cache or from
/// a GPU's toolchain; its entries keep their names.
///
/// # Errors
/// See [`BuildError`].
pub fn plain_module(
    cache: &Cache,
    toolchain: &dyn Toolchain,
    source_name: &str,
    source: &str,
) -> Result<PathBuf, BuildError> {
    let wanted = Wanted {
        unit: source,
        beside: None,
        folders: &[],
        entries: &[],
        build: Build::Gpu(toolchain.device()),
        hooks: &BTreeMap::new(),
    };
    match wanted.make(cache, toolchain) {
        Ok((found, _)) => Ok(found.path),
        Err(CompileFailure::Refused(log)) => Err(refused(&log, source_name, source, &[])),
        Err(CompileFailure::System(reason)) => {
            Err(BuildError::Io { source_name: source_name.into(), reason })
        }
    }
}

/// A job before there is a folder for it.
struct Wanted<'a> {
    unit: &'a str,
    beside: Option<&'a Path>,
    folders: &'a [PathBuf],
    entries: &'a [String],
    build: Build,
    hooks: &'a BTreeMap<String, String>,
}

impl Wanted<'_> {
    /// The object in the cache, and whether it was compiled now.
    fn make(
        &self,
        cache: &Cache,
        toolchain: &dyn Toolchain,
    ) -> Result<(Found, bool), CompileFailure> {
        let key = self.key(toolchain);
        cache.note_use(&key)?;
        if let Some(found) = cache.look_up(&key) {
            return Ok((found, false));
        }
        let building = cache.building()?;
        let Wanted { unit, beside, folders, entries, build, hooks } = *self;
        let scratch = &building.scratch()?;
        let job = CompileJob { unit, beside, folders, entries, build, hooks, scratch };
        let Compiled { object, symbols, headers } = toolchain.compile(&job)?;
        // A compiler that does not say which headers it read could have read any of them.
        let headers = headers.unwrap_or_else(|| {
            self.beside
                .into_iter()
                .chain(folders.iter().map(PathBuf::as_path))
                .flat_map(headers_in)
                .collect()
        });
        Ok((cache.store(&key, building, &object, symbols, &headers)?, true))
    }

    fn key(&self, toolchain: &dyn Toolchain) -> String {
        let Wanted { unit, beside, folders, entries, build, hooks } = self;
        let identity = toolchain.identity();
        let text = format!(
            "{FORMAT}\0{identity}\0{build:?}\0{beside:?}\0{folders:?}\0{entries:?}\0{hooks:?}\0{unit}"
        );
        hash(text.as_bytes())
    }
}

/// The headers in a folder, without those below it.
fn headers_in(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut headers: Vec<PathBuf> = files
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|e| e == "h" || e == "hpp" || e == "cuh"))
        .collect();
    headers.sort();
    headers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::Library;
    use crate::manifest::DeviceName;
    use crate::unit::ObjectKind;
    use collectives::{Collective, DType, Problem, Shape, Tile};
    use rstest::rstest;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A toolchain of a GPU that answers as it is told, and notes what it was asked.
    #[derive(Debug)]
    struct Scripted {
        architecture: &'static str,
        answer: Result<Compiled, CompileFailure>,
        compiled: AtomicUsize,
        units: Mutex<Vec<String>>,
    }

    impl Scripted {
        fn new(answer: Result<Compiled, CompileFailure>) -> Scripted {
            let (compiled, units) = (AtomicUsize::new(0), Mutex::default());
            Scripted { architecture: "sm_90", answer, compiled, units }
        }

        fn good() -> Scripted {
            let object = b"machine code".to_vec();
            Scripted::new(Ok(Compiled { object, symbols: vec!["_Zbase".into()], headers: None }))
        }
    }

    impl Toolchain for Scripted {
        fn device(&self) -> DeviceName {
            DeviceName::Cuda
        }
        fn version(&self) -> String {
            "scripted".into()
        }
        fn identity(&self) -> String {
            format!("scripted {}", self.architecture)
        }
        fn architecture(&self) -> Option<String> {
            Some(self.architecture.into())
        }
        fn include_folder(&self) -> &'static str {
            "vendor"
        }
        fn prelude(&self) -> &'static str {
            "rc_vendor.h"
        }
        fn object_kind(&self) -> ObjectKind {
            ObjectKind::Module
        }
        fn compile(&self, job: &CompileJob<'_>) -> Result<Compiled, CompileFailure> {
            assert!(job.scratch.read_dir().unwrap().next().is_none(), "scratch is empty");
            self.compiled.fetch_add(1, Ordering::Relaxed);
            self.units.lock().unwrap().push(job.unit.to_owned());
            self.answer.clone()
        }
    }

    const REST: &str = "
collective: all_gather
launch: {grid: blocks, threads: 64}
defines: {TILE_M: tile.m, GROUP: group.size, ELEM: dtype.storage, TEXT: \"'a b'\"}
specialise: {cuda: {WIDTH: 32}, hip: {WIDTH: 64}}
variants:
  base: {entry: base, tile: {m: 8, n: 256}}
  other: {entry: other, tile: {m: 4, n: 128}}
  alone: {entry: base, tile: {m: 8, n: 256}, defines: {UNROLL: 4}}
args: [{ptr: input}, {ptr: output}]
";

    /// A folder with a kernel of that code, and its cache.
    struct Fixture {
        folder: tempfile::TempDir,
        cache: Cache,
        library: Library,
    }

    impl Fixture {
        fn new(code: &str) -> Fixture {
            let folder = tempfile::tempdir().unwrap();
            let kernels = folder.path().join("kernels");
            std::fs::create_dir_all(kernels.join("include/vendor")).unwrap();
            std::fs::write(kernels.join("k.yaml"), format!("kernel: k\n{code}{REST}")).unwrap();
            std::fs::write(kernels.join("k.hip"), "RC_KERNEL base(); // RC_RECORD_LAUNCH").unwrap();
            std::fs::write(kernels.join("k.cubin"), "given").unwrap();
            std::fs::write(kernels.join("include/vendor/v.h"), "1").unwrap();
            let cache = Cache::at(folder.path().join("cache")).unwrap();
            let library = Library::new(&[kernels], &folder.path().join("none")).unwrap();
            Fixture { folder, cache, library }
        }

        fn recipe(&self, variant: &str) -> Recipe {
            let kernel = self.library.kernel("k", None).unwrap();
            let build = Build::Gpu(DeviceName::Cuda);
            let (variant, tile) = (&kernel.manifest.variants[variant], Tile { m: 16, n: 32 });
            let shape = Shape { m: 4, n: 4 };
            let problem = Problem::plain(Collective::AllGather, 2, DType::F16, shape);
            Recipe::new(&kernel, variant, &problem, tile, 2, build).unwrap()
        }

        fn make(&self, variant: &str, toolchain: &Scripted) -> Result<Object, BuildError> {
            self.recipe(variant).make(&self.cache, toolchain)
        }
    }

    #[test]
    fn a_source_is_compiled_once_for_each_recipe() {
        let fixture = Fixture::new("source: k.hip");
        let toolchain = Scripted::good();
        let first = fixture.make("base", &toolchain).unwrap();
        assert!(first.fresh && first.records_launch);
        assert_eq!(std::fs::read(&first.path).unwrap(), b"machine code");
        assert_eq!(first.sha256, hash(b"machine code"));
        assert_eq!(first.entries, ["base", "other"], "variants without own definitions share it");
        assert_eq!(first.symbols, ["_Zbase"]);
        let second = fixture.make("other", &toolchain).unwrap();
        assert_eq!(second, Object { fresh: false, ..first.clone() });
        let alone = fixture.make("alone", &toolchain).unwrap();
        assert_eq!(alone.entries, ["base"]);
        assert_ne!(alone.path, first.path);
        assert_eq!(toolchain.compiled.load(Ordering::Relaxed), 2);
        let units = toolchain.units.lock().unwrap();
        let defines = "#define ELEM rc_u16\n#define GROUP 2\n#define TEXT a b\n#define TILE_M 16\n#define WIDTH 32\n";
        assert!(units[0].contains(defines), "{}", units[0]);
        assert!(units[1].contains("#define UNROLL 4\n"));
    }

    #[test]
    fn another_toolchain_or_header_or_source_makes_another_object() {
        let fixture = Fixture::new("source: k.hip");
        let toolchain = Scripted::good();
        let fresh = |toolchain: &Scripted| fixture.make("base", toolchain).unwrap().fresh;
        assert!(fresh(&toolchain));
        assert!(!fresh(&toolchain));
        assert!(fresh(&Scripted { architecture: "sm_100", ..Scripted::good() }));
        let kernels = fixture.folder.path().join("kernels");
        // This toolchain does not say what it reads, so that every header is watched.
        std::fs::write(kernels.join("include/vendor/v.h"), "2").unwrap();
        assert!(fresh(&toolchain));
        std::fs::write(kernels.join("k.hip"), "RC_KERNEL base();").unwrap();
        let object = fixture.make("base", &toolchain).unwrap();
        assert!(object.fresh && !object.records_launch);
    }

    #[test]
    fn an_object_of_the_manifest_is_taken_as_it_is() {
        let fixture = Fixture::new("object: {sm_90: k.cubin}");
        let toolchain = Scripted::good();
        let object = fixture.make("base", &toolchain).unwrap();
        assert_eq!(std::fs::read(&object.path).unwrap(), b"given");
        assert_eq!(object.symbols, ["base", "other"]);
        assert_eq!(object.source_sha256, hash(b"given"));
        assert_eq!(toolchain.compiled.load(Ordering::Relaxed), 0);
        let other = Scripted { architecture: "sm_100", ..Scripted::good() };
        let error = fixture.make("base", &other).unwrap_err();
        let expected = "a compiled object for sm_100 (manifest: object) is needed, and there are objects for sm_90";
        assert_eq!(error.to_string(), expected);
    }

    #[rstest]
    #[case(CompileFailure::Refused("k.hip:1: no".into()), "k.hip does not compile:\nk.hip:1: no")]
    #[case(CompileFailure::System("no space".into()), "k.hip: no space")]
    fn failures_name_the_source(#[case] failure: CompileFailure, #[case] expected: &str) {
        let fixture = Fixture::new("source: k.hip");
        let error = fixture.make("base", &Scripted::new(Err(failure))).unwrap_err().to_string();
        assert!(error.ends_with(expected), "{error}");
        let left = fixture.cache.folder().join("building").read_dir().unwrap().count();
        assert_eq!(left, 0, "nothing stays behind");
    }
}
