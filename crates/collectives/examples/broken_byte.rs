//! Lays out, fills, judges and breaks a case by hand: the example of the crate's documentation.

use std::collections::BTreeSet;

use collectives::image::{self, Generator, Moment};
use collectives::{
    Collective, DType, FindingKind, HeapPlan, Problem, Rank, RegionLayout, RegionName, Shape,
    verify,
};

fn main() {
    // Two ranks gather matrices of 3 rows and 5 columns. Rows of the output lie 7 elements apart.
    let problem = Problem::plain(Collective::AllGather, 2, DType::F32, Shape { m: 3, n: 5 })
        .with_layout(RegionLayout::default(), RegionLayout { pad_columns: 2, offset_elements: 0 })
        .with_guards(256);
    let plan = HeapPlan::new(&problem).expect("it fits into 64 bits");
    let call = &problem.calls[0];

    // Before the call: inputs hold the fill, all other bytes hold poison.
    let mut heaps = [(); 2].map(|()| vec![0u8; plan.bytes as usize]);
    let [first, second] = &mut heaps;
    image::fill(&problem, &plan, 0, &mut [first, second]);

    // A kernel that does nothing leaves the poison: nobody wrote the outputs.
    let views = |heaps: &[Vec<u8>; 2]| verify(&problem, &plan, 0, &[&heaps[0], &heaps[1]]);
    let kinds: BTreeSet<FindingKind> = views(&heaps).iter().map(|found| found.kind).collect();
    assert_eq!(kinds, BTreeSet::from([FindingKind::Unwritten]));

    // What every byte must be after the call, span by span: here a right kernel's work.
    let mut generator = Generator::new(&problem, 0);
    image::spans(&problem, &plan, 0, Moment::After, &mut |span| {
        let bytes = span.bytes.start as usize..span.bytes.end as usize;
        generator.write(&span, &mut heaps[span.rank.index()][bytes]);
    });
    assert_eq!(views(&heaps), []);

    // One bit of one byte behind row 1 of rank 1's output.
    let output = plan.output(&problem, call);
    let padding = output.row_bytes(1, 5..7);
    heaps[1][padding.start as usize] ^= 0x10;
    let found = views(&heaps);
    assert_eq!(found.len(), 1);
    let place = found[0].place.as_ref().expect("it is somewhere in a heap");
    assert_eq!((found[0].kind, found[0].rank), (FindingKind::PaddingOverwritten, Some(Rank(1))));
    assert_eq!((place.row, place.column), (Some(1), Some(5)));
    assert_eq!(plan.region(&RegionName::Output).storage.start, output.start);
}
