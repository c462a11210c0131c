//! The catalogue of faults and the mutants speak of the same rows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use rankcheck_tests::programs::root;
use serde_json::Value;

/// The rows of the catalogue: name, and the names in its last column.
fn catalogue() -> BTreeMap<String, String> {
    let page = fs::read_to_string(root().join("docs/src/faults.md")).unwrap();
    let mut rows = BTreeMap::new();
    for line in page.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let is_row = |name: &str| {
            name.len() == 3
                && name.starts_with(['C', 'H', 'M', 'S'])
                && name[1..].chars().all(|c| c.is_ascii_digit())
        };
        if let [name, meaning, shown] = cells[..]
            && is_row(name)
        {
            assert!(meaning.len() > 20, "{name}: {meaning}");
            let before = rows.insert(name.to_owned(), shown.to_owned());
            assert!(before.is_none(), "{name} stands twice");
        }
    }
    rows
}

fn rows_of(entry: &Value) -> Vec<String> {
    let rows = entry["rows"].as_array().into_iter().flatten();
    rows.map(|row| row.as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_catalogue_has_every_row_that_a_mutant_names_and_says_which_mutant_shows_it() {
    let rows = catalogue();
    let text = fs::read_to_string(root().join("tests/mutants/mutants.yaml")).unwrap();
    let index: Value = serde_yaml::from_str(&text).unwrap();
    let mut shown: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for mutant in index["mutants"].as_array().unwrap() {
        let folder = mutant["scenario"].as_str().unwrap().split('/').next().unwrap();
        let name = format!("{folder}/{}", mutant["mutant"].as_str().unwrap());
        for row in rows_of(mutant) {
            shown.entry(row).or_default().insert(name.clone());
        }
    }
    for waiting in index["waiting"].as_array().unwrap() {
        let needs = format!("waits for {}", waiting["needs"].as_str().unwrap());
        for row in rows_of(waiting) {
            shown.entry(row).or_default().insert(needs.clone());
        }
    }
    assert!(shown.len() > 100, "{}", shown.len());
    for (row, by) in &shown {
        let said = rows.get(row).unwrap_or_else(|| panic!("docs/src/faults.md has no row {row}"));
        let said: BTreeSet<String> =
            said.split(", ").map(|name| name.trim_matches('`').to_owned()).collect();
        assert_eq!(&said, by, "docs/src/faults.md, row {row}");
    }
    // Faults of a test harness are shown by tests, which the row names.
    for (row, said) in rows.iter().filter(|(row, _)| !shown.contains_key(*row)) {
        assert!(row.starts_with('H'), "no mutant names {row}");
        let file = said.trim_matches('`');
        assert!(root().join(file).is_file(), "row {row}: there is no {file}");
    }
}
