//! Slips in who is written: a rank has what belongs to a member, or plays a role that is not its.

use std::collections::BTreeSet;

use crate::meaning::rank::Rank;

use super::Slip;
use super::scene::{Origin, Scene};

/// Every claim about whose heap was written.
pub(super) fn slips<'a>(scene: &'a Scene<'a>) -> Vec<Slip<'a>> {
    let mut slips: Vec<Slip<'a>> =
        targets(scene).into_iter().filter_map(|target| target.slip(scene)).collect();
    if scene.problem.collective.is_rooted() {
        let root = scene.call.group.rank(scene.call.root);
        slips.push(Slip::new(
            "a member that is not the root takes what is the root's",
            move |sample| {
                let (row, column) = scene.row_column(sample)?;
                scene.belongs(root, row, column).filter(|_| sample.rank != root)
            },
        ));
    }
    slips
}

/// Which rank is written in place of each member.
struct Target {
    name: String,
    /// By group rank.
    ranks: Vec<Option<Rank>>,
}

fn targets(scene: &Scene<'_>) -> Vec<Target> {
    let first = u64::from(scene.members[0].0);
    let stride = scene.call.group.stride().map(|(_, stride)| stride.min(16));
    let by = |name: &str, rank: &dyn Fn(u64) -> Option<Rank>| Target {
        name: name.to_owned(),
        ranks: (0..scene.size()).map(rank).collect(),
    };
    let mut targets = vec![
        by("a group rank used as a rank: the loop's index is the peer that is written", &|g| {
            scene.rank(g)
        }),
        by("members counted from the group's first rank with stride one", &|g| {
            scene.rank(first + g)
        }),
        by("the group's stride taken for an exponent of two", &|g| {
            scene.rank(first + (g << stride?))
        }),
    ];
    for call in (0..scene.index).rev() {
        targets.push(Target {
            name: format!("the group of call {call} is still served"),
            ranks: scene.problem.calls[call].group.members().iter().copied().map(Some).collect(),
        });
    }
    targets
}

impl Target {
    /// The claim, if exactly the ranks were written that it names: their bytes alone do not tell.
    fn slip<'a>(self, scene: &'a Scene<'a>) -> Option<Slip<'a>> {
        let Target { name, ranks } = self;
        let claimed: BTreeSet<Rank> = ranks.iter().flatten().copied().collect();
        let written: BTreeSet<Rank> = scene.written.iter().copied().collect();
        let right: BTreeSet<Rank> = scene.members.iter().copied().collect();
        (claimed == written && claimed != right).then(|| {
            Slip::new(name, move |sample| -> Option<Origin> {
                let g = ranks.iter().position(|rank| *rank == Some(sample.rank))?;
                // One that is no member's takes what all members have.
                let member = scene.member(g as u64).or(scene.member(0))?;
                let (row, column) = scene.row_column(sample)?;
                scene.belongs(member, row, column)
            })
        })
    }
}
