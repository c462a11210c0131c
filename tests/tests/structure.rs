//! The project keeps its own rules: unsafe code, schemas, scenarios.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use collectives::{Collective, DType};
use rankcheck_tests::Project;

const BINARY: &str = env!("CARGO_BIN_EXE_rankcheck-under-test");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("target") {
            files(&path, extension, found);
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
}

#[test]
fn unsafe_code_lives_in_simt_device_and_the_c_abi_only() {
    for member in std::fs::read_dir(root().join("crates")).unwrap().flatten() {
        let name = member.file_name().to_string_lossy().into_owned();
        if ["ipc", "simt", "device", "guest"].contains(&name.as_str()) {
            continue;
        }
        let library = std::fs::read_to_string(member.path().join("src/lib.rs")).unwrap();
        assert!(library.contains("#![forbid(unsafe_code)]"), "{name} does not forbid unsafe code");
    }
}

/// The tuner's checks are for any system: nothing that needs Linux may come in.
#[test]
fn the_tuner_needs_no_linux() {
    let manifest = std::fs::read_to_string(root().join("crates/tuner/Cargo.toml")).unwrap();
    for linux in ["rustix", "libc", "command-fds", "device", "simt", "launch", "signal-hook"] {
        let depends = manifest.lines().any(|line| line.starts_with(linux));
        assert!(!depends, "crates/tuner depends on {linux}");
    }
    let mut sources = Vec::new();
    files(&root().join("crates/tuner/src"), "rs", &mut sources);
    assert!(sources.len() > 10);
    for path in sources {
        let text = std::fs::read_to_string(&path).unwrap();
        for unix in ["std::os::", "/proc/", "/dev/"] {
            assert!(!text.contains(unix), "{}: {unix}", path.display());
        }
    }
}

#[test]
fn schemas_are_the_committed_ones() {
    let project = Project::new(BINARY);
    let written =
        ["lint", "explain", "diff", "probe", "plan", "proof"].map(|of| format!("tuner-{of}"));
    let read = ["scenario", "manifest", "bench", "compare", "perflog"].map(str::to_owned);
    for of in read.iter().chain(&written) {
        let committed = root().join("schema").join(format!("{of}.schema.json"));
        let committed = std::fs::read_to_string(committed).unwrap();
        let now = project.run(&["schema", of]).stdout;
        assert!(committed == now, "run `rankcheck schema {of} > schema/{of}.schema.json`");
    }
}

#[test]
fn the_page_of_scenario_keys_is_made_from_their_table() {
    let committed = std::fs::read_to_string(root().join("docs/src/scenario-keys.md")).unwrap();
    let now = Project::new(BINARY).run(&["schema", "keys"]).stdout;
    assert!(committed == now, "run `rankcheck schema keys > docs/src/scenario-keys.md`");
}

#[test]
fn every_shipped_scenario_says_what_it_catches_and_is_named_after_its_file() {
    let mut found = Vec::new();
    files(&root().join("scenarios"), "yaml", &mut found);
    assert!(found.len() > 15);
    for path in found {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# Catches: "), "{}", path.display());
        let name = path.strip_prefix(root().join("scenarios")).unwrap().with_extension("");
        assert!(text.contains(&format!("\nscenario: {}\n", name.display())), "{}", path.display());
    }
}

/// Law 16: arithmetic that is right in one type may be wrong in another.
#[test]
fn shipped_scenarios_use_every_type_in_every_collective() {
    let mut scenarios = Vec::new();
    files(&root().join("scenarios"), "yaml", &mut scenarios);
    let line = |text: &str, key: &str| -> Option<String> {
        text.lines().find_map(|line| line.strip_prefix(key)).map(str::to_owned)
    };
    let mut used = BTreeSet::new();
    for path in scenarios {
        let text = std::fs::read_to_string(&path).unwrap();
        let Some(kernel) = line(&text, "kernel: ") else { continue };
        let manifest = root().join("kernels").join(kernel).with_extension("yaml");
        let collective = line(&std::fs::read_to_string(manifest).unwrap(), "collective: ").unwrap();
        let words = text.split(|c: char| !c.is_ascii_alphanumeric());
        used.extend(words.map(|word| (collective.clone(), word.to_owned())));
    }
    for (collective, dtype) in Collective::ALL
        .into_iter()
        .flat_map(|collective| DType::ALL.map(|dtype| (collective, dtype)))
    {
        let pair = (collective.name().to_owned(), dtype.name().to_owned());
        assert!(used.contains(&pair), "no scenario has {dtype} in {collective}");
    }
}
