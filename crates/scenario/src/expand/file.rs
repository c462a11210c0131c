//! The way of a file: its kernel, its combinations, their cases.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use kernels::yaml::Location;
use kernels::{Kernel, Library, LibraryError};

use super::combinations::combinations;
use super::exclude::Excludes;
use super::sample::sampled;
use crate::case::Case;
use crate::keys::{ScenarioFile, axes};
use crate::values::{GroupValue, Place};

/// More combinations than this need `allow_cases`.
pub const CASE_LIMIT: usize = 2000;

/// The cases of a file.
#[derive(Debug, Default)]
pub struct Expansion {
    /// The cases, in order of the matrix.
    pub cases: Vec<Case>,
    /// Combinations that mean nothing: groups that do not fit the world, or that another
    /// spelling of the same group already covers.
    pub not_generated: usize,
    /// Combinations that `exclude` left out.
    pub excluded: usize,
    /// Combinations that `sample` left out.
    pub sampled_out: usize,
}

/// A scenario that cannot be expanded.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ExpandError {
    /// Something in the scenario file.
    #[error("{at}: {message}")]
    At {
        /// The value that is wrong.
        at: Location,
        /// What is wrong and what is accepted.
        message: String,
    },
    /// Its kernel.
    #[error("{at}: {why}")]
    Kernel {
        /// Where the scenario names the kernel.
        at: Location,
        /// Why it cannot be had.
        why: LibraryError,
    },
}

/// Expands a file; `seed` overrides the file's.
///
/// # Errors
/// The first thing that does not fit, with its place.
pub fn expand(
    file: &Path,
    scenario: &ScenarioFile,
    library: &Library,
    seed: Option<u64>,
) -> Result<Expansion, ExpandError> {
    let beside = file.parent().map(|folder| match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    });
    let kernel = library
        .kernel(&scenario.kernel.value, beside)
        .map_err(|why| ExpandError::Kernel { at: location(file, scenario.kernel.place), why })?;
    let expander = Expander { file, scenario, kernel, seed };
    expander.check_name()?;
    expander.cases()
}

fn location(file: &Path, Place { line, column }: Place) -> Location {
    Location { file: file.to_owned(), line, column }
}

/// What the parts of an expansion work with.
pub(super) struct Expander<'a> {
    pub file: &'a Path,
    pub scenario: &'a ScenarioFile,
    pub kernel: Arc<Kernel>,
    /// In place of the file's.
    pub seed: Option<u64>,
}

impl Expander<'_> {
    /// An error at a value; at the scenario's name where the value stands in no file.
    pub(super) fn error(&self, place: Place, message: impl Into<String>) -> ExpandError {
        let place = if place.is_known() { place } else { self.scenario.scenario.place };
        ExpandError::At { at: location(self.file, place), message: message.into() }
    }

    fn check_name(&self) -> Result<(), ExpandError> {
        let name = &self.scenario.scenario;
        let good = |c: char| c.is_ascii_alphanumeric() || "_-/.".contains(c);
        if name.value.is_empty() || !name.value.chars().all(good) {
            let message = format!("`{}` is not a name (letters, digits, _ - . /)", name.value);
            return Err(self.error(name.place, message));
        }
        Ok(())
    }

    fn cases(&self) -> Result<Expansion, ExpandError> {
        let axes = axes(self.scenario);

        let mut expansion = Expansion::default();
        let mut excludes = Excludes::new(&self.scenario.exclude);
        let mut kept: Vec<(Vec<usize>, Case)> = Vec::new();
        let mut ids: BTreeMap<String, (GroupValue, Vec<usize>)> = BTreeMap::new();
        for mut combination in combinations(self, &axes)? {
            let seed = self.seed.unwrap_or(combination.settings.seed.value);
            let Some(calls) = self.calls(&combination.settings, seed)? else {
                expansion.not_generated += 1;
                continue;
            };
            if excludes.exclude(&combination.settings, &calls[0].0.group) {
                expansion.excluded += 1;
                continue;
            }
            combination.settings.seed.value = seed;
            let group = combination.settings.group.value.clone();
            let indices = combination.indices.clone();
            let case = self.case(combination, calls)?;
            match ids.get(&case.id) {
                // Another spelling of the same group, such as `evens` on one rank.
                Some((earlier, _)) if *earlier != group => {
                    expansion.not_generated += 1;
                    continue;
                }
                Some((_, earlier)) => {
                    let mut both = axes.iter().zip(earlier.iter().zip(&indices));
                    let repeated = both.find(|(_, (earlier, this))| earlier != this);
                    let place = repeated.map(|(axis, (_, this))| axis.values[*this].0);
                    let message = format!(
                        "two combinations give the id {} (remove the repeated value)",
                        case.id
                    );
                    return Err(self.error(place.unwrap_or_default(), message));
                }
                None => ids.insert(case.id.clone(), (group, indices.clone())),
            };
            kept.push((indices, case));
        }
        if let Some(idle) = excludes.idle() {
            let message = "this exclude removes nothing (no combination matches all of `when`)";
            return Err(self.error(idle, message));
        }
        let before = kept.len();
        expansion.cases = sampled(kept, self.scenario.sample);
        expansion.sampled_out = before - expansion.cases.len();
        Ok(expansion)
    }
}
