use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use kernels::Manifest;

use super::index::{Index, TWIN};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/mutants")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn every_mutant_is_in_the_index_and_every_scenario_is_used() {
    let index = Index::read(&folder()).unwrap();
    let named: BTreeSet<&str> = index.mutants.iter().map(|m| m.mutant.as_str()).collect();
    let used: BTreeSet<PathBuf> =
        index.mutants.iter().map(|m| folder().join(&m.scenario)).collect();
    for file in files(&folder()).iter().filter(|path| path.is_dir()).flat_map(|path| files(path)) {
        if file.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        if !text.lines().any(|line| line.starts_with("variants:")) {
            assert!(used.contains(&file), "{} is used by no mutant", file.display());
            continue;
        }
        let manifest: Manifest = kernels::yaml::parse(&file, &text).unwrap();
        for (variant, settings) in &manifest.variants {
            let right = variant == TWIN;
            assert_eq!(settings.defines.is_empty(), right, "{}: {variant}", file.display());
            assert!(right || named.contains(variant.as_str()), "{}: {variant}", file.display());
        }
    }
}

#[test]
fn rows_are_named_as_the_catalogue_names_them() {
    let index = Index::read(&folder()).unwrap();
    let rows = index.mutants.iter().map(|m| &m.rows).chain(index.waiting.iter().map(|w| &w.rows));
    for row in rows.flatten() {
        let (letter, number) = row.split_at(1);
        assert!("MSCH".contains(letter) && number.len() == 2, "{row}");
        assert!(number.parse::<u32>().is_ok(), "{row}");
    }
}
