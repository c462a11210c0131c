//! What a YAML block is, and how a part of a file becomes a whole one.

/// What a YAML block is about.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A scenario file.
    Scenario,
    /// A kernel's manifest.
    Manifest,
    /// Some keys of a scenario.
    PartOfScenario,
    /// Some keys of a manifest.
    PartOfManifest,
    /// A workflow of GitHub Actions, or a part of one.
    Workflow,
}

/// Keys that no scenario has.
const OF_MANIFESTS: [&str; 15] = [
    "collective",
    "source",
    "devices",
    "groups",
    "requires",
    "launch",
    "defines",
    "specialise",
    "hooks",
    "variants",
    "ops",
    "reduction",
    "steps",
    "workspace",
    "args",
];

/// The keys at the left margin, each with its line and those that belong to it.
fn entries(text: &str) -> Vec<(&str, String)> {
    let mut entries: Vec<(&str, String)> = Vec::new();
    for line in text.lines() {
        let starts = line.starts_with(|c: char| c.is_ascii_alphabetic());
        match line.split_once(':').filter(|_| starts) {
            Some((key, _)) => entries.push((key, format!("{line}\n"))),
            // In front of the first key: comments.
            None => {
                if let Some((_, text)) = entries.last_mut() {
                    *text += &format!("{line}\n");
                }
            }
        }
    }
    entries
}

/// The value of a key at the left margin, where it stands on the key's line.
pub(crate) fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let line = text.lines().find(|line| line.starts_with(&format!("{key}:")))?;
    let value = line[key.len() + 1..].split(" #").next()?.trim();
    (!value.is_empty()).then_some(value)
}

/// What the block is.
pub(crate) fn kind(text: &str) -> Kind {
    let keys: Vec<&str> = entries(text).iter().map(|(key, _)| *key).collect();
    if keys.contains(&"jobs") || keys.contains(&"on") || text.trim_start().starts_with("- ") {
        Kind::Workflow
    } else if keys.contains(&"scenario") {
        Kind::Scenario
    } else if keys.contains(&"kernel") && keys.contains(&"collective") {
        Kind::Manifest
    } else if keys.iter().any(|key| OF_MANIFESTS.contains(key)) {
        Kind::PartOfManifest
    } else {
        Kind::PartOfScenario
    }
}

/// `whole` with the keys of `part` in the place of its own.
pub(crate) fn merged(whole: &str, part: &str) -> String {
    let replaced: Vec<&str> = entries(part).iter().map(|(key, _)| *key).collect();
    let mut text = String::new();
    for (key, lines) in entries(whole) {
        // A single value gives way to an axis of the same name, and the other way round.
        if !replaced.contains(&key) && !part.contains(&format!("\n  {key}:")) {
            text += &lines;
        }
    }
    text + part
}

#[test]
fn parts_take_the_place_of_what_was_there() {
    let whole = "# c\nscenario: a/b\nranks: 2\nmatrix:\n  dtype: [f16]\nshape: 1x1\n";
    assert_eq!(
        merged(whole, "matrix:\n  shape: [2x2]\n"),
        "scenario: a/b\nranks: 2\nmatrix:\n  shape: [2x2]\n"
    );
    assert_eq!(kind(whole), Kind::Scenario);
    assert_eq!(kind("ranks: 2\n"), Kind::PartOfScenario);
    assert_eq!(kind("# words\nworkspace:\n  flags: {}\n"), Kind::PartOfManifest);
    assert_eq!(kind("kernel: a/b\ncollective: barrier\n"), Kind::Manifest);
    assert_eq!(value(whole, "scenario"), Some("a/b"));
    assert_eq!(value(whole, "matrix"), None);
}
