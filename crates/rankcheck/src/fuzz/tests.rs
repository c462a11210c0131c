use std::path::{Path, PathBuf};

use collectives::{Data, GroupSpec, RegionLayout, Shape};
use kernels::Library;
use scenario::Mode;

use super::draft::{CallDraft, Draft};
use super::draw::Space;
use super::shares::Shares;
use super::shrink::shrink;

fn library() -> Library {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels");
    Library::new(&[], &kernels).unwrap()
}

fn drafts(library: &Library, seed: u64, count: u64) -> Vec<Draft> {
    let kernel = library.kernel("all_gather/push", None).unwrap();
    let variants = kernel.manifest.variants.keys().cloned().collect();
    let space = Space { manifest: &kernel.manifest, variants, modes: Mode::LAUNCHING.to_vec() };
    (0..count).map(|index| space.draw(seed, index)).collect()
}

#[test]
fn every_draft_is_a_scenario_and_every_share_is_large_enough() {
    let library = library();
    let mut shares = Shares::default();
    let mut ruled_out = 0;
    for draft in drafts(&library, 7, 2000) {
        match draft.case(&PathBuf::from("fuzz.yaml"), &library).unwrap() {
            None => ruled_out += 1,
            Some(case) => {
                assert_eq!(case.problem.calls.len(), draft.calls.len());
                assert_eq!(case.problem.seed, draft.seed);
                assert_eq!(case.modes, [draft.mode]);
                for (call, drawn) in case.problem.calls.iter().zip(&draft.calls) {
                    assert_eq!(call.shape, drawn.shape);
                    assert_eq!(Some(&call.group), drawn.group.resolve(draft.ranks).as_ref());
                }
                shares.add(&case.problem);
            }
        }
    }
    assert!(ruled_out < 400, "{ruled_out} of 2000");
    for (name, percent) in shares.percent() {
        assert!(percent >= 5.0, "{name}: {percent} %");
    }
}

#[test]
fn a_seed_draws_the_same_and_another_seed_does_not() {
    let library = library();
    assert_eq!(drafts(&library, 1, 20), drafts(&library, 1, 20));
    assert_ne!(drafts(&library, 1, 20), drafts(&library, 2, 20));
}

#[test]
fn shrinking_keeps_what_fails_and_nothing_else() {
    let library = library();
    let fails = |draft: &Draft| draft.calls.iter().any(|call| call.shape.n > 10 && draft.ranks > 2);
    let large = drafts(&library, 3, 200).into_iter().filter(fails).max_by_key(|d| d.calls.len());
    let (smallest, tried) = shrink(large.unwrap(), 64, 500, &mut |draft| fails(draft));
    assert!(tried < 500, "{tried}");
    let call = CallDraft {
        shape: Shape { m: 0, n: 11 },
        group: GroupSpec::World,
        tile: None,
        blocks: None,
        root: None,
        op: None,
        counts: Vec::new(),
    };
    assert_eq!(smallest.calls, [call]);
    assert_eq!((smallest.ranks, smallest.mode, smallest.data), (3, Mode::Logical, Data::Keyed));
    assert_eq!(smallest.output, RegionLayout::default());
}
