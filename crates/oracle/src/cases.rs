//! Random problems of one call, the same for everybody who draws as many.

use std::collections::BTreeSet;

use collectives::declared::undeclared;
use collectives::draw::Draw;
use collectives::op::Average;
use collectives::{
    Call, Collective, DType, Details, Group, GroupRank, Layout, Numerics, Op, Problem, Rank,
    RegionLayout, Shape, Tile,
};

/// What makes two cases different ones.
type Distinct = (Collective, Op, DType, u32, Vec<Rank>);

const SEED: u64 = 7;

/// Draws problems of up to `most_ranks` ranks, until `count` of them differ in (collective, op,
/// dtype, ranks, group). Barriers move nothing and are left out. `reduces` says which types the
/// other side can add up.
pub fn draw(count: usize, most_ranks: u32, reduces: fn(DType) -> bool) -> Vec<Problem> {
    let mut draws = Draw::new(SEED);
    let mut seen = BTreeSet::new();
    let mut problems = Vec::new();
    while seen.len() < count {
        let problem = problem(&mut draws, most_ranks);
        let unfit = problem.collective.reduces() && !reduces(problem.dtype);
        if unfit || undeclared(&problem).is_some() {
            continue;
        }
        seen.insert(distinct(&problem));
        problems.push(problem);
    }
    problems
}

fn distinct(problem: &Problem) -> Distinct {
    let call = &problem.calls[0];
    let members = call.group.members().to_vec();
    (problem.collective, call.details.op, problem.dtype, problem.world, members)
}

/// How many of the problems differ in (collective, op, dtype, ranks, group).
pub fn count_distinct(problems: &[Problem]) -> usize {
    problems.iter().map(distinct).collect::<BTreeSet<_>>().len()
}

fn problem(draws: &mut Draw, most_ranks: u32) -> Problem {
    let movers = Collective::ALL.into_iter().filter(|c| *c != Collective::Barrier);
    let collective = *draws.one_of(&movers.collect::<Vec<_>>());
    let dtype = *draws.one_of(&DType::ALL);
    let world = 1 + draws.below(most_ranks.into()) as u32;
    let group = group(draws, world);
    let members = group.size();
    let shape = Shape { m: draws.below(8), n: draws.below(20) };
    let tile = Tile { m: 1 + draws.below(4), n: 1 + draws.below(8) };
    let mut details = Details::default();
    let root = GroupRank(draws.below(members.into()) as u32);
    let mut call = Call { tile, root, ..Call::plain(shape, group) };
    if collective.reduces() {
        details.op = *draws.one_of(&Op::ALL);
        if details.op == Op::PremulSum && draws.below(2) == 0 {
            let scalars: &[i32] = if dtype == DType::U8 { &[1, 2, 3] } else { &[1, -1, 2, 3, -4] };
            details.scalars = (0..members).map(|_| *draws.one_of(scalars)).collect();
        }
    }
    if collective == Collective::ReduceScatterTiles {
        let [down, across] = Problem::tiles(&call);
        let owner = |_| draws.below(members.into()) as u32;
        details.owners = (0..down * across).map(owner).collect();
    }
    if collective == Collective::AllToAll && draws.below(2) == 0 {
        let sent = |draws: &mut Draw| (0..members).map(|_| draws.below(shape.m + 1)).collect();
        details.counts = (0..members).map(|_| sent(draws)).collect();
    }
    call.details = details;
    Problem {
        layout: Layout { input: region(draws), output: region(draws) },
        in_place: collective.in_place_refusal().is_none() && draws.below(4) == 0,
        numerics: Numerics { avg: Some(Average::DivideAfter), ..Numerics::default() },
        calls: vec![call],
        seed: draws.below(1 << 32),
        ..Problem::plain(collective, world, dtype, shape).with_guards(64)
    }
}

fn region(draws: &mut Draw) -> RegionLayout {
    RegionLayout { pad_columns: draws.below(4), offset_elements: draws.below(4) }
}

/// Any number of the world's ranks, in any order.
fn group(draws: &mut Draw, world: u32) -> Group {
    let mut ranks: Vec<Rank> = (0..world).map(Rank).collect();
    draws.shuffle(&mut ranks);
    ranks.truncate(1 + draws.below(world.into()) as usize);
    if draws.below(3) == 0 {
        ranks.sort_unstable();
    }
    Group::new(ranks).expect("a permutation's beginning")
}
