use std::path::Path;

use super::index::Index;
use super::matrix::{self, Matrix, Outcome, Twin};

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/mutants")
}

#[test]
fn the_index_reads_and_names_every_variant_but_the_twins() {
    let index = Index::read(&folder()).unwrap();
    for entry in std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()) {
        for file in std::fs::read_dir(&entry).into_iter().flatten().map(|file| file.unwrap().path())
        {
            let text = std::fs::read_to_string(&file).unwrap();
            for line in
                text.lines().filter(|line| line.contains("defines: {") && line.starts_with("  "))
            {
                let variant = line.trim().split(':').next().unwrap();
                assert!(
                    index.mutants.iter().any(|mutant| mutant.mutant == variant),
                    "{}: {variant} is in no row of mutants.yaml",
                    file.display()
                );
            }
        }
    }
}
