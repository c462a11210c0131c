//! Slips in what is read: the element that belongs there was taken from another place.

use crate::meaning::problem::Collective;
use crate::meaning::rank::Rank;

use super::Slip;
use super::samples::Sample;
use super::scene::{Origin, Scene, expected_input};

/// Every claim about what was read.
pub(super) fn slips<'a>(scene: &'a Scene<'a>) -> Vec<Slip<'a>> {
    let mut slips = stale(scene);
    slips.extend(in_place(scene));
    // The root's name says more than that of any member.
    slips.extend(roots(scene));
    slips.extend(ranks(scene));
    slips.extend(chunks(scene));
    slips.extend(strides(scene));
    slips.extend(shifts(scene));
    slips
}

/// The element that belongs at a place, as the group sees it.
struct Wanted {
    /// Whose heap is written.
    me: Rank,
    rank: Rank,
    row: u64,
    column: u64,
}

fn wanted(sample: &Sample) -> Option<Wanted> {
    let (rank, row, column) = expected_input(sample)?;
    Some(Wanted { me: sample.rank, rank, row, column })
}

/// The same place of a call before: of the same rank, or of the rank that had its place then.
fn stale<'a>(scene: &'a Scene<'a>) -> Vec<Slip<'a>> {
    let of = move |call: usize| {
        let name = format!("stale data: what belonged there in call {call}");
        let then = &scene.problem.calls[call];
        [
            Slip::new(name.clone(), move |sample| {
                let Wanted { rank, row, column, .. } = wanted(sample)?;
                Some(Origin::Input { rank, call, row, column })
            }),
            Slip::new(format!("{name} (by the members of that call)"), move |sample| {
                let Wanted { rank, row, column, .. } = wanted(sample)?;
                let rank = *then.group.members().get(scene.group_rank(rank)? as usize)?;
                Some(Origin::Input { rank, call, row, column })
            }),
        ]
    };
    (0..scene.index).rev().flat_map(of).collect()
}

/// Whose input is read, given the right sender's group rank.
type Whose<'a> = Box<dyn Fn(&Wanted, u64) -> Option<Rank> + 'a>;
/// Which chunk of an input is read.
type Chunk<'a> = Box<dyn Fn(&Wanted) -> Option<u64> + 'a>;

/// Another rank's element of the same place.
fn ranks<'a>(scene: &'a Scene<'a>) -> Vec<Slip<'a>> {
    let size = scene.size();
    let first = u64::from(scene.members[0].0);
    let stride = scene.call.group.stride().map(|(_, stride)| stride);
    let mut sorted = scene.members.to_vec();
    sorted.sort_unstable();
    let by = |name: &str, whose: Whose<'a>| {
        Slip::new(name, move |sample| {
            let wanted = wanted(sample)?;
            let rank = whose(&wanted, scene.group_rank(wanted.rank)?)?;
            let Wanted { row, column, .. } = wanted;
            Some(Origin::Input { rank, call: scene.index, row, column })
        })
    };
    let me = move |wanted: &Wanted| scene.group_rank(wanted.me);
    vec![
        by("a group rank used as a rank", Box::new(move |_, g| scene.rank(g))),
        by(
            "a rank used as an index into the group",
            Box::new(move |wanted, _| scene.member(wanted.rank.0.into())),
        ),
        by(
            "members counted from the group's first rank with stride one",
            Box::new(move |_, g| scene.rank(first + g)),
        ),
        by(
            "the group's stride taken for an exponent of two",
            Box::new(move |_, g| scene.rank(first + (g << stride?.min(16)))),
        ),
        by("its own data in place of another member's", Box::new(|wanted, _| Some(wanted.me))),
        by("the first member's data in place of another's", Box::new(move |_, _| scene.member(0))),
        by(
            "wrong order of ranks: sorted, not as the group lists them",
            Box::new(move |_, g| sorted.get(g as usize).copied()),
        ),
        by(
            "wrong order of ranks: the group reversed",
            Box::new(move |_, g| scene.member(size - 1 - g)),
        ),
        by(
            "wrong order of ranks: rotated to begin with the own rank",
            Box::new(move |wanted, g| scene.member((me(wanted)? + g) % size)),
        ),
        by(
            "a neighbour's data: the next member's",
            Box::new(move |_, g| scene.member((g + 1) % size)),
        ),
        by(
            "a neighbour's data: the member's before",
            Box::new(move |_, g| scene.member((g + size - 1) % size)),
        ),
        by(
            "a neighbour's data: the next rank's",
            Box::new(move |wanted, _| scene.rank(u64::from(wanted.rank.0) + 1)),
        ),
        by(
            "a neighbour's data: the rank's before",
            Box::new(move |wanted, _| scene.rank(u64::from(wanted.rank.0.checked_sub(1)?))),
        ),
    ]
}

/// Another root.
fn roots<'a>(scene: &'a Scene<'a>) -> Vec<Slip<'a>> {
    if !scene.problem.collective.is_rooted() || scene.problem.collective == Collective::Gather {
        return Vec::new();
    }
    let root = u64::from(scene.call.root.0);
    let candidates = [
        ("the root ignored: the group's first member taken for it", scene.member(0)),
        ("the root's group rank used as a rank", scene.rank(root)),
        (
            "the root counted from the group's first rank",
            scene.rank(u64::from(scene.members[0].0) + root),
        ),
        (
            "the root's rank used as an index into the group",
            scene.member(u64::from(scene.call.group.rank(scene.call.root).0)),
        ),
        ("the root ignored: rank 0 taken for it", scene.rank(0)),
    ];
    let slip = |(name, rank): (&str, Option<Rank>)| {
        let rank = rank?;
        Some(Slip::new(name, move |sample| {
            let Wanted { row, column, .. } = wanted(sample)?;
            Some(Origin::Input { rank, call: scene.index, row, column })
        }))
    };
    candidates.into_iter().filter_map(slip).collect()
}

/// Another part of an input that holds a part for each member.
fn chunks<'a>(scene: &'a Scene<'a>) -> Vec<Slip<'a>> {
    let by_columns = match scene.problem.collective {
        Collective::Scatter => false,
        Collective::AllToAll if scene.call.details.counts.is_empty() => false,
        Collective::AllToAllColumns => true,
        _ => return Vec::new(),
    };
    let stride = scene.plan.input(scene.problem, scene.call, scene.members[0]).row_stride;
    let part = if by_columns { scene.call.shape.n } else { scene.call.shape.m }.max(1);
    let by = |name: &str, chunk: Chunk<'a>| {
        Slip::new(name, move |sample| {
            let wanted = wanted(sample)?;
            let chunk = chunk(&wanted)?;
            let Wanted { rank, mut row, mut column, .. } = wanted;
            match by_columns {
                true => column = chunk * part + column % part,
                false => row = chunk * part + row % part,
            }
            Some(scene.input_at(rank, row * stride + column))
        })
    };
    let size = scene.size();
    let me = move |wanted: &Wanted| scene.group_rank(wanted.me);
    let dealt = Slip::new("dealt out in turn in place of in chunks", move |sample| {
        let wanted = wanted(sample)?;
        let me = me(&wanted)?;
        let Wanted { rank, mut row, mut column, .. } = wanted;
        match by_columns {
            true => column = column % part * size + me,
            false => row = row % part * size + me,
        }
        Some(scene.input_at(rank, row * stride + column))
    });
    vec![
        dealt,
        by(
            "the chunk with the sender's index in place of the one for the receiver",
            Box::new(move |wanted| scene.group_rank(wanted.rank)),
        ),
        by(
            "the receiver's rank used as its group rank to choose the chunk",
            Box::new(|wanted| Some(wanted.me.0.into())),
        ),
        by("the first chunk for every receiver", Box::new(|_| Some(0))),
        by(
            "the chunk of the next receiver",
            Box::new(move |wanted| Some((me(wanted)? + 1) % size)),
        ),
        by(
            "the chunk of the receiver before",
            Box::new(move |wanted| Some((me(wanted)? + size - 1) % size)),
        ),
    ]
}

/// Where the input is a part of the output, another part.
fn in_place<'a>(scene: &'a Scene<'a>) -> Option<Slip<'a>> {
    let name = "in place, the input read at the output's start in place of the own part";
    let stride = scene.output.row_stride;
    let slip = Slip::new(name, move |sample| {
        let Wanted { rank, row, column, .. } = wanted(sample)?;
        let offset = scene.output.start + (row * stride + column) * scene.element;
        Some(Origin::Heap { rank, offset })
    });
    scene.problem.in_place.then_some(slip)
}

/// Another address in the right input.
fn strides<'a>(scene: &'a Scene<'a>) -> Vec<Slip<'a>> {
    let input = scene.plan.input(scene.problem, scene.call, scene.members[0]);
    let n = input.shape.n;
    let by = |name: String, stride: u64| {
        Slip::new(name, move |sample| {
            let Wanted { rank, row, column, .. } = wanted(sample)?;
            Some(scene.input_at(rank, row * stride + column))
        })
    };
    let mut slips = Vec::new();
    let own = input.row_stride;
    for (name, stride) in [
        (format!("the number of columns (n = {n}) used as the input's row stride"), n),
        ("the output's row stride used for the input".into(), scene.output.row_stride),
        (
            "the input's row stride rounded up to whole tiles".into(),
            n.next_multiple_of(scene.call.tile.n.max(1)),
        ),
    ] {
        if stride != own && stride > 0 {
            slips.push(by(format!("{name}, which is {own}"), stride));
        }
    }
    let storage = scene.input_storage();
    slips.push(Slip::new("the input's offset in its region left out", move |sample| {
        let Wanted { rank, row, column, .. } = wanted(sample)?;
        let offset = storage + (row * own + column) * scene.element;
        Some(Origin::Heap { rank, offset })
    }));
    let m = input.shape.m;
    slips.push(Slip::new("columns in reverse order", move |sample| {
        let Wanted { rank, row, column, .. } = wanted(sample)?;
        let column = n.checked_sub(column + 1)?;
        Some(Origin::Input { rank, call: scene.index, row, column })
    }));
    slips.push(Slip::new("rows in reverse order", move |sample| {
        let Wanted { rank, row, column, .. } = wanted(sample)?;
        let row = m.checked_sub(row + 1)?;
        Some(Origin::Input { rank, call: scene.index, row, column })
    }));
    slips.push(Slip::new("rows and columns exchanged", move |sample| {
        let Wanted { rank, row, column, .. } = wanted(sample)?;
        Some(Origin::Input { rank, call: scene.index, row: column, column: row })
    }));
    slips
}

/// The right input, some rows or columns on.
fn shifts<'a>(scene: &'a Scene<'a>) -> Vec<Slip<'a>> {
    let tile = scene.call.tile;
    let n = scene.call.shape.n as i64;
    let mut slips = Vec::new();
    let by = |name: String, rows: i64, columns: i64| {
        Slip::new(name, move |sample| {
            let Wanted { rank, row, column, .. } = wanted(sample)?;
            let (row, column) =
                (row.checked_add_signed(rows)?, column.checked_add_signed(columns)?);
            Some(Origin::Input { rank, call: scene.index, row, column })
        })
    };
    let steps = [
        ("one".to_owned(), 1),
        ("one vector of 16 bytes".to_owned(), scene.vector as i64),
        ("half a vector of 16 bytes".to_owned(), scene.vector as i64 / 2),
        (format!("one tile of {}", tile.n), tile.n as i64),
    ];
    for (step, columns) in steps {
        if columns > 0 && columns < n && (step == "one" || columns > 1) {
            slips.push(by(format!("off by {step} in the column: read too far right"), 0, columns));
            slips.push(by(format!("off by {step} in the column: read too far left"), 0, -columns));
        }
    }
    for (step, rows) in [("one".to_owned(), 1), (format!("one tile of {}", tile.m), tile.m as i64)]
    {
        if rows > 0 && (step == "one" || rows > 1) {
            slips.push(by(format!("off by {step} in the row: read too far down"), rows, 0));
            slips.push(by(format!("off by {step} in the row: read too far up"), -rows, 0));
        }
    }
    slips
}
