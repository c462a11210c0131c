//! Links lead somewhere, commands in the text exist, and every page is in the table of contents.

use std::fs;
use std::path::{Path, PathBuf};

use rankcheck_tests::Project;
use rankcheck_tests::programs::root;

use crate::BINARY;
use crate::console::Help;

/// Every page that a reader may open.
fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    crate::files(&root().join("docs/src"), "md", &mut pages);
    crate::files(&root().join("ci/evidence"), "md", &mut pages);
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        pages.push(root().join(name));
    }
    pages
}

/// A page without its fenced blocks.
fn words(text: &str) -> String {
    let mut inside = false;
    let mut words = String::new();
    for line in text.lines() {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        words += if inside || fence { "" } else { line };
        words.push('\n');
    }
    words
}

/// Where a heading can be linked to.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().chars();
    let kept = kept.filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn targets(text: &str) -> Vec<String> {
    let links = text.split("](").skip(1);
    links.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.to_owned()).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut seen = 0;
    for page in pages() {
        let text = words(&fs::read_to_string(&page).unwrap());
        for target in targets(&text) {
            if target.contains("://") {
                continue;
            }
            seen += 1;
            let (file, place) = target.split_once('#').unwrap_or((&target, ""));
            let folder = page.parent().unwrap();
            let to = if file.is_empty() { page.clone() } else { folder.join(file) };
            assert!(to.exists(), "{}: {target} is not there", page.display());
            if !place.is_empty() {
                let there = words(&fs::read_to_string(&to).unwrap());
                let mut headings = there.lines().filter(|line| line.starts_with('#'));
                assert!(
                    headings.any(|heading| anchor(heading) == place),
                    "{}: {target} names no heading",
                    page.display()
                );
            }
        }
    }
    assert!(seen > 40, "{seen} links");
}

#[test]
fn the_book_leads_to_every_page_and_leaves_the_book_by_no_link() {
    let source = root().join("docs/src");
    let summary = fs::read_to_string(source.join("SUMMARY.md")).unwrap();
    let mut pages = Vec::new();
    crate::files(&source, "md", &mut pages);
    for page in pages.iter().filter(|page| !page.ends_with("SUMMARY.md")) {
        let name = page.strip_prefix(&source).unwrap().display().to_string();
        assert!(summary.contains(&format!("]({name})")), "SUMMARY.md does not name {name}");
        for target in targets(&words(&fs::read_to_string(page).unwrap())) {
            // In the built book there is nothing above its own folder.
            assert!(!target.starts_with("../"), "{name}: {target} leaves the book");
        }
    }
}

#[test]
fn commands_in_the_text_exist() {
    let help = Help::new(&Project::new(BINARY));
    let mut seen = 0;
    for page in pages() {
        let name = page.strip_prefix(root()).unwrap().display().to_string();
        if name == "CHANGELOG.md" {
            continue;
        }
        let text = words(&fs::read_to_string(&page).unwrap());
        for code in text.split('`').skip(1).step_by(2).filter(|c| c.starts_with("rankcheck ")) {
            help.rankcheck(&code.replace('\n', " "), &name);
            seen += 1;
        }
    }
    assert!(seen > 30, "{seen} commands");
}

#[test]
fn the_readme_is_for_five_minutes() {
    let lines = fs::read_to_string(root().join("README.md")).unwrap().lines().count();
    assert!(lines <= 200, "README.md has {lines} lines: what is for later goes to docs/src");
}

#[test]
fn every_kind_of_finding_has_its_section() {
    let page = fs::read_to_string(root().join("docs/src/findings.md")).unwrap();
    let source = fs::read_to_string(finding_kinds()).unwrap();
    let list = source.split_once("pub enum FindingKind {").unwrap().1.split_once("\n}").unwrap().0;
    let kinds: Vec<&str> = list
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase()))
        .map(|line| line.trim_end_matches(','))
        .collect();
    assert!(kinds.len() > 20, "{kinds:?}");
    for kind in kinds {
        let mut name = String::new();
        for letter in kind.chars() {
            if letter.is_uppercase() && !name.is_empty() {
                name.push('_');
            }
            name.extend(letter.to_lowercase());
        }
        assert!(page.contains(&format!("\n## `{name}`\n")), "docs/src/findings.md: no `{name}`");
    }
}

/// The file that lists the kinds, wherever it is in `collectives`.
fn finding_kinds() -> PathBuf {
    let mut sources = Vec::new();
    crate::files(&root().join("crates/collectives/src"), "rs", &mut sources);
    let lists = |path: &Path| fs::read_to_string(path).unwrap().contains("pub enum FindingKind {");
    sources.into_iter().find(|path| lists(path)).expect("collectives lists the kinds of findings")
}

#[test]
fn evidence_is_dated_and_listed() {
    let folder = root().join("ci/evidence");
    let index = fs::read_to_string(folder.join("README.md")).unwrap();
    let mut seen = 0;
    for entry in fs::read_dir(&folder).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        if name == "README.md" {
            continue;
        }
        let digits = name.bytes().take(10).filter(u8::is_ascii_digit).count();
        assert!(digits == 8 && name.as_bytes()[10] == b'-', "{name} does not begin with its date");
        assert!(
            index.contains(&format!("]({name})")),
            "ci/evidence/README.md does not list {name}"
        );
        seen += 1;
    }
    assert!(seen > 3, "{seen} files");
}

#[test]
fn files_that_are_named_exist() {
    let folders = ["crates/", "ci/", ".ci/", "tests/", "examples/", "schema/", "docs/", "python/"];
    let mut seen = 0;
    for page in pages() {
        let name = page.strip_prefix(root()).unwrap().display().to_string();
        if name == "CHANGELOG.md" || name.starts_with("ci/evidence/") {
            continue;
        }
        let text = words(&fs::read_to_string(&page).unwrap());
        for code in text.split('`').skip(1).step_by(2) {
            let file = code.split(' ').next().unwrap();
            // `kernels/NAME/` stands for a name.
            if folders.iter().any(|folder| file.starts_with(folder)) && !file.contains("NAME") {
                assert!(root().join(file).exists(), "{name}: there is no {file}");
                seen += 1;
            }
        }
    }
    assert!(seen > 40, "{seen} files");
}
