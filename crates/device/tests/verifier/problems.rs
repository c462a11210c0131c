//! Problems to judge: those of the shipped scenarios, random ones, and one with every kind of place.

use std::collections::BTreeSet;
use std::path::Path;

use collectives::draw::mix;
use collectives::op::{Average, Initial, NanRule, Overflow, SignedZeros};
use collectives::rank::MAX_WORLD;
use collectives::{
    Accumulate, BetweenCalls, Call, Collective, DType, Data, Details, Group, GroupRank, GroupSpec,
    HeapPlan, Init, Judge, Layout, Numerics, Op, Order, Problem, Rank, RegionLayout, Shape, Tile,
    Workspace, declared,
};
use kernels::Library;
use proptest::prelude::*;

/// Bytes of all heaps of a problem, at most.
const MOST_BYTES: u64 = 3 << 20;
/// Problems of one scenario, at most.
const A_SCENARIO: usize = 8;

/// A problem whose heaps have every kind of place, idle ranks too.
pub(crate) fn padded(dtype: DType) -> Problem {
    let workspace = |name: &str, bytes, init, judge| Workspace {
        name: name.into(),
        bytes,
        init,
        between_calls: BetweenCalls::Reset,
        judge,
    };
    let input = RegionLayout { pad_columns: 1, offset_elements: 0 };
    let output = RegionLayout { pad_columns: 3, offset_elements: 1 };
    Problem::plain(Collective::AllGather, 3, dtype, Shape { m: 5, n: 33 })
        .with_group(GroupSpec::Ranks(vec![2, 0]))
        .with_tile(Tile { m: 8, n: 16 })
        .with_root(GroupRank(1))
        .with_layout(input, output)
        .with_guards(100)
        .with_workspaces(vec![
            workspace("kept", 36, Init::Poison, Judge::Unchanged),
            workspace("cleared", 20, Init::Zero, Judge::Zero),
            workspace("own", 12, Init::Zero, Judge::Ignore),
        ])
        .repeated(2)
}

/// One with so many rows, at such distances, that units are taken in batches: of an input whose rows
/// have an odd number of words, and of an output whose rows begin inside a word.
pub(crate) fn tall(dtype: DType) -> Problem {
    let elements = |bytes: u64| bytes / dtype.bytes();
    let region =
        |padding, offset_elements| RegionLayout { pad_columns: elements(padding), offset_elements };
    let mut problem = Problem {
        layout: Layout { input: region(8, 0), output: region(16, 9u64.div_ceil(dtype.bytes())) },
        workspaces: Vec::new(),
        ..padded(dtype)
    };
    for (call, row_bytes) in problem.calls.iter_mut().zip([40, 48]) {
        call.shape = Shape { m: 19, n: elements(row_bytes) };
    }
    problem
}

/// A reduction whose results hold NaNs, where the type has some.
pub(crate) fn reduced(dtype: DType, op: Op) -> Problem {
    Problem {
        collective: Collective::AllReduce,
        data: if dtype.is_float() { Data::BitPatterns } else { Data::Keyed },
        numerics: numerics(Order::RankOrder),
        ..padded(dtype).with_op(op)
    }
}

/// A reduction of data that are exact in any order, over an odd and an even number of members.
pub(crate) fn exact(dtype: DType, op: Op) -> Problem {
    let mut problem = Problem { data: Data::Keyed, world: 5, ..reduced(dtype, op) };
    for (call, ranks) in problem.calls.iter_mut().zip([vec![2, 0, 3], vec![4, 2, 0, 3]]) {
        call.group = GroupSpec::Ranks(ranks).resolve(5).unwrap();
    }
    problem
}

/// One with as many ranks as there may be, all but the first taking part.
pub(crate) fn crowded(dtype: DType, op: Op) -> Problem {
    Problem::plain(Collective::AllGather, MAX_WORLD, dtype, Shape { m: 2, n: 19 })
        .with_group(GroupSpec::AllButFirst)
        .with_tile(Tile { m: 1, n: 8 })
        .with_guards(40)
        .with_op(op)
}

/// The same members' inputs, combined.
pub(crate) fn reduced_by(problem: Problem) -> Problem {
    let numerics = numerics(Order::RankOrder);
    Problem { collective: Collective::AllReduce, numerics, ..problem }
}

/// Everything declared.
fn numerics(order: Order) -> Numerics {
    Numerics {
        order,
        accumulate: Some(Accumulate::AtLeastF32),
        initial: Some(Initial::First),
        avg: Some(Average::DivideAfter),
        nan: Some(NanRule::Propagate),
        signed_zeros: Some(SignedZeros::Ordered),
        overflow: Some(Overflow::Saturate),
    }
}

/// Some hundreds of different problems of the shipped scenarios.
pub(crate) fn shipped() -> Vec<(String, Problem)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let library = Library::new(&[], &root.join("kernels")).unwrap();
    let mut seen = BTreeSet::new();
    let mut problems = Vec::new();
    for source in scenario::find(&root.join("scenarios"), &[]).unwrap() {
        let file = source.parse().unwrap();
        let cases = scenario::expand(&source.path, &file, &library, None).unwrap().cases;
        let mut cases: Vec<_> = cases
            .into_iter()
            .filter(|case| is_small(&case.problem) && declared::undeclared(&case.problem).is_none())
            .filter(|case| seen.insert(format!("{:?}", case.problem)))
            .map(|case| (case.id, case.problem))
            .collect();
        // Spread over the matrix, in an order that does not follow its axes.
        cases.sort_by_key(|(id, _)| id.bytes().fold(0, |hash, byte| mix(hash ^ u64::from(byte))));
        problems.extend(cases.into_iter().take(A_SCENARIO));
    }
    problems
}

fn is_small(problem: &Problem) -> bool {
    HeapPlan::new(problem).is_ok_and(|plan| plan.bytes * u64::from(problem.world) <= MOST_BYTES)
}

fn region() -> impl Strategy<Value = RegionLayout> {
    let pad = prop_oneof![Just(0u64), 0u64..20];
    (pad, 0u64..9)
        .prop_map(|(pad_columns, offset_elements)| RegionLayout { pad_columns, offset_elements })
}

/// Random problems that can be judged.
pub(crate) fn random() -> impl Strategy<Value = Problem> {
    let collective = prop::sample::select(Collective::ALL.to_vec());
    let dtype = prop::sample::select(DType::ALL.to_vec());
    let columns = prop_oneof![0u64..40, 100u64..700, Just(64), Just(256)];
    let calls = prop::collection::vec((0u64..22, columns, any::<u64>()), 1..4);
    let layout = (region(), region(), 0u64..300, 0u64..40);
    let world = prop_oneof![15 => 1u32..7, 1 => 17..=MAX_WORLD];
    (world, collective, dtype, calls, layout, any::<u64>())
        .prop_map(|(world, collective, dtype, calls, layout, seed)| {
            drawn(world, collective, dtype, &calls, layout, seed)
        })
        .prop_filter("it can be judged", |problem| {
            is_small(problem) && declared::undeclared(problem).is_none()
        })
}

/// A problem of drawn sizes; the bits of `seed` decide what has few values.
fn drawn(
    world: u32,
    collective: Collective,
    dtype: DType,
    calls: &[(u64, u64, u64)],
    (input, output, guard_bytes, workspace_bytes): (RegionLayout, RegionLayout, u64, u64),
    seed: u64,
) -> Problem {
    let one_of = |what: u64, count: usize| mix(seed ^ what) as usize % count;
    let call = |&(m, n, pick): &(u64, u64, u64)| {
        // A permuted subset of the world.
        let mut ranks: Vec<Rank> = (0..world).map(Rank).collect();
        ranks.sort_by_key(|rank| mix(pick ^ u64::from(rank.0)));
        ranks.truncate(1 + pick as usize % world as usize);
        let (members, tile) = (ranks.len() as u64, Tile { m: 4, n: 16 });
        let tiles = m.div_ceil(tile.m) * n.div_ceil(tile.n);
        let uneven = collective == Collective::AllToAll && pick & 1 << 40 != 0;
        let count = |from: u64, to: u64| mix(pick ^ from << 8 ^ to) % (m + 1);
        let tiled = collective == Collective::ReduceScatterTiles || pick & 1 << 41 != 0;
        let by_tile = |what: u64| {
            let drawn = (0..tiles).map(|tile| (mix(pick ^ what ^ tile) % members) as u32);
            if tiled { drawn.collect() } else { Vec::new() }
        };
        Call {
            root: GroupRank((pick % members) as u32),
            tile,
            details: Details {
                op: Op::ALL[(pick >> 32) as usize % Op::ALL.len()],
                owners: by_tile(1 << 60),
                starts: by_tile(2 << 60),
                counts: match uneven {
                    true => (0..members)
                        .map(|from| (0..members).map(|to| count(from, to)).collect())
                        .collect(),
                    false => Vec::new(),
                },
                ..Details::default()
            },
            ..Call::plain(Shape { m, n }, Group::new(ranks).expect("not empty"))
        }
    };
    let inits = [Init::Zero, Init::Poison];
    let workspace = |number: u64| Workspace {
        name: format!("w{number}"),
        bytes: workspace_bytes + number,
        init: inits[one_of(number, 2)],
        between_calls: [BetweenCalls::Keep, BetweenCalls::Reset][one_of(10 + number, 2)],
        judge: [Judge::Ignore, Judge::Unchanged, Judge::Zero][one_of(20 + number, 3)],
    };
    let orders = [Order::RankOrder, Order::Own, Order::Ring, Order::ByTile];
    Problem {
        in_place: one_of(30, 2) == 1 && collective.in_place_refusal().is_none(),
        data: [Data::Keyed, Data::BitPatterns, Data::Random][one_of(31, 3)],
        numerics: numerics(orders[one_of(32, 4)]),
        output_init: inits[one_of(33, 2)],
        calls: calls.iter().map(call).collect(),
        seed,
        ..Problem::plain(collective, world, dtype, Shape { m: 0, n: 0 })
            .with_layout(input, output)
            .with_guards(guard_bytes)
            .with_workspaces((0..2).map(workspace).collect())
    }
}
