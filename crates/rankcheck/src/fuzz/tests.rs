use std::path::{Path, PathBuf};

use collectives::Shape;
use kernels::Library;
use scenario::keys::CallSettings;
use scenario::values::{ModesValue, OrDefault, Ranks, Residency, ShapeValue, Threads};
use scenario::{Draft, Mode};

use super::draft::runnable;
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
    let space = Space { kernel: &kernel, variants, modes: Mode::LAUNCHING.to_vec() };
    (0..count).map(|index| space.draw(seed, index)).collect()
}

#[test]
fn every_draft_is_a_scenario_and_every_share_is_large_enough() {
    let library = library();
    let mut shares = Shares::default();
    let mut ruled_out = 0;
    for draft in drafts(&library, 7, 2000) {
        match runnable(&draft, &PathBuf::from("fuzz.yaml"), &library).unwrap() {
            None => ruled_out += 1,
            Some(case) => {
                assert_eq!(case.problem.calls.len(), draft.calls.len());
                assert_eq!(case.problem.seed, draft.settings.seed.value);
                assert_eq!(case.modes, [draft.mode()]);
                for (call, drawn) in case.problem.calls.iter().zip(&draft.calls) {
                    assert_eq!(call.shape, drawn.shape.value.0);
                    let group = drawn.group.value.0.resolve(draft.settings.ranks.value.0);
                    assert_eq!(Some(&call.group), group.as_ref());
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
    let fails = |draft: &Draft| {
        let wide = |call: &CallSettings| call.shape.value.0.n > 10;
        draft.calls.iter().any(wide) && draft.settings.ranks.value.0 > 2
    };
    let large = drafts(&library, 3, 200).into_iter().filter(fails).max_by_key(|d| d.calls.len());
    let mut large = large.unwrap();
    // Keys that are not drawn are made simpler, too.
    large.settings.write_once = true.into();
    large.settings.residency = OrDefault(Some(Residency(2))).into();
    let (smallest, tried) = shrink(large, 64, 500, &mut |draft| fails(draft));
    assert!(tried < 500, "{tried}");
    let mut plain = smallest.defaults().clone();
    plain.shape = ShapeValue(Shape { m: 0, n: 11 }).into();
    assert_eq!(smallest.calls, plain.calls());
    plain.ranks = Ranks(3).into();
    plain.modes = ModesValue(vec![Mode::Logical]).into();
    plain.threads = OrDefault(Some(Threads(1))).into();
    plain.seed = smallest.settings.seed;
    plain.variant = smallest.settings.variant.clone();
    assert_eq!(smallest.settings, plain);
}
