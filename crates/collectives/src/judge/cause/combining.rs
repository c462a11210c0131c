//! Slips in how a reduction combines.

use crate::heap::image::Source;
use crate::meaning::rank::Rank;

use super::Slip;
use super::samples::Sample;
use super::scene::{Origin, Scene};

/// A member whose input is treated in a way of its own.
type Who<'a> = Box<dyn Fn(&Sample) -> Option<Rank> + 'a>;
/// The ranks whose inputs are combined.
type Ranks<'a> = Box<dyn Fn(&Sample) -> Option<Vec<Rank>> + 'a>;

/// Every claim about what was combined.
pub(super) fn slips<'a>(scene: &'a Scene<'a>) -> Vec<Slip<'a>> {
    if !scene.problem.collective.reduces() {
        return Vec::new();
    }
    let members = scene.members;
    let size = scene.size();
    let of = |name: String, ranks: Ranks<'a>| {
        Slip::new(name, move |sample| {
            let (row, column) = reduced(sample)?;
            Some(Origin::Sum { of: ranks(sample)?, row, column })
        })
    };
    let own = |sample: &Sample| Some(sample.rank);
    let last = move |_: &Sample| members.last().copied();
    let first = move |_: &Sample| members.first().copied();
    let next = move |sample: &Sample| scene.member((scene.group_rank(sample.rank)? + 1) % size);
    let who: [(&str, Who<'a>); 4] = [
        ("the own input", Box::new(own)),
        ("the last member's input", Box::new(last)),
        ("the first member's input", Box::new(first)),
        ("the next member's input", Box::new(next)),
    ];
    let mut slips = Vec::new();
    for call in (0..scene.index).rev() {
        slips.push(Slip::new(format!("stale data: the result of call {call}"), move |sample| {
            let Source::Reduced { first, row, column } = sample.source else { return None };
            Some(Origin::Reduced { first, call, row, column })
        }));
    }
    for (name, who) in who {
        let who = std::rc::Rc::new(who);
        let (without, twice) = (who.clone(), who.clone());
        slips.push(of(
            format!("{name} left out of the sum"),
            Box::new(move |sample| {
                let who = without(sample)?;
                Some(members.iter().copied().filter(|rank| *rank != who).collect())
            }),
        ));
        slips.push(of(
            format!("{name} counted twice"),
            Box::new(move |sample| {
                let who = twice(sample)?;
                Some(members.iter().copied().chain([who]).collect())
            }),
        ));
        slips.push(of(
            format!("{name} alone: the result is overwritten, not accumulated"),
            Box::new(move |sample| Some(vec![who(sample)?])),
        ));
    }
    slips.push(of(
        "group ranks used as ranks".into(),
        Box::new(move |_| (0..size).map(|g| scene.rank(g)).collect()),
    ));
    slips.push(of(
        "every rank of the world combined, not only the group's".into(),
        Box::new(move |_| Some(scene.problem.ranks().collect())),
    ));
    for (name, rows, columns) in [
        ("off by one in the row", 1, 0),
        ("off by one in the row", -1, 0),
        ("off by one in the column", 0, 1),
        ("off by one in the column", 0, -1),
    ] {
        slips.push(Slip::new(name, move |sample| {
            let Source::Reduced { first, row, column } = sample.source else { return None };
            let (row, column) =
                (row.checked_add_signed(rows)?, column.checked_add_signed(columns)?);
            Some(Origin::Reduced { first, call: scene.index, row, column })
        }));
    }
    slips
}

fn reduced(sample: &Sample) -> Option<(u64, u64)> {
    match sample.source {
        Source::Reduced { row, column, .. } => Some((row, column)),
        Source::Row { .. } | Source::Poison | Source::Zero | Source::Free => None,
    }
}
