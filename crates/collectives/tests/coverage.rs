//! The spans of an image cover every byte of every heap exactly once, whatever the problem.

use collectives::image::{Moment, spans};
use collectives::{
    BetweenCalls, Call, Collective, DType, Group, GroupRank, HeapPlan, Init, Judge, Problem, Rank,
    RegionLayout, Shape, Tile, Workspace, verify,
};
use proptest::prelude::*;

fn region() -> impl Strategy<Value = RegionLayout> {
    (0u64..9, 0u64..9)
        .prop_map(|(pad_columns, offset_elements)| RegionLayout { pad_columns, offset_elements })
}

fn problem() -> impl Strategy<Value = Problem> {
    let world = 1u32..7;
    let copies = prop::sample::select(Collective::ALL.to_vec());
    let dtype = prop::sample::select(DType::ALL.to_vec());
    let calls = prop::collection::vec((0u64..12, 0u64..40, any::<u64>()), 1..4);
    let layout = (region(), region());
    (world, copies, dtype, calls, layout, any::<bool>(), 0u64..300, 0u64..20, any::<u64>())
        .prop_map(
            |(
                world,
                collective,
                dtype,
                calls,
                (input, output),
                in_place,
                guard_bytes,
                bytes,
                seed,
            )| {
                let call = |(m, n, pick): (u64, u64, u64)| {
                    // A permuted subset of the world.
                    let mut ranks: Vec<Rank> = (0..world).map(Rank).collect();
                    ranks.sort_by_key(|rank| collectives::draw::mix(pick ^ u64::from(rank.0)));
                    ranks.truncate(1 + pick as usize % world as usize);
                    Call {
                        root: GroupRank(pick as u32 % ranks.len() as u32),
                        tile: Tile { m: 4, n: 16 },
                        ..Call::plain(Shape { m, n }, Group::new(ranks).expect("not empty"))
                    }
                };
                let workspace = Workspace {
                    name: "w".into(),
                    bytes,
                    init: Init::Zero,
                    between_calls: BetweenCalls::Reset,
                    judge: Judge::Unchanged,
                };
                Problem {
                    in_place: in_place && collective.in_place_refusal().is_none(),
                    calls: calls.into_iter().map(call).collect(),
                    seed,
                    ..Problem::plain(collective, world, dtype, Shape { m: 0, n: 0 })
                        .with_layout(input, output)
                        .with_guards(guard_bytes)
                        .with_workspaces(vec![workspace])
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn spans_tile_every_heap(problem in problem()) {
        let plan = HeapPlan::new(&problem).unwrap();
        for call in 0..problem.calls.len() {
            for moment in [Moment::Before, Moment::After] {
                let mut end = vec![0; problem.world as usize];
                spans(&problem, &plan, call, moment, &mut |span| {
                    let end = &mut end[span.rank.index()];
                    assert_eq!(span.bytes.start, *end, "a gap or an overlap");
                    assert!(!span.bytes.is_empty());
                    *end = span.bytes.end;
                });
                prop_assert!(end.iter().all(|end| *end == plan.bytes));
            }
        }
    }

    #[test]
    fn any_changed_byte_is_one_finding_on_its_rank(problem in problem(), at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let plan = HeapPlan::new(&problem).unwrap();
        let last = problem.calls.len() - 1;
        let mut heaps = vec![vec![0; plan.bytes as usize]; problem.world as usize];
        let mut generator = collectives::image::Generator::new(&problem, last);
        spans(&problem, &plan, last, Moment::After, &mut |span| {
            let range = span.bytes.start as usize..span.bytes.end as usize;
            generator.write(&span, &mut heaps[span.rank.index()][range]);
        });
        let views = |heaps: &[Vec<u8>]| heaps.iter().map(Vec::clone).collect::<Vec<_>>();
        let kept = views(&heaps);
        let judged = |heaps: &[Vec<u8>]| {
            let views: Vec<&[u8]> = heaps.iter().map(Vec::as_slice).collect();
            verify(&problem, &plan, last, &views)
        };
        prop_assert_eq!(judged(&kept), []);
        let at = at.index(plan.bytes as usize * problem.world as usize);
        let (rank, byte) = (at / plan.bytes as usize, at % plan.bytes as usize);
        heaps[rank][byte] ^= 1 << bit;
        let findings = judged(&heaps);
        prop_assert_eq!(findings.len(), 1);
        prop_assert_eq!(findings[0].rank, Some(Rank(rank as u32)));
    }
}
