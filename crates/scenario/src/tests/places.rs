//! Every error points at the value that is wrong.

use proptest::prelude::*;
use rstest::rstest;

use super::expanded;
use crate::keys::KEYS;

/// A text with `@` in front of the value to which the error must point.
fn complains(marked: &str, says: &str) {
    let offset = marked.find('@').expect("a marked value");
    let line = marked[..offset].matches('\n').count() as u64 + 1;
    let column = offset - marked[..offset].rfind('\n').map_or(0, |end| end + 1) + 1;
    let complaint = expanded(&marked.replacen('@', "", 1)).expect_err(marked);
    assert_eq!((complaint.line, complaint.column), (line, column as u64), "{complaint:?}");
    assert!(complaint.text.contains(says), "{complaint:?}");
}

#[rstest]
#[case("all_gather/push", "ranks", "99", "ranks: 99 (1 to ")]
#[case("all_gather/push", "ranks", "0", "ranks: 0 (1 to ")]
#[case("all_gather/push", "ranks", "-1", "ranks: -1 (1 to ")]
#[case("all_gather/push", "variant", "bass", "no variant `bass` (did you mean `base`?")]
#[case("all_gather/push", "dtype", "f17", "(did you mean `f16`?)")]
#[case("all_gather/push", "shape", "9", "is not a shape")]
#[case("all_gather/push", "shape", "99999999999x99999999999", "overflows 64 bits")]
#[case("all_gather/push", "layout", "{input: {pad_columns: 18446744073709551615}}", "overflows")]
#[case("all_gather/push", "guard_bytes", "18446744073709551615", "overflows 64 bits")]
#[case("all_gather/push", "tile", "0x4x", "is not a tile")]
#[case("all_gather/push", "tile", "{m: 0, n: 4}", "rows and columns must be at least 1")]
#[case("all_gather/push", "blocks", "0", "blocks: 0 (1 to ")]
#[case("all_gather/push", "group", "even", "(did you mean `evens`?)")]
#[case("all_gather/push", "data", "kyed", "unknown data `kyed`, expected one of keyed")]
#[case("all_gather/push", "calls", "0", "0 calls (1 to 1000)")]
#[case("all_gather/push", "root", "1", "all_gather has no root")]
#[case("all_gather/push", "op", "max", "all_gather combines nothing")]
#[case("all_gather/push", "counts", "uneven", "only the parts of all_to_all may be uneven")]
#[case("all_to_all/rows", "counts", "unevn", "even, uneven, or one list of numbers")]
#[case("all_to_all/rows", "counts", "unevn", "(did you mean `uneven`?)")]
#[case("all_to_all/rows", "counts", "[[1, 2]]", "needs 2 lists of 2 numbers")]
#[case("all_to_all/rows", "in_place", "true", "in_place is not defined for all_to_all")]
#[case("scatter/pull", "root", "5", "root 5 is no group rank of g0+1x2 (0 to 1)")]
#[case("all_reduce/two_shot", "op", "smu", "(did you mean `sum`?)")]
#[case("all_reduce/two_shot", "scalars", "[2, 3]", "only `op: premul_sum` multiplies")]
fn a_wrong_value_wherever_it_stands(
    #[case] kernel: &str,
    #[case] key: &str,
    #[case] value: &str,
    #[case] says: &str,
) {
    let head = format!("scenario: t/s\nkernel: {kernel}\n");
    complains(&format!("{head}{key}: @{value}\n"), says);
    complains(&format!("{head}matrix:\n  {key}:\n    - @{value}\n"), says);
    let key_of_table = KEYS.iter().find(|other| other.name == key).unwrap();
    if key_of_table.call.is_some() {
        complains(&format!("{head}calls:\n  - {{}}\n  - {{{key}: @{value}}}\n"), says);
        complains(&format!("{head}matrix: {{calls: [1, [{{{key}: @{value}}}]]}}\n"), says);
    }
}

#[rstest]
#[case("threads: @1025", "threads: 1025 (1 to 1024)")]
#[case("threads: @0", "threads: 0 (1 to 1024)")]
#[case("modes: [logical, @proces]", "(did you mean `process`?)")]
#[case("timeout: @soon", "timeout: soon")]
#[case("residency: @-1", "residency: -1")]
#[case("matrix: {dtype: @[]}", "matrix.dtype is an empty list")]
#[case("ranks: 2\nmatrix: {ranks: [@2, 4]}", "`ranks` stands both in matrix and outside it")]
#[case("matrix: {dtype: [f16, @f16]}", "two combinations give the id")]
#[case("matrix: {ranks: [1, 2], shape: [2x2, 3x3, @2x2]}", "two combinations give the id")]
#[case(
    "matrix: @{seed: [1, 2, 3], ranks: [1, 2]}\nallow_cases: 5",
    "the matrix has 6 combinations"
)]
#[case("exclude: [@{when: {ranks: 4}, reason: x}]", "this exclude removes nothing")]
#[case("exclude: [{when: {ranks: @four}, reason: x}]", "ranks: four")]
#[case("exclude: [{when: {data: [keyed, @kyed]}, reason: x}]", "did you mean `keyed`?")]
#[case("exclude: [{when: {scalars: [@2, 3]}, reason: x}]", "a list of whole numbers")]
#[case("@shpae: 1x1", "unknown field `shpae`")]
#[case("calls: [{@shpae: 1x1}]", "unknown field `shpae`")]
fn a_wrong_file(#[case] rest: &str, #[case] says: &str) {
    complains(&format!("scenario: t/s\nkernel: all_gather/push\n{rest}\n"), says);
}

/// What no key accepts is refused at its place, for every key and everywhere it may stand.
#[test]
fn nonsense_is_refused_where_it_stands() {
    for key in KEYS {
        for nonsense in ["{nonsense: 1}", "[[[nonsense]]]", "1.5e300"] {
            let name = key.name;
            let mut texts = vec![format!("{name}: {nonsense}\n")];
            if key.axis.is_some() {
                texts.push(format!("matrix:\n  {name}: [{nonsense}]\n"));
                texts.push(format!("exclude: [{{when: {{{name}: [{nonsense}]}}, reason: x}}]\n"));
            }
            if key.call.is_some() {
                texts.push(format!("calls: [{{}}, {{{name}: {nonsense}}}]\n"));
            }
            for text in texts {
                let text = format!("scenario: t/s\nkernel: all_gather/push\n{text}");
                let offset = text.find(nonsense).unwrap();
                let line = text[..offset].matches('\n').count() as u64 + 1;
                let first = offset - text[..offset].rfind('\n').unwrap();
                let Err(complaint) = expanded(&text) else { panic!("accepted: {text}") };
                assert_eq!(complaint.line, line, "{complaint:?}\n{text}");
                let at = complaint.column as usize;
                let is_variant = name == "variant" && text.contains("exclude");
                assert!(
                    is_variant || (first..first + nonsense.len()).contains(&at),
                    "{complaint:?}\n{text}"
                );
            }
        }
    }
}

/// Valid files with every kind of thing in them, to be damaged.
const FILES: [&str; 2] = [
    "# Catches: nothing.\nscenario: t/s\nkernel: all_gather/push\nmatrix:\n  variant: [base, hoisted]\n  \
     ranks: [1, 2, 4]\n  dtype: [f16, f32]\n  shape: [7x255, {m: 9, n: 257}]\n  group: [world, evens, {ranks: \
     [3, 0, 2]}]\nlayout: {input: {pad_columns: 3}, output: {pad_columns: 5, offset_elements: 1}}\n\
     guard_bytes: 4096\ncalls: [{}, {shape: 1x7, tile: 32x64}]\nexclude:\n  - when: {ranks: [1, 2], shape: 7x255}\n    \
     reason: shown at four ranks only\nmodes: [logical]\nsample: {pairwise: 3}\n",
    "scenario: t/s\nkernel: all_to_all/rows\nranks: 3\ncounts: [[1, 2, 0], [0, 1, 2], [2, 2, 2]]\nshape: 5x3\n\
     seed: 9\nfirst_epoch: 65530\nwrite_once: true\nthreads: 64\n",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_damaged_file_is_refused_inside_the_file(
        which in 0..FILES.len(),
        at in any::<prop::sample::Index>(),
        removed in 0..6usize,
        inserted in "[-a-z0-9:,{}\\[\\]'\"# \n&*!|]{0,5}",
    ) {
        let mut text = FILES[which].to_owned();
        let from = at.index(text.len());
        let to = (from + removed).min(text.len());
        text.replace_range(from..to, &inserted);
        if let Err(complaint) = expanded(&text) {
            let lines: Vec<&str> = text.split('\n').collect();
            let line = complaint.line as usize;
            prop_assert!((1..=lines.len()).contains(&line), "{complaint:?}\n{text}");
            let columns = lines[line - 1].chars().count();
            prop_assert!((1..=columns + 1).contains(&(complaint.column as usize)), "{complaint:?}\n{text}");
        }
    }
}
