//! What a matrix, its excludes and its groups give.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::sample::{Change, changes};
use super::{expanded, kernel};
use crate::Expansion;
use crate::keys::{KEYS, Key, Settings, find};

/// An axis: its key, and its values as a file spells them, all different.
type Axis = (&'static Key, Vec<String>);

/// Two to four axes of two to three values each.
fn matrix(name: &'static str) -> BoxedStrategy<Vec<Axis>> {
    let kernel = kernel(name);
    let axes: Vec<BoxedStrategy<Axis>> = changes(&kernel)
        .into_iter()
        .filter_map(|(name, change)| {
            let key = find(name).filter(|key| key.axis.is_some() && !needs_others(key))?;
            let yaml = change.prop_map(|change: Change<Settings>| change.yaml);
            let values = prop::collection::btree_set(yaml, 1..4);
            Some(values.prop_map(move |v| (key, v.into_iter().collect())).boxed())
        })
        .collect();
    prop::sample::subsequence(axes, 2..5).prop_flat_map(|axes| axes).boxed()
}

/// Keys whose values are refused unless others fit them.
fn needs_others(key: &Key) -> bool {
    ["root", "op", "counts", "scalars", "calls"].contains(&key.name)
}

fn file(matrix: &[Axis], rest: &str) -> String {
    let axes: Vec<String> = matrix
        .iter()
        .map(|(key, values)| format!("  {}: [{}]\n", key.name, values.join(", ")))
        .collect();
    format!("scenario: t/s\nkernel: all_gather/push\nmatrix:\n{}{rest}", axes.concat())
}

fn ids(expansion: &Expansion) -> Vec<String> {
    expansion.cases.iter().map(|case| case.id.clone()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn ids_are_unique_and_stable_and_every_combination_is_counted(
        matrix in matrix("all_gather/push"),
    ) {
        let text = file(&matrix, "");
        let first = expanded(&text).map_err(|e| TestCaseError::fail(format!("{e:?}\n{text}")))?;
        let unique: BTreeSet<String> = ids(&first).into_iter().collect();
        prop_assert_eq!(unique.len(), first.cases.len());
        prop_assert_eq!(ids(&first), ids(&expanded(&text).expect("as before")));
        let product: usize = matrix.iter().map(|(_, values)| values.len()).product();
        prop_assert_eq!(first.cases.len() + first.not_generated, product);
        // What is left out is a group that does not fit, or one that another name already means.
        let varies = |name: &str| matrix.iter().any(|(key, _)| key.name == name);
        prop_assert!(first.not_generated == 0 || varies("group"), "{text}");
    }

    #[test]
    fn an_exclude_removes_what_it_matches_and_nothing_else(
        matrix in matrix("all_gather/push"),
        chosen in any::<prop::sample::Index>(),
        how_many in any::<prop::sample::Index>(),
    ) {
        let all = expanded(&file(&matrix, "")).expect("a matrix of valid values");
        let (key, values) = &matrix[chosen.index(matrix.len())];
        let wanted = &values[..1 + how_many.index(values.len())];
        let list = wanted.join(", ");
        let rest = format!("exclude: [{{when: {{{}: [{list}]}}, reason: a test}}]\n", key.name);
        let text = file(&matrix, &rest);
        let matches = |case: &crate::Case| match key.name {
            // A group is told by its ranks.
            "group" => wanted.iter().any(|spelled| {
                let settings = &expanded(&format!(
                    "scenario: t/s\nkernel: all_gather/push\nranks: {}\ngroup: {spelled}\n",
                    case.problem.world
                ));
                let same = |other: &crate::Case| {
                    other.problem.calls[0].group == case.problem.calls[0].group
                };
                settings.as_ref().is_ok_and(|alone| alone.cases.first().is_some_and(same))
            }),
            _ => wanted.contains(&(key.spellings)(&case.settings)[0]),
        };
        let kept: Vec<String> =
            all.cases.iter().filter(|case| !matches(case)).map(|case| case.id.clone()).collect();
        match expanded(&text) {
            Ok(some) => {
                prop_assert_eq!(ids(&some), kept);
                prop_assert!(some.excluded > 0);
            }
            Err(complaint) => {
                prop_assert!(complaint.text.contains("removes nothing"), "{complaint:?}\n{text}");
                prop_assert_eq!(kept.len(), all.cases.len());
            }
        }
    }
}

/// Every axis may be excluded by, those with values that are lists themselves included.
#[test]
fn what_may_stand_in_a_matrix_may_stand_in_when() {
    let values = [
        ("variant", "base", "hoisted"),
        ("ranks", "2", "3"),
        ("dtype", "f16", "f32"),
        ("shape", "3x4", "{m: 4, n: 3}"),
        ("tile", "default", "4x8"),
        ("blocks", "1", "default"),
        ("group", "world", "reversed"),
        ("layout", "{input: {pad_columns: 1}}", "{}"),
        ("guard_bytes", "0", "256"),
        ("calls", "2", "[{}, {shape: 1x7}]"),
        ("in_place", "true", "false"),
        ("data", "keyed", "bit_patterns"),
        ("root", "0", "1"),
        ("op", "premul_sum", "sum"),
        ("counts", "uneven", "[[1, 2], [0, 1]]"),
        ("scalars", "[2, 3]", "[3, 2]"),
        ("first_epoch", "0", "65535"),
        ("seed", "1", "2"),
    ];
    let names: Vec<&str> = values.iter().map(|(name, ..)| *name).collect();
    let axes: Vec<&str> =
        KEYS.iter().filter(|key| key.axis.is_some()).map(|key| key.name).collect();
    assert_eq!(names, axes, "an axis without values here");
    for (name, one, other) in values {
        let kernel = match name {
            "root" => "scatter/pull",
            "op" | "scalars" => "all_reduce/two_shot",
            "counts" => "all_to_all/rows",
            _ => "all_gather/push",
        };
        let op = if name == "scalars" { "op: premul_sum\n" } else { "" };
        for (removed, kept) in [(one, other), (other, one)] {
            let text = format!(
                "scenario: t/s\nkernel: {kernel}\n{op}matrix: {{{name}: [{one}, {other}]}}\n\
                 exclude: [{{when: {{{name}: [{removed}]}}, reason: a test}}]\n"
            );
            let expansion = expanded(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
            assert_eq!((expansion.cases.len(), expansion.excluded), (1, 1), "{text}");
            let stated = format!("scenario: t/s\nkernel: {kernel}\n{op}{name}: {kept}\n");
            let alone = expanded(&stated).unwrap_or_else(|error| panic!("{error:?}\n{stated}"));
            assert!(alone.cases[0].is_same_test(&expansion.cases[0]), "{text}");
        }
    }
}
