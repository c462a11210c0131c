//! Lists the kernels, headers, scenarios and mutants that the binary carries.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    let manifest = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let root = manifest.join("../..").canonicalize().expect("the crate lies in its workspace");
    let mut list = String::from("&[\n");
    for folder in ["kernels", "scenarios", "tests/mutants"] {
        add(&root, &root.join(folder), &mut list);
    }
    list.push_str("]\n");
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("cargo sets it"));
    std::fs::write(out.join("embedded.rs"), list).expect("cargo's own folder can be written");
}

fn add(root: &Path, folder: &Path, list: &mut String) {
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = std::fs::read_dir(folder).expect("a folder of the workspace");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            add(root, &path, list);
            continue;
        }
        let name = path.strip_prefix(root).expect("below the workspace").display().to_string();
        writeln!(
            list,
            "    kernels::Embedded {{ path: {name:?}, bytes: include_bytes!({:?}) }},",
            path.display().to_string()
        )
        .expect("a string takes everything");
    }
}
