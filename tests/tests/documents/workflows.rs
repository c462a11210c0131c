//! Workflows only call scripts of ci/, and scripts keep the rules of ci/.

use std::fs;

use rankcheck_tests::programs::root;
use serde_json::Value;

use crate::console::texts;

#[test]
fn workflows_call_scripts_of_ci_and_nothing_else() {
    let mut files = Vec::new();
    crate::files(&root().join(".github/workflows"), "yml", &mut files);
    let names: Vec<_> = files.iter().map(|f| f.file_stem().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["ci", "docs", "gpu", "nightly", "torch"]);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let parsed: Value =
            serde_yaml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        assert!(parsed["jobs"].is_object(), "{}: no jobs", file.display());
        assert!(!parsed["on"].is_null(), "{}: nothing starts it", file.display());
        for (name, job) in parsed["jobs"].as_object().unwrap() {
            assert!(job["timeout-minutes"].is_number(), "{}: {name}", file.display());
        }
        let mut runs = Vec::new();
        texts(&parsed, "run", &mut runs);
        assert!(!runs.is_empty(), "{}: no step runs anything", file.display());
        for line in runs.iter().flat_map(|run| run.lines()) {
            let script = line.split_whitespace().next().unwrap_or_default();
            assert!(
                (script.starts_with("ci/") || script.starts_with(".ci/"))
                    && root().join(script).is_file(),
                "{}: `{line}` is no script of ci/",
                file.display()
            );
        }
    }
}

/// The text of every script: `.ci/run` and the shell scripts of `ci/`.
fn scripts() -> Vec<(String, String)> {
    let mut files = Vec::new();
    crate::files(&root().join("ci"), "sh", &mut files);
    files.push(root().join(".ci/run"));
    files
        .into_iter()
        .map(|file| {
            let name = file.strip_prefix(root()).unwrap().display().to_string();
            (name, fs::read_to_string(&file).unwrap())
        })
        .collect()
}

#[test]
fn cargo_takes_the_versions_of_the_lock_file() {
    let reads_the_lock_file =
        ["build", "check", "clippy", "run", "test", "nextest run", "doc", "deny"];
    let mut seen = 0;
    for (name, text) in scripts() {
        for line in text.replace("\\\n", " ").lines() {
            let Some((_, rest)) = line.trim_start().split_once("cargo ") else { continue };
            let rest = rest.trim_start_matches(['+', '"', '$']);
            let takes = reads_the_lock_file.iter().any(|verb| {
                rest.starts_with(verb)
                    || rest.split_once(' ').is_some_and(|(_, r)| r.starts_with(verb))
            });
            if takes && !line.trim_start().starts_with('#') {
                assert!(line.contains("--locked"), "{name}: {line}");
                seen += 1;
            }
        }
    }
    assert!(seen >= 8, "{seen} commands");
}

#[test]
fn only_one_script_installs_packages() {
    for (name, text) in scripts().into_iter().filter(|(name, _)| name != "ci/packages.sh") {
        for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
            for install in ["apt-get", "cargo install", "pip install -q", "pip\" install"] {
                // The wheel that was built here is what ci/dist-test.sh tests.
                let ours = name == "ci/dist-test.sh" && line.contains("rankcheck-*.whl");
                assert!(ours || !line.contains(install), "{name}: {line} (see ci/packages.sh)");
            }
        }
    }
}

#[test]
fn files_that_scripts_name_exist() {
    let mut seen = 0;
    for (name, text) in scripts() {
        let separates = |c: char| c.is_whitespace() || "\"'`;:,()=".contains(c);
        for word in text.split(separates).map(|word| word.trim_end_matches('.')) {
            let ours =
                ["ci/", "crates/", "tests/", "examples/"].iter().any(|f| word.starts_with(f));
            if ours && !word.contains(['*', '$']) {
                assert!(root().join(word).exists(), "{name}: there is no {word}");
                seen += 1;
            }
        }
    }
    assert!(seen > 15, "{seen} files");
}
