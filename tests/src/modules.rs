//! Which file of a crate uses which other one: a small scanner of `use` and of paths in code.
//!
//! It knows modules, `crate`, `self`, `super`, groups in braces and re-exports, which it follows to the
//! file where the item is. Code under `#[cfg(test)]` does not count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The modules of a crate, by path: `["schedule", "turns"]`.
pub struct Modules {
    files: BTreeMap<Vec<String>, Module>,
}

struct Module {
    /// Relative to the crate's `src`.
    file: PathBuf,
    /// Paths that the code uses, and the path of the module in which each stands.
    paths: Vec<Vec<String>>,
    /// Names that it re-exports, with what they stand for.
    exports: BTreeMap<String, Vec<String>>,
}

impl Modules {
    /// The modules under a crate's `src`.
    pub fn of(src: &Path) -> Modules {
        let mut files = BTreeMap::new();
        collect(src, src, &mut files);
        Modules { files }
    }

    /// For each file the other files that it uses, all relative to `src`.
    pub fn uses(&self) -> BTreeMap<PathBuf, BTreeSet<PathBuf>> {
        let mut uses = BTreeMap::new();
        for (name, module) in &self.files {
            let targets = module.paths.iter().filter_map(|path| self.resolve(name, path, 0));
            let others = targets.map(|of| self.files[&of].file.clone());
            let others = others.filter(|file| *file != module.file).collect();
            uses.insert(module.file.clone(), others);
        }
        uses
    }

    /// Circles among files of different folders, each as its sorted files.
    pub fn circles(&self) -> Vec<Vec<PathBuf>> {
        let uses = self.uses();
        let reach: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> =
            uses.keys().map(|file| (file, reachable(&uses, file))).collect();
        let mut circles: BTreeSet<Vec<PathBuf>> = BTreeSet::new();
        for file in uses.keys() {
            let both = uses.keys().filter(|o| reach[file].contains(o) && reach[o].contains(file));
            let circle: Vec<PathBuf> = both.cloned().collect();
            let folders: BTreeSet<_> = circle.iter().map(|file| file.parent()).collect();
            if folders.len() > 1 {
                circles.insert(circle);
            }
        }
        circles.into_iter().collect()
    }

    /// The module in which the item at `path` is, seen from module `from`.
    fn resolve(&self, from: &[String], path: &[String], depth: u32) -> Option<Vec<String>> {
        let (mut at, mut rest): (Vec<String>, &[String]) = match path.first()?.as_str() {
            "crate" => (Vec::new(), &path[1..]),
            "self" => (from.to_vec(), &path[1..]),
            "super" => (from.to_vec(), path),
            // Without any of them it may be a child, or another crate.
            first => {
                let child: Vec<String> = from.iter().cloned().chain([first.to_owned()]).collect();
                let exported = self.files.get(from)?.exports.contains_key(first);
                if !self.files.contains_key(&child) && !exported {
                    return None;
                }
                (from.to_vec(), path)
            }
        };
        while rest.first().is_some_and(|segment| segment == "super") {
            at.pop()?;
            rest = &rest[1..];
        }
        while let Some((segment, further)) = rest.split_first() {
            let child: Vec<String> = at.iter().cloned().chain([segment.clone()]).collect();
            if self.files.contains_key(&child) {
                (at, rest) = (child, further);
                continue;
            }
            // Deeper than any chain of re-exports: a name that stands for itself.
            let export = self.files.get(&at)?.exports.get(segment).filter(|_| depth < 8);
            return match export {
                Some(export) => self.resolve(&at, export, depth + 1).or(Some(at)),
                None => Some(at),
            };
        }
        self.files.contains_key(&at).then_some(at)
    }
}

fn reachable<'a>(
    uses: &'a BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    from: &'a PathBuf,
) -> BTreeSet<&'a PathBuf> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(file) = open.pop() {
        for next in uses.get(file).into_iter().flatten() {
            if reached.insert(next) {
                open.push(next);
            }
        }
    }
    reached
}

fn collect(src: &Path, folder: &Path, files: &mut BTreeMap<Vec<String>, Module>) {
    for entry in std::fs::read_dir(folder).expect("a crate's sources").flatten() {
        let path = entry.path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            collect(src, &path, files);
        } else if path.extension().is_some_and(|e| e == "rs") && name != "tests" {
            let file = path.strip_prefix(src).expect("it is in src").to_owned();
            let mut module: Vec<String> = file
                .parent()
                .into_iter()
                .flat_map(Path::iter)
                .map(|folder| folder.to_string_lossy().into_owned())
                .collect();
            if !["mod", "lib", "main"].contains(&name.as_str()) {
                module.push(name);
            }
            let text = std::fs::read_to_string(&path).expect("a source is text");
            files.insert(module, Module::parse(file, &text));
        }
    }
}

impl Module {
    fn parse(file: PathBuf, text: &str) -> Module {
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let code = without_comments_and_strings(text);
        let mut module = Module { file, paths: Vec::new(), exports: BTreeMap::new() };
        let mut rest = code.as_str();
        // Statements that import, then paths that stand in code.
        let mut others = String::new();
        while let Some(at) = find_use(rest) {
            let (before, statement) = rest.split_at(at);
            others += before;
            let end = statement.find(';').unwrap_or(statement.len());
            let exports =
                ["pub ", "pub(crate) ", "pub(super) "].iter().any(|p| before.ends_with(p));
            let mut found = Vec::new();
            expand(&[], statement[..end].trim_start_matches("use").trim(), &mut found);
            for (path, name) in found {
                if exports {
                    module.exports.insert(name, path);
                } else {
                    module.paths.push(path);
                }
            }
            rest = &statement[end..];
        }
        others += rest;
        for start in ["crate::", "super::", "self::"] {
            for (at, _) in others.match_indices(start) {
                let is_word = |c: char| c.is_alphanumeric() || c == '_';
                let before = others[..at].chars().next_back();
                if before.is_some_and(|c| is_word(c) || c == ':') {
                    continue;
                }
                let path: String =
                    others[at..].chars().take_while(|c| is_word(*c) || *c == ':').collect();
                module.paths.push(path.trim_end_matches(':').split("::").map(Into::into).collect());
            }
        }
        module
    }
}

/// Where the next statement begins that imports.
fn find_use(code: &str) -> Option<usize> {
    code.match_indices("use ").map(|(at, _)| at).find(|at| {
        let before = code[..*at].trim_end_matches(' ');
        let before = ["pub", "pub(crate)", "pub(super)"]
            .iter()
            .find_map(|visibility| before.strip_suffix(visibility))
            .unwrap_or(before)
            .trim_end_matches(' ');
        before.is_empty() || before.ends_with(['\n', '{', ';', '}'])
    })
}

/// `a::{b, c::d as e}` as `a::b` named b, and `a::c::d` named e.
fn expand(prefix: &[String], tree: &str, found: &mut Vec<(Vec<String>, String)>) {
    let tree = tree.trim();
    if let Some(open) = tree.find('{') {
        let mut prefix = prefix.to_vec();
        prefix.extend(
            tree[..open].split("::").map(str::trim).filter(|s| !s.is_empty()).map(Into::into),
        );
        let inside = tree[open + 1..].trim_end().strip_suffix('}').unwrap_or_default();
        let (mut depth, mut start) = (0, 0);
        for (at, c) in inside.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    expand(&prefix, &inside[start..at], found);
                    start = at + 1;
                }
                _ => {}
            }
        }
        expand(&prefix, &inside[start..], found);
    } else if !tree.is_empty() {
        let (path, alias) = match tree.split_once(" as ") {
            Some((path, alias)) => (path.trim(), Some(alias.trim().to_owned())),
            None => (tree, None),
        };
        let mut whole = prefix.to_vec();
        whole.extend(path.split("::").map(|segment| segment.trim().to_owned()));
        if whole.last().is_some_and(|last| last == "self" || last == "*") {
            whole.pop();
        }
        let name = alias.or_else(|| whole.last().cloned()).unwrap_or_default();
        found.push((whole, name));
    }
}

/// Comments and what stands between quotes is left out: neither imports anything.
fn without_comments_and_strings(text: &str) -> String {
    let mut code = String::new();
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default();
        let mut quoted = false;
        code.extend(line.chars().filter(|c| {
            quoted ^= *c == '"';
            !quoted
        }));
        code.push('\n');
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules(sources: &[(&str, &str)]) -> Modules {
        let folder = tempfile::tempdir().expect("a folder");
        for (file, text) in sources {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        Modules::of(folder.path())
    }

    fn circles(sources: &[(&str, &str)]) -> Vec<Vec<PathBuf>> {
        modules(sources).circles()
    }

    const ROOT: (&str, &str) = ("lib.rs", "mod one;\nmod two;\npub use one::a::{A, B as C};\n");

    #[test]
    fn a_circle_between_folders_is_found_through_groups_re_exports_and_code() {
        for back in [
            "use crate::one::a::A;\n",
            "use crate::{C};\n",
            "use super::super::one::a;\n",
            "pub fn f() -> crate::one::a::A {}\n",
            "use crate::one::A as Other;\n",
        ] {
            let sources = [
                ROOT,
                ("one/mod.rs", "pub(crate) mod a;\npub(crate) use a::A;\n"),
                ("one/a.rs", "use std::fmt;\nuse crate::{two::{b::B, self}, one};\n"),
                ("two/mod.rs", "pub mod b;\n"),
                ("two/b.rs", back),
            ];
            let found = circles(&sources);
            assert_eq!(found.len(), 1, "{back}");
            assert!(found[0].contains(&PathBuf::from("two/b.rs")), "{back}: {found:?}");
        }
    }

    #[test]
    fn tests_comments_and_one_folder_make_no_circle() {
        let sources = [
            ROOT,
            ("one/mod.rs", "pub(crate) mod a;\nmod c;\n"),
            ("one/a.rs", "use crate::two::b::B;\nuse super::c::C;\n"),
            ("one/c.rs", "use super::a::A;\n"),
            ("two/mod.rs", "pub mod b;\n"),
            (
                "two/b.rs",
                "// use crate::one::a::A;\nconst T: &str = \"crate::one::a\";\n\
                 #[cfg(test)]\nmod tests {\nuse crate::one::a::A;\n}\n",
            ),
        ];
        assert_eq!(circles(&sources), Vec::<Vec<PathBuf>>::new());
    }
}
