//! Groups: which ranks take part, in which order.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::meaning::rank::{GroupRank, Rank};

/// The ranks that take part in a call, in group order. Never empty, never a rank twice.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Group {
    members: Vec<Rank>,
}

/// A group as a user writes it, before the world is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum GroupSpec {
    /// Every rank.
    World,
    /// Ranks 0, 2, 4, ...
    Evens,
    /// Ranks 1, 3, 5, ...
    Odds,
    /// The first two ranks.
    Pairs,
    /// All but rank 0.
    AllButFirst,
    /// All but the last rank.
    AllButLast,
    /// Every rank, last one first.
    Reversed,
    /// Rank 0 alone.
    Single,
    /// `start`, `start + stride`, ... `size` of them.
    Strided {
        /// First rank.
        start: u32,
        /// Distance between members.
        stride: u32,
        /// How many.
        size: u32,
    },
    /// Exactly these, in this order.
    Ranks(Vec<u32>),
}

impl GroupSpec {
    /// The names that may be written, in the order in which they are listed to users.
    pub const NAMES: [&'static str; 8] =
        ["world", "evens", "odds", "pairs", "all_but_first", "all_but_last", "reversed", "single"];

    /// The group in a world of `world` ranks, or `None` where it does not fit.
    pub fn resolve(&self, world: u32) -> Option<Group> {
        let members: Vec<u32> = match self {
            GroupSpec::World => (0..world).collect(),
            GroupSpec::Evens => (0..world).step_by(2).collect(),
            GroupSpec::Odds => (1..world).step_by(2).collect(),
            GroupSpec::Pairs => (world >= 2).then(|| vec![0, 1])?,
            GroupSpec::AllButFirst => (1..world).collect(),
            GroupSpec::AllButLast => (0..world.saturating_sub(1)).collect(),
            GroupSpec::Reversed => (0..world).rev().collect(),
            GroupSpec::Single => vec![0],
            GroupSpec::Strided { start, stride, size } => (0..*size)
                .map(|i| stride.checked_mul(i)?.checked_add(*start))
                .collect::<Option<_>>()?,
            GroupSpec::Ranks(ranks) => ranks.clone(),
        };
        Group::new(members.into_iter().map(Rank).collect())
            .filter(|group| group.members.iter().all(|rank| rank.0 < world))
    }
}

impl fmt::Display for GroupSpec {
    /// As a scenario file spells it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            GroupSpec::World => "world",
            GroupSpec::Evens => "evens",
            GroupSpec::Odds => "odds",
            GroupSpec::Pairs => "pairs",
            GroupSpec::AllButFirst => "all_but_first",
            GroupSpec::AllButLast => "all_but_last",
            GroupSpec::Reversed => "reversed",
            GroupSpec::Single => "single",
            GroupSpec::Strided { start, stride, size } => {
                return write!(f, "{{start: {start}, stride: {stride}, size: {size}}}");
            }
            GroupSpec::Ranks(ranks) => return write!(f, "{{ranks: {ranks:?}}}"),
        })
    }
}

impl FromStr for GroupSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "world" => GroupSpec::World,
            "evens" => GroupSpec::Evens,
            "odds" => GroupSpec::Odds,
            "pairs" => GroupSpec::Pairs,
            "all_but_first" => GroupSpec::AllButFirst,
            "all_but_last" => GroupSpec::AllButLast,
            "reversed" => GroupSpec::Reversed,
            "single" => GroupSpec::Single,
            _ => {
                return Err(format!(
                    "unknown group `{text}`, expected one of {}, or {{start, stride, size}}, or {{ranks: [..]}}",
                    GroupSpec::NAMES.join(", ")
                ));
            }
        })
    }
}

impl Group {
    /// A group of these members, or `None` when empty or when a rank stands twice.
    pub fn new(members: Vec<Rank>) -> Option<Group> {
        let mut seen = members.clone();
        seen.sort_unstable();
        seen.dedup();
        (!members.is_empty() && seen.len() == members.len()).then_some(Group { members })
    }

    /// How many ranks take part.
    pub fn size(&self) -> u32 {
        self.members.len() as u32
    }

    /// The members in group order: index is the group rank.
    pub fn members(&self) -> &[Rank] {
        &self.members
    }

    /// Where `rank` stands in the group; `None` for an idle rank.
    pub fn group_rank(&self, rank: Rank) -> Option<GroupRank> {
        self.members.iter().position(|member| *member == rank).map(|i| GroupRank(i as u32))
    }

    /// The rank of a group rank. Panics when it is not below `size()`.
    pub fn rank(&self, group_rank: GroupRank) -> Rank {
        self.members[group_rank.0 as usize]
    }

    /// `(start, stride)` where the members ascend by one distance; stride 1 for a single rank.
    pub fn stride(&self) -> Option<(u32, u32)> {
        let start = self.members[0].0;
        let stride = match self.members.get(1) {
            None => 1,
            Some(second) => second.0.checked_sub(start)?,
        };
        let uniform = self.members.iter().zip(0..).all(|(rank, i)| rank.0 == start + i * stride);
        uniform.then_some((start, stride))
    }

    /// Whether the group is the whole world in rank order.
    pub fn is_world(&self, world: u32) -> bool {
        self.stride() == Some((0, 1)) && self.size() == world
    }
}

impl fmt::Display for Group {
    /// `g0+2x2` (start + stride x size) or `g3.0.2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.stride() {
            Some((start, stride)) => write!(f, "g{start}+{stride}x{}", self.size()),
            None => {
                let ranks: Vec<_> = self.members.iter().map(Rank::to_string).collect();
                write!(f, "g{}", ranks.join("."))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("world", 4, Some("g0+1x4"))]
    #[case("evens", 4, Some("g0+2x2"))]
    #[case("evens", 5, Some("g0+2x3"))]
    #[case("odds", 1, None)]
    #[case("odds", 4, Some("g1+2x2"))]
    #[case("pairs", 1, None)]
    #[case("all_but_first", 4, Some("g1+1x3"))]
    #[case("all_but_last", 1, None)]
    #[case("reversed", 3, Some("g2.1.0"))]
    #[case("single", 8, Some("g0+1x1"))]
    fn named_groups_follow_the_world(
        #[case] name: &str,
        #[case] world: u32,
        #[case] expected: Option<&str>,
    ) {
        let group = name.parse::<GroupSpec>().unwrap().resolve(world);
        assert_eq!(group.map(|g| g.to_string()).as_deref(), expected);
    }

    #[rstest]
    #[case(GroupSpec::Strided { start: 1, stride: 2, size: 2 }, 4, Some("g1+2x2"))]
    #[case(GroupSpec::Strided { start: 1, stride: 2, size: 2 }, 3, None)]
    #[case(GroupSpec::Strided { start: 1, stride: 0, size: 2 }, 4, None)]
    #[case(GroupSpec::Strided { start: u32::MAX, stride: 2, size: 2 }, 4, None)]
    #[case(GroupSpec::Ranks(vec![3, 0, 2]), 4, Some("g3.0.2"))]
    #[case(GroupSpec::Ranks(vec![3, 0, 3]), 4, None)]
    #[case(GroupSpec::Ranks(vec![]), 4, None)]
    #[case(GroupSpec::Ranks(vec![4]), 4, None)]
    fn explicit_groups_fit_or_do_not(
        #[case] spec: GroupSpec,
        #[case] world: u32,
        #[case] expected: Option<&str>,
    ) {
        assert_eq!(spec.resolve(world).map(|g| g.to_string()).as_deref(), expected);
    }

    #[test]
    fn a_name_is_printed_as_it_is_read() {
        for name in GroupSpec::NAMES {
            assert_eq!(name.parse::<GroupSpec>().unwrap().to_string(), name);
        }
        assert_eq!(GroupSpec::Ranks(vec![3, 0]).to_string(), "{ranks: [3, 0]}");
    }

    #[test]
    fn rank_and_group_rank_are_different_questions() {
        let group = GroupSpec::Ranks(vec![3, 0, 2]).resolve(4).unwrap();
        assert_eq!(group.group_rank(Rank(0)), Some(GroupRank(1)));
        assert_eq!(group.rank(GroupRank(0)), Rank(3));
        assert_eq!(group.group_rank(Rank(1)), None);
    }
}
