//! From a source to the translation unit that a toolchain compiles.
//!
//! A unit is text alone: definitions, headers in front, the source under its own name and lines,
//! and what a device needs behind it. There is one builder for each [`ObjectKind`].

mod cpu;
mod gpu;
pub(crate) mod hooks;
mod rewrite;

use std::collections::BTreeMap;
use std::fmt::Write as _;

pub(crate) use cpu::ENTRIES;

/// How a device finds the entries in an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// A shared object that carries a table of its entries.
    SharedObject,
    /// A module of a GPU, whose entries are found by their symbols.
    Module,
}

/// What a unit consists of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parts<'a> {
    /// The source as people know it; messages of the compiler name it.
    pub(crate) name: &'a str,
    pub(crate) source: &'a str,
    /// Definitions; those for this project's headers begin with `RC_`.
    pub(crate) defines: &'a BTreeMap<String, String>,
    pub(crate) entries: &'a [String],
    /// What stands in for inline assembly, by its instructions.
    pub(crate) hooks: &'a BTreeMap<String, String>,
    /// The toolchain's own header, which comes before all others.
    pub(crate) prelude: &'a str,
}

impl Parts<'_> {
    /// The unit for objects of a kind.
    pub(crate) fn unit(&self, kind: ObjectKind) -> String {
        match kind {
            ObjectKind::SharedObject => cpu::unit(self),
            ObjectKind::Module => gpu::unit(self),
        }
    }

    /// Definitions for this project's headers, which stand in front of all headers, and the user's
    /// own, which may have any name and stand behind them.
    fn split_defines(&self) -> (String, String) {
        let (ours, own): (Vec<_>, Vec<_>) =
            self.defines.iter().partition(|(name, _)| name.starts_with("RC_"));
        let text = |defines: Vec<(&String, &String)>| {
            defines.into_iter().fold(String::new(), |mut text, (name, value)| {
                let _ = writeln!(text, "#define {name} {value}");
                text
            })
        };
        (text(ours), format!("#line 1 \"the manifest's defines\"\n{}", text(own)))
    }

    fn includes(headers: &[&str]) -> String {
        headers.iter().fold(String::new(), |mut text, header| {
            let _ = writeln!(text, "#include {header:?}");
            text
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(defines: &[(&str, &str)], kind: ObjectKind) -> String {
        let defines: BTreeMap<String, String> =
            defines.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let parts = Parts {
            name: "k.hip",
            source: "extern __shared__ int x[];\nbody",
            defines: &defines,
            entries: &["one".into(), "two<4>".into()],
            hooks: &BTreeMap::new(),
            prelude: "vendor.h",
        };
        parts.unit(kind)
    }

    #[test]
    fn a_gpu_gets_the_source_as_it_is() {
        let unit = unit(&[("TILE", "8"), ("RC_WARP", "64")], ObjectKind::Module);
        let expected = "#define RC_WARP 64\n#include \"vendor.h\"\n#include \"rankcheck.h\"\n\
                        #line 1 \"the manifest's defines\"\n#define TILE 8\n\
                        #line 1 \"k.hip\"\nextern __shared__ int x[];\nbody\n";
        assert_eq!(unit, expected);
    }

    #[test]
    fn narrow_floats_need_their_header_and_the_own_names_of_headers_do_not() {
        let header = "#include \"rc_types.h\"";
        assert!(unit(&[("ELEM", "rc_f16")], ObjectKind::Module).contains(header));
        assert!(unit(&[("ELEM", "rc_bf16")], ObjectKind::Module).contains(header));
        assert!(!unit(&[("RC_ELEM", "rc_f16")], ObjectKind::Module).contains(header));
        assert!(!unit(&[("ELEM", "float")], ObjectKind::Module).contains(header));
    }

    #[test]
    fn a_cpu_gets_a_rewritten_source_and_a_row_for_every_entry() {
        let unit = unit(&[("TILE", "8"), ("RC_WARP", "64")], ObjectKind::SharedObject);
        let shims = "#define RC_WARP 64\n#include \"vendor.h\"\n#include \"rc_vendor.h\"\n";
        assert!(unit.starts_with(shims), "{unit}");
        assert!(unit.contains("#line 1 \"k.hip\"\nstatic rc_dynamic_shared_array<int> x;\nbody\n"));
        let entries = "#line 1 \"rankcheck-entries\"\nRC_ENTRY(0, one)\nRC_ENTRY(1, two<4>)\n";
        assert!(unit.contains(entries), "{unit}");
        assert!(unit.contains("RC_ENTRY_ROW(1, \"two<4>\", two<4>),\n"));
        assert!(unit.contains("rc_module_1 = {3, 2, rc_entries,"));
    }
}
