//! As many ranks as there may be, with elements of one byte: a part that comes from another rank is found
//! to the last byte, whoever it is taken from, and its rank is named.

use collectives::image::{Generator, Moment, fill, spans};
use collectives::rank::MAX_WORLD;
use collectives::{Collective, DType, FindingKind, HeapPlan, Problem, Rank, Shape, verify};

const COLUMNS: u64 = 24;

/// An all-gather of a row each, and its heaps as a right kernel leaves them.
fn gathered() -> (Problem, HeapPlan, Vec<Vec<u8>>) {
    let shape = Shape { m: 1, n: COLUMNS };
    let problem = Problem::plain(Collective::AllGather, MAX_WORLD, DType::U8, shape);
    let plan = HeapPlan::new(&problem).unwrap();
    let mut heaps = vec![vec![0; plan.bytes as usize]; MAX_WORLD as usize];
    let mut views: Vec<&mut [u8]> = heaps.iter_mut().map(Vec::as_mut_slice).collect();
    fill(&problem, &plan, 0, &mut views);
    let mut generator = Generator::new(&problem, 0);
    spans(&problem, &plan, 0, Moment::After, &mut |span| {
        let range = span.bytes.start as usize..span.bytes.end as usize;
        generator.write(&span, &mut heaps[span.rank.index()][range]);
    });
    (problem, plan, heaps)
}

#[test]
fn a_part_of_any_other_rank_is_wrong_in_every_byte_and_named() {
    let (problem, plan, mut heaps) = gathered();
    let output = plan.output(&problem, &problem.calls[0]);
    let part = |rank: u32| {
        let bytes = output.row_bytes(rank.into(), 0..COLUMNS);
        bytes.start as usize..bytes.end as usize
    };
    let on = 5;
    for (from, other) in (0..MAX_WORLD).flat_map(|a| (0..MAX_WORLD).map(move |b| (a, b))) {
        let right = heaps[on][part(from)].to_vec();
        let wrong = heaps[on][part(other)].to_vec();
        heaps[on][part(from)].copy_from_slice(&wrong);
        let views: Vec<&[u8]> = heaps.iter().map(Vec::as_slice).collect();
        let found = verify(&problem, &plan, 0, &views);
        heaps[on][part(from)].copy_from_slice(&right);
        if from == other {
            assert_eq!(found, []);
            continue;
        }
        let [finding] = &found[..] else { panic!("{from} for {other}: {found:#?}") };
        assert_eq!(
            (finding.kind, finding.rank),
            (FindingKind::OutputMismatch, Some(Rank(on as u32)))
        );
        assert_eq!(finding.count, COLUMNS, "{from} for {other}");
        let text = format!("{finding:?}");
        assert!(text.contains(&format!("rank {other}")), "{from} for {other}: {text}");
    }
}
