//! NVIDIA's run-time compiler: found in the usual places, called in this process. It needs no GPU.

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::{Path, PathBuf};

use kernels::{CompileFailure, CompileJob, Compiled, DeviceName, ObjectKind, Toolchain};

use crate::MissingLibrary;
use crate::library::{self, functions};

type Program = *mut c_void;

functions! {
    /// The compiler's functions, by its own names.
    Functions {
        version = "nvrtcVersion"(*mut i32, *mut i32);
        create = "nvrtcCreateProgram"(
            *mut Program, *const c_char, *const c_char, i32, *const *const c_char, *const *const c_char,
        );
        destroy = "nvrtcDestroyProgram"(*mut Program);
        name_expression = "nvrtcAddNameExpression"(Program, *const c_char);
        lowered_name = "nvrtcGetLoweredName"(Program, *const c_char, *mut *const c_char);
        compile = "nvrtcCompileProgram"(Program, i32, *const *const c_char);
        log_size = "nvrtcGetProgramLogSize"(Program, *mut usize);
        log = "nvrtcGetProgramLog"(Program, *mut c_char);
        object_size = "nvrtcGetCUBINSize"(Program, *mut usize);
        object = "nvrtcGetCUBIN"(Program, *mut c_char);
    }
}

/// The environment variable that names the library.
pub const OVERRIDE: &str = "RANKCHECK_NVRTC";

/// NVRTC, for one architecture.
#[derive(Debug, Clone)]
pub struct Nvrtc {
    functions: Functions,
    path: PathBuf,
    version: (i32, i32),
    includes: Vec<PathBuf>,
    architecture: String,
}

impl Nvrtc {
    /// The library that [`OVERRIDE`] names, else the first in the loader's path, the toolkit's
    /// folders and Python's packages; compiles for an architecture such as `sm_90`.
    ///
    /// # Errors
    /// None of these libraries loads.
    pub fn find(architecture: &str) -> Result<Nvrtc, MissingLibrary> {
        const NAME: &str = "NVIDIA's run-time compiler (libnvrtc.so)";
        let candidates = match std::env::var_os(OVERRIDE).filter(|path| !path.is_empty()) {
            Some(path) => vec![PathBuf::from(path)],
            None => candidates(),
        };
        let (library, path) = library::load(NAME, &candidates)?;
        let missing = |reason| MissingLibrary { name: NAME, reason };
        let functions = Functions::resolve(&library)
            .map_err(|reason| missing(format!("{}: {reason}", path.display())))?;
        // Functions are called until the process ends.
        std::mem::forget(library);
        let (mut major, mut minor) = (0, 0);
        // SAFETY: places for two numbers.
        if unsafe { (functions.version)(&mut major, &mut minor) } != 0 {
            return Err(missing(format!("{} does not say its version", path.display())));
        }
        let includes = include_folders(&path);
        let architecture = architecture.to_owned();
        Ok(Nvrtc { functions, path, version: (major, minor), includes, architecture })
    }

    /// The library's version, such as `12.8`.
    pub fn release(&self) -> String {
        format!("{}.{}", self.version.0, self.version.1)
    }

    /// The file of the library that was loaded.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Folders with CUDA's own headers.
    pub fn includes(&self) -> &[PathBuf] {
        &self.includes
    }

    fn run(
        &self,
        program: Program,
        options: &[CString],
        names: &[CString],
    ) -> Result<(Vec<u8>, Vec<String>), String> {
        for name in names {
            // SAFETY: the program is not compiled yet; the name ends with zero.
            if unsafe { (self.functions.name_expression)(program, name.as_ptr()) } != 0 {
                return Err(format!("{name:?} is no name of a kernel"));
            }
        }
        let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: as many strings as stated, each ending with zero.
        let code =
            unsafe { (self.functions.compile)(program, options.len() as i32, options.as_ptr()) };
        if code != 0 {
            let log = self.text(program, self.functions.log_size, self.functions.log);
            return Err(String::from_utf8_lossy(&log).trim_end_matches('\0').to_owned());
        }
        let mut symbols = Vec::new();
        for name in names {
            let mut lowered = std::ptr::null();
            // SAFETY: the program is compiled; the string it gives lives as long as it does.
            let code =
                unsafe { (self.functions.lowered_name)(program, name.as_ptr(), &mut lowered) };
            if code != 0 || lowered.is_null() {
                return Err(format!("{name:?} is no kernel of the source"));
            }
            // SAFETY: the compiler set the pointer, which is not null, to a text that ends with zero and
            // lives as long as the program, which is destroyed after this function.
            symbols.push(unsafe { CStr::from_ptr(lowered) }.to_string_lossy().into_owned());
        }
        let object = self.text(program, self.functions.object_size, self.functions.object);
        Ok((object, symbols))
    }

    /// Bytes that a pair of functions (how many, then which) gives.
    fn text(
        &self,
        program: Program,
        size: unsafe extern "C" fn(Program, *mut usize) -> i32,
        get: unsafe extern "C" fn(Program, *mut c_char) -> i32,
    ) -> Vec<u8> {
        let mut bytes = 0;
        // SAFETY: a place for one number.
        if unsafe { size(program, &mut bytes) } != 0 {
            return Vec::new();
        }
        let mut buffer = vec![0u8; bytes];
        // SAFETY: room for as many bytes as the compiler said.
        unsafe { get(program, buffer.as_mut_ptr().cast()) };
        buffer
    }

    /// The module of a unit and how it calls `names`, or the compiler's own messages.
    fn module<'a>(
        &'a self,
        unit: &str,
        folders: impl Iterator<Item = &'a Path>,
        names: &[String],
    ) -> Result<(Vec<u8>, Vec<String>), String> {
        let plain = |text: &str| CString::new(text).map_err(|_| "a zero byte".to_owned());
        let mut options = vec![
            format!("--gpu-architecture={}", self.architecture),
            "--std=c++17".into(),
            // The same bytes as everywhere: no a*b+c in one step.
            "--fmad=false".into(),
            "--generate-line-info".into(),
        ];
        for folder in folders.chain(self.includes.iter().map(PathBuf::as_path)) {
            options.push(format!("--include-path={}", folder.display()));
        }
        let options = options.iter().map(|o| plain(o)).collect::<Result<Vec<_>, _>>()?;
        let names = names.iter().map(|name| plain(name)).collect::<Result<Vec<_>, _>>()?;
        let unit = plain(unit)?;
        let mut program = std::ptr::null_mut();
        // SAFETY: the texts end with zero; no headers are given.
        let code = unsafe {
            let create = self.functions.create;
            create(
                &mut program,
                unit.as_ptr(),
                c"unit".as_ptr(),
                0,
                std::ptr::null(),
                std::ptr::null(),
            )
        };
        if code != 0 {
            return Err(format!("nvrtcCreateProgram failed with {code}"));
        }
        let result = self.run(program, &options, &names);
        // SAFETY: created above, destroyed once.
        unsafe { (self.functions.destroy)(&mut program) };
        result
    }
}

impl Toolchain for Nvrtc {
    fn device(&self) -> DeviceName {
        DeviceName::Cuda
    }

    fn version(&self) -> String {
        self.identity()
    }

    fn identity(&self) -> String {
        format!("nvrtc {} {}", self.release(), self.architecture)
    }

    fn architecture(&self) -> Option<String> {
        Some(self.architecture.clone())
    }

    fn include_folder(&self) -> &'static str {
        "cuda"
    }

    fn prelude(&self) -> &'static str {
        "rc_nvrtc.h"
    }

    fn object_kind(&self) -> ObjectKind {
        ObjectKind::Module
    }

    fn compile(&self, job: &CompileJob<'_>) -> Result<Compiled, CompileFailure> {
        let folders = job.beside.into_iter().chain(job.folders.iter().map(PathBuf::as_path));
        let made = self.module(job.unit, folders, job.entries);
        let (object, symbols) = made.map_err(CompileFailure::Refused)?;
        // The library does not say which headers it read.
        Ok(Compiled { object, symbols, headers: None })
    }
}

/// Where the library may be: where the loader looks, in the toolkit, in Python's packages.
fn candidates() -> Vec<PathBuf> {
    let mut all = vec![PathBuf::from("libnvrtc.so")];
    for folder in toolkits() {
        for below in ["lib64", "lib", "targets/x86_64-linux/lib"] {
            all.extend(library::versions(&folder.join(below), "libnvrtc.so"));
        }
    }
    all.extend(["libnvrtc.so.13", "libnvrtc.so.12"].map(PathBuf::from));
    for site in python_sites() {
        for package in ["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"] {
            all.extend(library::versions(&site.join(package), "libnvrtc.so"));
        }
    }
    all
}

fn toolkits() -> Vec<PathBuf> {
    let named = ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(std::env::var_os).map(PathBuf::from);
    let mut all: Vec<PathBuf> = named.collect();
    all.push("/usr/local/cuda".into());
    all.extend(library::versions(Path::new("/usr/local"), "cuda-"));
    all
}

/// Folders of Python packages: of an active environment, of the system.
fn python_sites() -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> =
        std::env::var_os("VIRTUAL_ENV").map(PathBuf::from).into_iter().collect();
    // The interpreter that PATH finds lies in its environment's bin folder.
    if let Some(path) = std::env::var_os("PATH") {
        let bins = std::env::split_paths(&path).filter(|bin| bin.join("python3").exists());
        roots.extend(bins.filter_map(|bin| bin.parent().map(Path::to_owned)));
    }
    let mut sites = Vec::new();
    for root in roots {
        for python in library::versions(&root.join("lib"), "python3") {
            sites.push(python.join("site-packages"));
            sites.push(python.join("dist-packages"));
        }
    }
    sites
}

/// Folders with CUDA's headers, those that belong to the library first.
fn include_folders(library: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let real = library.canonicalize().unwrap_or_else(|_| library.to_owned());
    for root in real.ancestors().skip(1).take(4) {
        all.push(root.join("include"));
        all.push(root.join("targets/x86_64-linux/include"));
        // In Python's packages the headers are in a package beside the compiler's.
        all.push(root.join("cuda_runtime/include"));
        all.push(root.join("cuda_cccl/include"));
    }
    for toolkit in toolkits() {
        all.push(toolkit.join("include"));
        all.push(toolkit.join("targets/x86_64-linux/include"));
    }
    for site in python_sites() {
        all.push(site.join("nvidia/cu13/include"));
        all.push(site.join("nvidia/cuda_runtime/include"));
    }
    // One version of the headers, not several mixed; its second half may lie in a folder beside it.
    let runtime = all.iter().find(|folder| folder.join("cuda_runtime.h").is_file());
    let target = |folder: &PathBuf| folder.join("nv/target").is_file();
    let below = runtime.map(|folder| folder.join("cccl")).filter(target);
    let target = below.or_else(|| all.iter().find(|folder| target(folder)).cloned());
    let mut found: Vec<PathBuf> = runtime.cloned().into_iter().chain(target).collect();
    found.dedup();
    found
}
