//! From a source and definitions to an object that the executor can load.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use collectives::{DType, Problem, Tile};

use crate::assembly::{self, Refused};
use crate::cache::{Cache, hash};
use crate::compiler::{Compiler, FLAGS, LINK};
use crate::library::Kernel;
use crate::manifest::{Define, DefineText, DeviceName, Variant};
use crate::rewrite;
use crate::runtime::{Compiled, RuntimeCompiler};
use crate::symbols::nearest;

/// How an object is built. All give the same bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Build {
    /// At full speed.
    #[default]
    Fast,
    /// Every memory access reports itself.
    Observed,
    /// For a GPU, by its vendor's compiler.
    Gpu(DeviceName),
}

impl Build {
    /// The device that runs it.
    pub fn device(self) -> DeviceName {
        match self {
            Build::Fast | Build::Observed => DeviceName::Cpu,
            Build::Gpu(device) => device,
        }
    }
}

/// Everything that an object depends on, files aside.
#[derive(Debug, Clone)]
pub struct Recipe {
    kernel: Arc<Kernel>,
    /// Entries in this unit; index is the entry's number in the object.
    entries: Vec<String>,
    defines: BTreeMap<String, String>,
    build: Build,
}

/// An object in the cache.
#[derive(Debug, Clone)]
pub struct Object {
    /// The shared object.
    pub path: PathBuf,
    /// Its hash.
    pub sha256: String,
    /// The source's hash.
    pub source_sha256: String,
    /// Names of the entries; index is the entry's number.
    pub entries: Vec<String>,
    /// By entry, how the object itself calls it; empty where the object has a table of entries.
    pub symbols: Vec<String>,
    /// The source reports its own launch, so an empty record means it did not run.
    pub records_launch: bool,
    /// It was compiled now rather than found.
    pub fresh: bool,
}

/// A kernel that has no object.
#[derive(Debug, Clone, thiserror::Error)]
pub enum BuildError {
    /// The compiler said no; the text names the user's lines.
    #[error("{source_name} does not compile:\n{log}")]
    Compile {
        /// The source as shown to people.
        source_name: String,
        /// The compiler's messages.
        log: String,
    },
    /// An entry that the source does not define.
    #[error("entry `{entry}` is not in {source_name}{hint}")]
    NoEntry {
        /// As in the manifest.
        entry: String,
        /// The source as shown to people.
        source_name: String,
        /// The nearest one that is.
        hint: String,
    },
    /// A definition without a value.
    #[error("definition {name}: {reason}")]
    Define {
        /// Its name.
        name: String,
        /// Why.
        reason: String,
    },
    /// Files or programs that could not be used.
    #[error("building {source_name}: {reason}")]
    Io {
        /// The source as shown to people.
        source_name: String,
        /// Why.
        reason: String,
    },
}

impl Recipe {
    /// The recipe for a variant of `kernel`. Variants without definitions of their own
    /// share one object.
    ///
    /// # Errors
    /// A definition that has no value for this problem.
    pub fn new(
        kernel: &Arc<Kernel>,
        variant: &Variant,
        problem: &Problem,
        tile: Tile,
        group_size: u32,
        build: Build,
    ) -> Result<Recipe, BuildError> {
        let manifest = &kernel.manifest;
        let mut defines = BTreeMap::new();
        let special = manifest.specialise.get(&build.device());
        let all = manifest.defines.iter().chain(special.into_iter().flatten());
        for (name, define) in all.chain(&variant.defines) {
            let held = manifest.reduction(variant).numerics().held_in(problem.dtype);
            let value = define_value(define, problem, tile, group_size, held)
                .map_err(|reason| BuildError::Define { name: name.clone(), reason })?;
            defines.insert(name.clone(), value);
        }
        let mut entries: Vec<String> = if variant.defines.is_empty() {
            let shared = manifest.variants.values().filter(|other| other.defines.is_empty());
            shared.map(|other| other.entry.clone()).collect()
        } else {
            vec![variant.entry.clone()]
        };
        entries.sort();
        entries.dedup();
        Ok(Recipe { kernel: kernel.clone(), entries, defines, build })
    }

    /// A text that is equal for two recipes that give one object, as long as no file changes.
    pub fn identity(&self) -> String {
        let Recipe { kernel, entries, defines, build } = self;
        format!("{} {entries:?} {defines:?} {build:?}", kernel.source_path.display())
    }

    /// The object, from the cache or from the compiler.
    ///
    /// # Errors
    /// See [`BuildError`].
    pub fn make(&self, cache: &Cache, compiler: &Compiler) -> Result<Object, BuildError> {
        let source = self.source()?;
        let unit = self.unit(&source);
        let arguments = self.arguments(compiler);
        let key = hash(
            format!(
                "2\0{}\0{}\0{}{arguments:?}\0{:?}\0{unit}",
                compiler.path.display(),
                compiler.version,
                compiler.checks(),
                self.kernel.manifest.hooks.keys()
            )
            .as_bytes(),
        );
        let (found, fresh) = match cache.look_up(&key) {
            Some(found) => (found, false),
            None => (self.compile(cache, compiler, &key, &arguments, &unit, &source)?, true),
        };
        Ok(self.object(found, fresh, &source, Vec::new()))
    }

    /// The module for a GPU, from the cache or from its vendor's compiler.
    ///
    /// # Errors
    /// See [`BuildError`].
    pub fn make_for_gpu(
        &self,
        cache: &Cache,
        compiler: &dyn RuntimeCompiler,
    ) -> Result<Object, BuildError> {
        let source = self.source()?;
        let unit = self.gpu_unit(&source);
        let folders = self.folders();
        // Unlike the CPU's, this unit does not name its entries.
        let Recipe { entries, .. } = self;
        let identity = compiler.identity();
        let key = hash(format!("2\0{identity}\0{folders:?}\0{entries:?}\0{unit}").as_bytes());
        let (found, fresh) = match cache.look_up(&key) {
            Some(found) => (found, false),
            None => {
                let compiled = compiler.compile(&unit, &folders, &self.entries);
                let compiled = compiled.map_err(|log| self.refused(&log, &source))?;
                (keep(cache, &key, &compiled, &folders).map_err(|e| self.io(e))?, true)
            }
        };
        let symbols = std::fs::read_to_string(found.0.with_file_name(SYMBOLS));
        let symbols = symbols.map_err(|e| self.io(e))?.lines().map(str::to_owned).collect();
        Ok(self.object(found, fresh, &source, symbols))
    }

    fn source(&self) -> Result<String, BuildError> {
        let source = std::fs::read(&self.kernel.source_path).map_err(|e| self.io(e))?;
        Ok(String::from_utf8_lossy(&source).into_owned())
    }

    fn object(
        &self,
        (path, sha256): (PathBuf, String),
        fresh: bool,
        source: &str,
        symbols: Vec<String>,
    ) -> Object {
        Object {
            path,
            sha256,
            source_sha256: hash(source.as_bytes()),
            entries: self.entries.clone(),
            symbols,
            records_launch: source.contains("RC_RECORD_LAUNCH"),
            fresh,
        }
    }

    /// Where headers are looked for: beside the source, then in the folders of kernels.
    fn folders(&self) -> Vec<PathBuf> {
        let beside = self.kernel.source_path.parent().map(|folder| {
            if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() }
        });
        let kernels = self.kernel.include.iter().filter(|folder| folder.is_dir());
        let kernels = kernels.flat_map(|folder| [folder.clone(), folder.join("cuda")]);
        beside.into_iter().chain(kernels).collect()
    }

    /// The translation unit for a GPU: the vendor's headers are its own, and so is the source.
    fn gpu_unit(&self, source: &str) -> String {
        let (device, own): (Vec<_>, Vec<_>) =
            self.defines.iter().partition(|(name, _)| name.starts_with("RC_"));
        let mut unit = String::new();
        for (name, value) in device {
            let _ = writeln!(unit, "#define {name} {value}");
        }
        unit += "#include \"rc_nvrtc.h\"\n#include \"rankcheck.h\"\n";
        // The vendor's headers take longer than most kernels.
        if own.iter().any(|(_, value)| value.starts_with("rc_f") || value.starts_with("rc_bf")) {
            unit += "#include \"rc_types.h\"\n";
        }
        unit += "#line 1 \"the manifest's defines\"\n";
        for (name, value) in own {
            let _ = writeln!(unit, "#define {name} {value}");
        }
        let _ = writeln!(unit, "#line 1 {:?}\n{source}", self.kernel.source_name);
        unit
    }

    fn io(&self, error: impl std::fmt::Display) -> BuildError {
        BuildError::Io { source_name: self.kernel.source_name.clone(), reason: error.to_string() }
    }

    /// The translation unit: the source between the shims and the table of entries.
    fn unit(&self, source: &str) -> String {
        // Definitions for the shims stand in front of all headers; the user's own, which may have
        // any name, behind them.
        let (shims, own): (Vec<_>, Vec<_>) =
            self.defines.iter().partition(|(name, _)| name.starts_with("RC_"));
        let mut unit = String::new();
        for (name, value) in shims {
            let _ = writeln!(unit, "#define {name} {value}");
        }
        for header in ["rc_cpu.h", "rc_vendor.h", "rankcheck.h", "rc_module.h"] {
            let _ = writeln!(unit, "#include {header:?}");
        }
        unit += "#line 1 \"the manifest's defines\"\n";
        for (name, value) in own {
            let _ = writeln!(unit, "#define {name} {value}");
        }
        let _ = writeln!(unit, "#line 1 {:?}", self.kernel.source_name);
        unit += &rewrite::dynamic_shared(source);
        unit += "\n";
        // One line an entry, so that an error's line tells which one is missing.
        let _ = writeln!(unit, "#line 1 {ENTRIES:?}");
        for (number, entry) in self.entries.iter().enumerate() {
            let _ = writeln!(unit, "RC_ENTRY({number}, {entry})");
        }
        unit += "static const rc_entry rc_entries[] = {\n";
        for (number, entry) in self.entries.iter().enumerate() {
            let _ = writeln!(unit, "  RC_ENTRY_ROW({number}, {entry:?}, {entry}),");
        }
        let _ = writeln!(
            unit,
            "}};\nextern \"C\" RC_EXPORT const rc_module rc_module_1 = {{3, {}, rc_entries, &rc_now, &rc_record, RC_IS_OBSERVED}};",
            self.entries.len()
        );
        unit += &assembly::declared(&self.kernel.manifest.hooks);
        unit
    }

    fn arguments(&self, compiler: &Compiler) -> Vec<String> {
        let mut arguments: Vec<String> =
            FLAGS.iter().chain(compiler.own_flags()).map(|flag| (*flag).to_owned()).collect();
        if self.build == Build::Observed {
            arguments.push("-DRC_OBSERVED".into());
        }
        if let Some(folder) = self.kernel.source_path.parent() {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            arguments.extend(["-iquote".into(), folder.display().to_string()]);
        }
        for folder in self.kernel.include.iter().filter(|folder| folder.is_dir()) {
            arguments.extend(["-I".into(), folder.display().to_string()]);
            arguments.extend(["-I".into(), folder.join("cpu").display().to_string()]);
        }
        arguments
    }

    fn compile(
        &self,
        cache: &Cache,
        compiler: &Compiler,
        key: &str,
        arguments: &[String],
        unit: &str,
        source: &str,
    ) -> Result<(PathBuf, String), BuildError> {
        let building = cache.building().map_err(|e| self.io(e))?;
        let object = building.folder.join("object.so");
        let depends = building.folder.join("depends");
        let run = |command: &mut Command, input: &str| -> Result<String, BuildError> {
            let said = run_compiler(command, input)
                .map_err(|e| self.io(format!("{}: {e}", compiler.path.display())))?;
            said.map_err(|log| self.refused(&log, source))
        };
        let command = |language: &str| {
            let mut command = Command::new(&compiler.path);
            command.args(arguments).args(["-x", language]);
            command
        };
        let mut preprocess = command("c++");
        let unit = run(preprocess.args(["-E", "-MD", "-MF"]).arg(&depends).arg("-"), unit)?;
        let unit = assembly::replace(&unit, &self.kernel.manifest.hooks)
            .map_err(|refused| self.assembly(&refused))?;
        // Compiled and linked apart: the checks' own run time is not to be linked.
        let part = building.folder.join("unit.o");
        let mut kernel = command("c++-cpp-output");
        kernel.arg(compiler.checks());
        if self.build == Build::Observed {
            kernel.args(compiler.observing_flags());
        }
        run(kernel.args(["-c", "-o"]).arg(&part).arg("-"), &unit)?;
        let mut parts = vec![part];
        if self.build == Build::Observed {
            // The hooks are a unit of their own, without instrumentation.
            let hooks = building.folder.join("hooks.o");
            let text = "#include \"rc_observed.cpp\"\n";
            run(command("c++").args(["-fno-builtin", "-c", "-o"]).arg(&hooks).arg("-"), text)?;
            parts.push(hooks);
        }
        let mut link = Command::new(&compiler.path);
        run(link.args(LINK).arg("-o").arg(&object).args(&parts), "")?;
        for part in parts {
            std::fs::remove_file(part).map_err(|e| self.io(e))?;
        }
        let text = std::fs::read_to_string(&depends).map_err(|e| self.io(e))?;
        std::fs::remove_file(&depends).map_err(|e| self.io(e))?;
        cache.store(key, building, &headers(&text)).map_err(|e| self.io(e))
    }

    /// Assembly that nothing replaces, as a compiler would say it.
    fn assembly(&self, Refused { file, line, text }: &Refused) -> BuildError {
        let log = format!(
            "{file}:{line}: inline assembly cannot run on the CPU: keep it behind `#if !defined(RC_CPU)`, or say in the manifest what stands in for it:\n  hooks: {{{text:?}: ..}}"
        );
        BuildError::Compile { source_name: self.kernel.source_name.clone(), log }
    }

    fn refused(&self, log: &str, source: &str) -> BuildError {
        let source_name = self.kernel.source_name.clone();
        let missing = log.lines().find_map(|line| {
            let rest = line.strip_prefix(ENTRIES)?.strip_prefix(':')?;
            let number: usize = rest.split(':').next()?.parse().ok()?;
            let undeclared = line.contains("not declared") || line.contains("undeclared");
            self.entries.get(number.checked_sub(1)?).filter(|_| undeclared)
        });
        if let Some(entry) = missing {
            let nearest = nearest(entry, entries_of(source).into_iter());
            let hint = if nearest.is_empty() {
                " (it defines no kernel)".into()
            } else {
                format!(" (did you mean `{nearest}`?)")
            };
            return BuildError::NoEntry { entry: entry.clone(), source_name, hint };
        }
        const LINES: usize = 20;
        let mut shown: Vec<&str> = log.lines().take(LINES).collect();
        if log.lines().count() > LINES {
            shown.push("(more lines are left out)");
        }
        BuildError::Compile { source_name, log: shown.join("\n") }
    }
}

/// Runs a compiler on a text; what it puts out, or says if it refuses.
fn run_compiler(command: &mut Command, input: &str) -> std::io::Result<Result<String, String>> {
    let mut child = command
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut stdin = child.stdin.take().expect("it is piped");
    // The compiler may put out before it has read everything.
    let output = std::thread::scope(|scope| {
        scope.spawn(move || {
            // A compiler that stops early closes its input; its message says why.
            let _ = stdin.write_all(input.as_bytes());
        });
        child.wait_with_output()
    })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(text(&output.stderr)),
    })
}

/// The file beside a GPU's module that says how it calls its entries, one a line.
const SYMBOLS: &str = "symbols";

/// The module of a source that is this project's own and includes nothing, from the cache or from
/// a GPU vendor's compiler; its entries keep their names.
///
/// # Errors
/// See [`BuildError`].
pub fn plain_module(
    cache: &Cache,
    compiler: &dyn RuntimeCompiler,
    source_name: &str,
    source: &str,
) -> Result<PathBuf, BuildError> {
    let source_name = source_name.to_owned();
    let key = hash(format!("plain\0{}\0{source}", compiler.identity()).as_bytes());
    if let Some((path, _)) = cache.look_up(&key) {
        return Ok(path);
    }
    let compiled = compiler.compile(source, &[], &[]);
    let compiled =
        compiled.map_err(|log| BuildError::Compile { source_name: source_name.clone(), log })?;
    let kept = keep(cache, &key, &compiled, &[]);
    let io = |error: std::io::Error| BuildError::Io { source_name, reason: error.to_string() };
    kept.map(|(path, _)| path).map_err(io)
}

/// Puts a GPU's module into the cache.
fn keep(
    cache: &Cache,
    key: &str,
    compiled: &Compiled,
    folders: &[PathBuf],
) -> std::io::Result<(PathBuf, String)> {
    let building = cache.building()?;
    std::fs::write(building.folder.join("object.so"), &compiled.object)?;
    std::fs::write(building.folder.join(SYMBOLS), compiled.symbols.join("\n"))?;
    // This compiler does not say which headers it read: all that it could have are watched.
    let headers: Vec<PathBuf> = folders.iter().flat_map(|folder| headers_in(folder)).collect();
    cache.store(key, building, &headers)
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

/// The file name of the table of entries in compiler messages.
const ENTRIES: &str = "rankcheck-entries";

/// Names that follow `RC_KERNEL` or `__global__ void`.
fn entries_of(source: &str) -> Vec<&str> {
    let name = |rest: &'_ str| -> usize {
        rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len())
    };
    let mut names = Vec::new();
    for marker in ["RC_KERNEL", "__global__ void"] {
        for (at, _) in source.match_indices(marker) {
            let rest = source[at + marker.len()..].trim_start();
            names.push(&rest[..name(rest)]);
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// The files of a make rule, the standard input aside.
fn headers(rule: &str) -> Vec<PathBuf> {
    let (_, files) = rule.split_once(':').unwrap_or(("", rule));
    files
        .replace("\\\n", " ")
        .split_whitespace()
        .filter(|file| *file != "-" && !file.starts_with("/usr/"))
        .map(PathBuf::from)
        .collect()
}

fn define_value(
    define: &Define,
    problem: &Problem,
    tile: Tile,
    group_size: u32,
    held: DType,
) -> Result<String, String> {
    let text = match &define.0 {
        DefineText::Number(number) => return Ok(number.to_string()),
        DefineText::Text(text) => text.as_str(),
    };
    if let Some(literal) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return Ok(literal.to_owned());
    }
    match text {
        "dtype.storage" => Ok(problem.dtype.storage().into()),
        "dtype.type" => Ok(problem.dtype.device_type().into()),
        "reduction.accumulate" => Ok(held.device_type().into()),
        "dtype.name" => Ok(problem.dtype.name().into()),
        _ => {
            let expression = crate::expression::Expression::parse(text)?;
            let value = expression.evaluate(&|symbol| match symbol {
                "tile.m" => Ok(tile.m as i64),
                "tile.n" => Ok(tile.n as i64),
                "group.size" => Ok(group_size.into()),
                "world" => Ok(problem.world.into()),
                "dtype.bytes" => Ok(problem.dtype.bytes() as i64),
                other => Err(format!(
                    "`{other}` is not a constant of a build (tile.m, tile.n, group.size, world, dtype.bytes are)"
                )),
            });
            value.map(|value| value.to_string()).map_err(|error| error.to_string())
        }
    }
}
