//! What a change may touch, as its author declares it, and what it touches besides.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::Serialize;

use crate::bytes::{BadSize, Bytes, range};
use crate::diff::{Map, Overlap};
use crate::names::{Collective, UnknownName};
use crate::scope::{Scope, Values};

/// A declared range: `allreduce nodes=2 ranks=16 32M..150994943`. What is left out may be anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed {
    collective: Option<Collective>,
    nodes: Option<i32>,
    ranks: Option<i32>,
    from: u64,
    to: u64,
}

/// A declaration that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRange {
    /// No `FROM..TO` in it.
    #[error(
        "no range of sizes (accepted: `allreduce nodes=2 ranks=16 32M..144M`, all but the sizes left out at will)"
    )]
    NoSizes,
    /// A bound that is no size.
    #[error(transparent)]
    Size(#[from] BadSize),
    /// A word that is no collective.
    #[error(transparent)]
    Name(#[from] UnknownName),
    /// A number of nodes or ranks that is none.
    #[error("`{0}` is no number")]
    Number(String),
    /// A range that ends before it begins.
    #[error("the range ends before it begins")]
    Empty,
}

impl FromStr for Allowed {
    type Err = BadRange;

    fn from_str(text: &str) -> Result<Self, BadRange> {
        let (mut collective, mut nodes, mut ranks, mut sizes) = (None, None, None, None);
        let number = |text: &str| {
            let value = text.parse::<i32>().ok().filter(|value| *value >= 1);
            value.ok_or_else(|| BadRange::Number(text.to_owned()))
        };
        for word in text.split([' ', ',', ':']).filter(|word| !word.is_empty()) {
            if let Some((from, to)) = word.split_once("..") {
                let bound = |text: &str, open: u64| match text {
                    "" => Ok(open),
                    text => text.parse().map(|Bytes(bytes)| bytes),
                };
                sizes = Some((bound(from, 0)?, bound(to.trim_start_matches('='), u64::MAX)?));
            } else if let Some(value) = word.strip_prefix("nodes=") {
                nodes = Some(number(value)?);
            } else if let Some(value) = word.strip_prefix("ranks=") {
                ranks = Some(number(value)?);
            } else {
                collective = Some(word.parse()?);
            }
        }
        match sizes.ok_or(BadRange::NoSizes)? {
            (from, to) if from > to => Err(BadRange::Empty),
            (from, to) => Ok(Self { collective, nodes, ranks, from, to }),
        }
    }
}

impl Allowed {
    fn covers(&self, scope: &Scope) -> bool {
        let only = |values: &Values, wanted: Option<i32>| {
            wanted.is_none_or(|wanted| *values == Values::Only(vec![wanted]))
        };
        self.collective.is_none_or(|collective| collective == scope.collective)
            && only(&scope.nodes, self.nodes)
            && only(&scope.ranks, self.ranks)
    }
}

/// A change that no declaration allows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Outside {
    /// The communicators in which it is.
    pub scope: Scope,
    /// Smallest size that changes and may not, in bytes.
    pub from: u64,
    /// Largest size of it, in bytes.
    pub to: u64,
}

impl fmt::Display for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} bytes", self.scope, range(self.from, self.to))
    }
}

/// Every change that lies outside all declared ranges.
pub fn outside(changes: &[Map], allowed: &[Allowed]) -> Vec<Outside> {
    let mut found = Vec::new();
    for map in changes {
        let declared: Vec<_> = allowed.iter().filter(|range| range.covers(&map.scope)).collect();
        for span in map.spans.iter().filter(|span| span.overlap() != Overlap::Unchanged) {
            let mut rest = vec![(span.from, span.to)];
            for range in &declared {
                rest = rest.into_iter().flat_map(|part| without(part, range)).collect();
            }
            let scope = || map.scope.clone();
            found.extend(rest.into_iter().map(|(from, to)| Outside { scope: scope(), from, to }));
        }
    }
    found
}

/// What is left of a stretch beside a range: nothing, a part, or a part on each side.
fn without((from, to): (u64, u64), range: &Allowed) -> Vec<(u64, u64)> {
    if to < range.from || range.to < from {
        return vec![(from, to)];
    }
    let below = range.from.checked_sub(1).filter(|&last| from <= last).map(|last| (from, last));
    let above = range.to.checked_add(1).filter(|&first| first <= to).map(|first| (first, to));
    below.into_iter().chain(above).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("32M..64M", Some((33_554_432, 67_108_864)))]
    #[case("allreduce nodes=2 ranks=16 8..", Some((8, u64::MAX)))]
    #[case("allreduce:..1K", Some((0, 1024)))]
    #[case("allreduce", None)]
    #[case("alltoall 1..2", None)]
    #[case("9..8", None)]
    #[case("nodes=x 1..2", None)]
    fn declarations(#[case] text: &str, #[case] expected: Option<(u64, u64)>) {
        let found = text.parse::<Allowed>().ok().map(|range| (range.from, range.to));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_range_can_cut_both_ends_or_nothing_off() {
        let range = |text: &str| text.parse::<Allowed>().unwrap();
        assert_eq!(without((10, 20), &range("12..15")), [(10, 11), (16, 20)]);
        assert_eq!(without((10, 20), &range("0..20")), []);
        assert_eq!(without((10, 20), &range("21..30")), [(10, 20)]);
        assert_eq!(without((0, u64::MAX), &range("0..")), []);
    }
}
