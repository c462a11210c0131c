//! Combinations that `exclude` leaves out.

use collectives::Group;

use crate::keys::{Exclude, Settings};
use crate::values::{Combination, Place, Placed};

/// The excludes of a file, and how many combinations each has left out.
pub(super) struct Excludes<'a> {
    excludes: Vec<(&'a Placed<Exclude>, usize)>,
}

impl<'a> Excludes<'a> {
    pub(super) fn new(excludes: &'a [Placed<Exclude>]) -> Excludes<'a> {
        Excludes { excludes: excludes.iter().map(|exclude| (exclude, 0)).collect() }
    }

    /// Whether a combination, whose first call has this group, is left out. The first exclude that
    /// matches counts it.
    pub(super) fn exclude(&mut self, settings: &Settings, group: &Group) -> bool {
        let combination = Combination { ranks: settings.ranks.value.0, group };
        let mut excludes = self.excludes.iter_mut();
        let found = excludes.find(|(exclude, _)| exclude.value.when.matches(settings, combination));
        match found {
            Some((_, count)) => {
                *count += 1;
                true
            }
            None => false,
        }
    }

    /// Where an exclude stands that has left out nothing.
    pub(super) fn idle(&self) -> Option<Place> {
        self.excludes.iter().find(|(_, count)| *count == 0).map(|(exclude, _)| exclude.place)
    }
}
