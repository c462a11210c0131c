//! From an offset in an object to a line of the user's source.

use std::path::Path;

use addr2line::Loader;

/// A line of source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceLine {
    /// The file as the build named it.
    pub file: String,
    /// From 1.
    pub line: u32,
}

impl std::fmt::Display for SourceLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Headers of this project, in which no user's line stands.
const OWN: [&str; 4] = ["rc_cpu.h", "rc_module.h", "rc_vendor.h", "rankcheck.h"];

/// The line of an instruction, in the innermost function that is the user's. `source_name` is
/// what people call the source.
pub(super) fn look_up(object: &Path, source_name: &str, site: usize) -> Option<SourceLine> {
    let loader = Loader::new(object).ok()?;
    let mut frames = loader.find_frames(site as u64).ok()?;
    while let Ok(Some(frame)) = frames.next() {
        let Some(location) = frame.location else { continue };
        if let (Some(file), Some(line)) = (location.file, location.line) {
            let name = Path::new(file).file_name()?.to_string_lossy();
            if !OWN.contains(&name.as_ref()) && line > 0 {
                return Some(SourceLine { file: shown(file, source_name), line });
            }
        }
    }
    None
}

/// Debug information joins a relative name to the folder of the compile, which may have been
/// another one.
fn shown(file: &str, source_name: &str) -> String {
    if Path::new(file).ends_with(source_name) { source_name.into() } else { file.into() }
}
