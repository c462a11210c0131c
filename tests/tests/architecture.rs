//! The map of the crates is the one that is drawn, dependencies are used, folders do not stand on
//! each other in circles, and files stay small.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cargo_metadata::{Dependency, DependencyKind, Metadata, MetadataCommand, Package};
use rankcheck_tests::modules::Modules;

/// A longer file is most likely two things.
const LINES: usize = 400;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the repository").to_owned()
}

fn metadata() -> Metadata {
    MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .other_options(["--offline".to_owned()])
        .exec()
        .expect("the workspace's manifests")
}

type Edges = BTreeMap<String, BTreeSet<String>>;

/// The block of ARCHITECTURE.md that draws the edges: a line a crate, `crate -> crates it uses`.
fn drawn() -> Edges {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the document");
    let block = text.split("```edges\n").nth(1).expect("a block of edges in ARCHITECTURE.md");
    let block = block.split("```").next().expect("the block ends");
    let edges = block.lines().map(|line| {
        let (from, to) = line.split_once("->").unwrap_or_else(|| panic!("no arrow in `{line}`"));
        let to = to.split_whitespace().map(str::to_owned).collect();
        (from.trim().to_owned(), to)
    });
    edges.collect()
}

fn existing(metadata: &Metadata) -> Edges {
    let members: BTreeSet<&str> =
        metadata.workspace_packages().iter().map(|package| package.name.as_str()).collect();
    let products =
        metadata.workspace_packages().into_iter().filter(|p| p.name != "rankcheck-tests");
    let edges = products.map(|package| {
        let normal = package.dependencies.iter().filter(|d| d.kind == DependencyKind::Normal);
        let inside = normal.filter(|d| members.contains(d.name.as_str()));
        (package.name.to_string(), inside.map(|d| d.name.clone()).collect())
    });
    edges.collect()
}

#[test]
fn the_edges_between_crates_are_those_that_architecture_md_draws() {
    let (drawn, existing) = (drawn(), existing(&metadata()));
    let mut wrong = Vec::new();
    for name in drawn.keys().chain(existing.keys()).collect::<BTreeSet<_>>() {
        match (drawn.get(name), existing.get(name)) {
            (Some(_), None) => wrong.push(format!("{name} is drawn and is no crate")),
            (None, Some(_)) => wrong.push(format!("{name} is a crate and is not drawn")),
            (Some(drawn), Some(existing)) => {
                let only_drawn = drawn.difference(existing);
                wrong.extend(only_drawn.map(|to| format!("{name} -> {to} is drawn and not there")));
                let hidden = existing.difference(drawn);
                wrong.extend(hidden.map(|to| format!("{name} -> {to} is there and not drawn")));
            }
            (None, None) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// All files of Rust under a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => sources(&path),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

/// Whether code names a crate: in `use`, or in front of `::`.
fn names(code: &str, identifier: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(identifier).any(|(at, _)| {
        let before = code[..at].trim_end_matches([' ']);
        let inside = code[..at].ends_with(|c: char| is_word(c) || c == ':');
        let behind = &code[at + identifier.len()..];
        !inside
            && (behind.starts_with("::")
                || (before.ends_with("use") && behind.starts_with([';', ' '])))
    })
}

fn is_used(package: &Package, dependency: &Dependency) -> bool {
    let folder = package.manifest_path.parent().expect("a manifest has a folder").as_std_path();
    let folders = match dependency.kind {
        DependencyKind::Normal => &["src"][..],
        _ => &["src", "tests", "benches", "examples"][..],
    };
    let name = dependency.rename.as_ref().unwrap_or(&dependency.name).replace('-', "_");
    let files = folders.iter().flat_map(|inside| sources(&folder.join(inside)));
    files.into_iter().any(|file| {
        let text = std::fs::read_to_string(file).expect("a source is text");
        text.lines().any(|line| !line.trim_start().starts_with("//") && names(line, &name))
    })
}

#[test]
fn every_dependency_is_used() {
    let metadata = metadata();
    let mut unused = Vec::new();
    let mut seen = BTreeSet::new();
    for package in metadata.workspace_packages() {
        for dependency in &package.dependencies {
            seen.insert(dependency.rename.as_ref().unwrap_or(&dependency.name).clone());
            if !is_used(package, dependency) {
                unused.push(format!("{}: {} ({})", package.name, dependency.name, dependency.kind));
            }
        }
    }
    // A line of the workspace's own table that no crate asks for is as unused.
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("the manifest");
    let table = manifest.split("[workspace.dependencies]\n").nth(1).expect("a table");
    let lines = table.lines().take_while(|line| !line.starts_with('['));
    let declared = lines.filter_map(|line| line.split_once(" = ")).map(|(name, _)| name);
    unused.extend(
        declared.filter(|name| !seen.contains(*name)).map(|name| format!("Cargo.toml: {name}")),
    );
    assert!(unused.is_empty(), "declared and not used:\n{}", unused.join("\n"));
}

#[test]
fn folders_of_a_crate_make_no_circles() {
    let mut found = Vec::new();
    for package in metadata().workspace_packages() {
        let folder = package.manifest_path.parent().expect("a manifest has a folder");
        for circle in Modules::of(folder.join("src").as_std_path()).circles() {
            let files: Vec<String> = circle.iter().map(|file| file.display().to_string()).collect();
            found.push(format!("{}: {}", package.name, files.join(" ")));
        }
    }
    found.sort();
    assert!(found.is_empty(), "circles:\n{}", found.join("\n"));
}

#[test]
fn no_file_is_longer_than_one_thing_needs() {
    let root = root();
    let files = sources(&root.join("crates")).into_iter().chain(sources(&root.join("tests")));
    let mut long: Vec<String> = files
        .filter(|file| std::fs::read_to_string(file).expect("text").lines().count() > LINES)
        .map(|file| file.strip_prefix(&root).expect("it is inside").display().to_string())
        .collect();
    long.sort();
    assert!(long.is_empty(), "over {LINES} lines: {}", long.join(", "));
}
