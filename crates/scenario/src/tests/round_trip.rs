//! What a case is made of can be written as a scenario, and gives the same case again.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use super::sample::{changes, settings};
use super::{KERNELS, LIBRARY, expanded, kernel};
use crate::keys::{KEYS, Settings, reference};
use crate::{Case, Draft};

/// The case of a draft; `None` where it cannot be expanded.
fn case(draft: &Draft) -> Option<Case> {
    draft.case(Path::new("drawn.yaml"), &LIBRARY).ok()
}

#[test]
fn a_case_written_as_a_scenario_is_the_same_case() {
    let any_settings = prop::sample::select(KERNELS.to_vec())
        .prop_flat_map(|name| (Just(name), settings(&kernel(name))));
    let (all, expanded) = (AtomicUsize::new(0), AtomicUsize::new(0));
    proptest!(ProptestConfig::with_cases(600), |((name, settings) in any_settings)| {
        all.fetch_add(1, Ordering::Relaxed);
        let draft = Draft::new("drawn", &kernel(name), settings);
        let Some(first) = case(&draft) else { return Ok(()) };
        expanded.fetch_add(1, Ordering::Relaxed);
        let again = Draft::of("again", &first);
        let text = again.yaml("again/drawn", "again");
        let second = again.case(Path::new("drawn.yaml"), &LIBRARY);
        let second = second.map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert!(first.is_same_test(&second), "{text}");
        // Written with the first call's values as those of the case, it is still the same sequence.
        let mut led = again.clone();
        led.lead_with_first_call();
        let third = case(&led).expect("the same calls");
        let requested = |case: &Case| (case.requested.clone(), case.plan.clone());
        prop_assert_eq!(requested(&first), requested(&third), "{}", led.yaml("led/drawn", "led"));
    });
    let (all, expanded) = (all.into_inner(), expanded.into_inner());
    assert!(expanded * 3 > all, "only {expanded} of {all} could be expanded");
}

/// A key that is read but never reaches the case would change nothing.
#[test]
fn every_key_changes_some_case() {
    let mut runner = TestRunner::deterministic();
    let mut without_effect: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
    for name in KERNELS {
        let kernel = kernel(name);
        let mut defaults = Settings::defaults(&kernel);
        if kernel.manifest.collective.reduces() {
            // Scalars are for premultiplied sums only.
            defaults.op = crate::values::OpValue(collectives::Op::PremulSum).into();
        }
        let plain = case(&Draft::new("plain", &kernel, defaults.clone())).expect("defaults");
        for (name, change) in changes(&kernel) {
            for _ in 0..20 {
                let mut settings = defaults.clone();
                (change.new_tree(&mut runner).expect("a value").current().apply)(&mut settings);
                let changed = case(&Draft::new("changed", &kernel, settings));
                if changed.is_some_and(|changed| !changed.is_same_test(&plain)) {
                    without_effect.retain(|key| *key != name);
                }
            }
        }
    }
    assert_eq!(without_effect, Vec::<&str>::new());
}

/// A default that the reference page shows as code is what the table's function gives.
#[test]
fn defaults_are_what_the_page_says() {
    for key in KEYS.iter().filter(|key| !key.default.contains(' ')) {
        let text = |line: &str| format!("scenario: t/s\nkernel: scatter/pull\n{line}\n");
        let stated = expanded(&text(&format!("{}: {}", key.name, key.default)));
        let Ok(stated) = stated else {
            // Only reductions have it, so that stating it is refused here.
            assert!(key.name == "op", "{}: {}", key.name, key.default);
            continue;
        };
        let unstated = expanded(&text("")).expect("defaults");
        let spelled = |case: &Case| (key.spellings)(&case.settings);
        assert_eq!(spelled(&stated.cases[0]), spelled(&unstated.cases[0]), "{}", key.name);
    }
}

#[test]
fn the_reference_page_has_a_section_for_every_key() {
    let page = reference();
    for key in KEYS {
        assert!(page.contains(&format!("\n## {}\n\n{}\n", key.name, key.doc)), "{}", key.name);
        assert!(key.doc.ends_with('.') && key.doc.len() > 20, "{}: {}", key.name, key.doc);
    }
}
