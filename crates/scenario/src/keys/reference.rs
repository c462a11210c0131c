//! The reference page of scenario keys, made from the table.

use std::fmt::Write as _;

use super::key::{KEYS, Key};

const HEAD: &str = "\
<!-- Made by `rankcheck schema keys`. To change it, change the table in crates/scenario/src/keys/table.rs. -->

# Scenario keys

A scenario file names a kernel and says with which values of these keys it is tested. A key that a file
does not state has its default. Beside the keys below, a file has:

- `scenario`: the scenario's name, with which all ids begin (letters, digits, `_ - . /`)
- `kernel`: the kernel, as its manifest names it
- `matrix`: axes, each a list of values; every combination is a case
- `exclude`: a list of `{when: {..}, reason: ..}`. What matches all of `when` is left out; a list in
  `when` means any of its elements, and a value that is a list itself stands in a list of its own
- `sample: {pairwise: 1}`: keeps a part of the combinations in which every pair of values still occurs
- `allow_cases`: the number of combinations that the matrix may have (2000 where it is not stated)

| key | default | `matrix`, `exclude.when` | `calls` | in ids |
|---|---|---|---|---|
";

/// The page, in Markdown.
pub fn reference() -> String {
    let mut page = HEAD.to_owned();
    for key in KEYS {
        let yes = |is: bool| if is { "yes" } else { "" };
        let _ = writeln!(
            page,
            "| [`{0}`](#{0}) | {1} | {2} | {3} | {4} |",
            key.name,
            default(key),
            yes(key.axis.is_some()),
            yes(key.call.is_some()),
            in_ids(key),
        );
    }
    for key in KEYS {
        let _ = writeln!(page, "\n## {}\n", key.name);
        let _ = writeln!(page, "{}", key.doc.trim());
        let _ = writeln!(page, "\n- accepted: {}", (key.accepted)());
        let _ = writeln!(page, "- default: {}", default(key));
        if let Some(alias) = key.alias {
            let _ = writeln!(page, "- also read as: `{alias}`");
        }
    }
    page
}

/// Code where a file could say it, words where it depends on the kernel.
fn default(key: &Key) -> String {
    match key.default.contains(' ') {
        true => key.default.to_owned(),
        false => format!("`{}`", key.default),
    }
}

fn in_ids(key: &Key) -> String {
    match key.axis {
        None => String::new(),
        Some("") => "always".into(),
        Some(name) => format!("`{name}=..` where it varies"),
    }
}
