//! Law 2: what every known confusion would put in a place differs from what belongs there.

use std::collections::HashSet;

use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::data::permutation::NAME_MASK;
use crate::meaning::rank::MAX_WORLD;

fn matrix(fill: &RowFill, rank: u32) -> Vec<Vec<u8>> {
    let row = |row| {
        let mut bytes = Vec::new();
        fill.row(Rank(rank), row, &mut bytes);
        bytes
    };
    (0..fill.shape().m).map(row).collect()
}

/// Every byte that both matrices have at a distance of (rows, columns) differs.
fn differ(a: &[Vec<u8>], b: &[Vec<u8>], rows: usize, columns: usize, element: usize) -> bool {
    a.iter().zip(b.iter().skip(rows)).all(|(left, right)| {
        left.iter().zip(right.iter().skip(columns * element)).all(|(x, y)| x != y)
    })
}

#[rstest]
fn every_known_confusion_changes_every_byte(
    #[values(1, 2, 4, 8)] element: u64,
    #[values((8, 256), (32, 64), (1, 16), (7, 100), (5, 65536))] tile: (u64, u64),
    #[values(1, 7, 99)] seed: u64,
) {
    let tile = Tile { m: tile.0, n: tile.1 };
    let shape = Shape { m: 67, n: 521 };
    let size = element as usize;
    let now = RowFill::new(seed, 4, shape, element, tile);
    let own = matrix(&now, 5);
    for other in (0..MAX_WORLD).filter(|rank| *rank != 5) {
        assert!(differ(&own, &matrix(&now, other), 0, 0, size), "rank {other}");
    }
    for call in [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 20, 36, 68, 84, 100, 116, 127] {
        let then = RowFill::new(seed, call, shape, element, tile);
        assert!(differ(&own, &matrix(&then, 5), 0, 0, size), "call {call}");
    }
    for column in [1, 16 / size, tile.n as usize] {
        assert!(differ(&own, &own, 0, column, size), "{column} columns off");
    }
    for row in [1, tile.m as usize] {
        assert!(differ(&own, &own, row, 0, size), "{row} rows off");
    }
}

/// Elements that are the same in both matrices at a distance of (rows, columns), of how many.
fn same(a: &[Vec<u8>], b: &[Vec<u8>], rows: usize, columns: usize, size: usize) -> [u64; 2] {
    let mut same = [0, 0];
    for (left, right) in a.iter().zip(b.iter().skip(rows)) {
        let right = right.chunks_exact(size).skip(columns);
        for (x, y) in left.chunks_exact(size).zip(right) {
            same = [same[0] + u64::from(x == y), same[1] + 1];
        }
    }
    same
}

#[test]
fn words_of_a_block_have_no_byte_in_common() {
    for (a, b) in (0..8).flat_map(|a| (0..a).map(move |b| (a, b))) {
        let apart = PLACES[a] ^ PLACES[b];
        assert!(apart.to_le_bytes().iter().all(|byte| *byte != 0), "{a} and {b}: {apart:x}");
    }
}

/// Any two of 128 calls differ in every byte; and where the rank is taken wrongly, too, in most.
#[test]
fn any_two_calls_differ_in_every_byte() {
    let word = |rank, call| {
        let fill = RowFill::new(3, call, Shape { m: 1, n: 8 }, 1, Tile { m: 1, n: 8 });
        matrix(&fill, rank).concat()
    };
    let same = |a: &[u8], b: &[u8]| a.iter().zip(b).filter(|(x, y)| x == y).count();
    let all: Vec<Vec<u8>> = (0..128).map(|call| word(0, call)).collect();
    for (a, b) in (0..128).flat_map(|a| (0..a).map(move |b| (a, b))) {
        assert_eq!(same(&all[a], &all[b]), 0, "calls {a} and {b}");
    }
    for (rank, call) in (1..16).flat_map(|rank| (1..128).map(move |call| (rank, call))) {
        assert!(same(&all[0], &word(rank, call)) <= 1, "rank {rank} and call {call}");
    }
}

/// What no seed may bring about: elements that are the same in all rows of two columns, or in all columns
/// of two rows, at a distance that kernels have: up to 64, powers of two, a row and one more or less.
/// ARCHITECTURE.md has the shares of single elements that are.
#[rstest]
#[case(1, 64)]
#[case(2, 2000)]
#[case(4, 100_000)]
fn no_columns_and_no_rows_coincide(
    #[case] element: u64,
    #[case] one_of: usize,
    #[values(5, 8, 32, 33, 128, 192)] columns: usize,
) {
    const SEEDS: u64 = 60;
    const ROWS: usize = 96;
    let distances: Vec<usize> = (1..=64).chain([128]).collect();
    let mut all = [0, 0];
    for seed in 0..SEEDS {
        let shape = Shape { m: ROWS as u64, n: columns as u64 };
        let fill = RowFill::new(seed, 0, shape, element, Tile { m: 8, n: 64 });
        let number =
            |bytes: &[u8]| bytes.iter().fold(0u32, |all, byte| all << 8 | u32::from(*byte));
        let rows = matrix(&fill, 0);
        let rows: Vec<Vec<u32>> = rows
            .iter()
            .map(|row| row.chunks_exact(element as usize).map(number).collect())
            .collect();
        let columns_at: Vec<Vec<u32>> =
            (0..columns).map(|at| rows.iter().map(|row| row[at]).collect()).collect();
        let mut compared = |a: &[u32], b: &[u32], said: &dyn Fn() -> String| {
            let same = a.iter().zip(b).filter(|(x, y)| x == y).count();
            let of = a.len().min(b.len());
            assert!(same < of, "seed {seed}, {columns}: {}", said());
            all = [all[0] + same, all[1] + of];
        };
        for distance in &distances {
            for at in 0..columns.saturating_sub(*distance) {
                let other = at + distance;
                compared(&columns_at[at], &columns_at[other], &|| format!("columns {at}, {other}"));
            }
            for at in 0..ROWS.saturating_sub(*distance) {
                let other = at + distance;
                compared(&rows[at], &rows[other], &|| format!("rows {at}, {other}"));
            }
        }
        let flat = rows.concat();
        for apart in [columns - 1, columns + 1] {
            compared(&flat, &flat[apart..], &|| format!("{apart} elements"));
        }
    }
    let [same, of] = all;
    assert!(same * one_of < of, "{same} of {of}");
}

/// Any two of 64 ranks: the same place of their inputs and of their poison differs in every byte, also
/// where one of them is looked at in another call at an odd distance.
#[rstest]
fn any_two_ranks_differ_in_every_byte(#[values(1, 2, 4, 8)] element: u64) {
    let shape = Shape { m: 5, n: 24 };
    let all = [2, 3, 5, 7, 4].map(|call| -> Vec<Vec<u8>> {
        let fill = RowFill::new(7, call, shape, element, Tile { m: 2, n: 8 });
        (0..MAX_WORLD).map(|rank| matrix(&fill, rank).concat()).collect()
    });
    let poison: Vec<[u8; 200]> = (0..MAX_WORLD)
        .map(|rank| {
            let mut bytes = [0; 200];
            Poison::new(7, 2).write(Rank(rank), 40, &mut bytes);
            bytes
        })
        .collect();
    let differ = |a: &[u8], b: &[u8]| a.iter().zip(b).all(|(x, y)| x != y);
    for (a, b) in (0..64).flat_map(|a| (0..64).map(move |b| (a, b))).filter(|(a, b)| a != b) {
        assert!(differ(&all[0][a], &all[0][b]), "ranks {a} and {b}");
        assert!(differ(&poison[a], &poison[b]), "poison of ranks {a} and {b}");
        for odd in 1..4 {
            assert!(differ(&all[0][a], &all[odd][b]), "ranks {a} and {b} in other calls");
        }
        if a / 16 == b / 16 {
            assert!(differ(&all[0][a], &all[4][b]), "ranks {a} and {b} two calls later");
        }
    }
}

/// A place and the rank taken wrongly at once. Within sixteen ranks every byte differs; beyond, the more
/// bytes an element has, the fewer are the same by chance. ARCHITECTURE.md has these figures.
#[rstest]
#[case(1, 1, 100)]
#[case(2, 1, 2000)]
#[case(4, 0, 1)]
#[case(8, 0, 1)]
fn a_rank_and_a_place_exchanged_at_once_are_seen(
    #[case] element: u64,
    #[case] most: u64,
    #[case] of_so_many: u64,
) {
    let size = element as usize;
    let fill = RowFill::new(7, 3, Shape { m: 9, n: 131 }, element, Tile { m: 4, n: 32 });
    let own = matrix(&fill, 0);
    let mut all = [0, 0];
    // Ranks differ by an exclusive or, so that these pairs are all there are.
    for rank in 1..MAX_WORLD {
        let other = matrix(&fill, rank);
        for (rows, columns) in [(0, 1), (0, 2), (0, 16 / size), (0, 32), (1, 0), (2, 0), (4, 0)] {
            let [found, of] = same(&own, &other, rows, columns, size);
            assert!(rank >= 16 || found == 0, "rank {rank}, +{rows} +{columns}");
            assert!(found * 5 < of, "rank {rank}, +{rows} +{columns}: {found} of {of}");
            all = [all[0] + found, all[1] + of];
        }
    }
    let [found, of] = all;
    assert!(found * of_so_many <= of * most, "{found} of {of}");
}

#[test]
fn ranks_differ_by_an_exclusive_or() {
    for (a, b) in (0..64).flat_map(|a| (0..64).map(move |b| (a, b))) {
        assert_eq!(rank_bits(Rank(a)) ^ rank_bits(Rank(b)), rank_bits(Rank(a ^ b)));
    }
    // Small worlds have the bytes that they have always had.
    assert_eq!(rank_bits(Rank(13)), 0xd0d0_d0d0_d0d0_d0d0);
    assert_eq!(rank_bits(Rank(13 + 32)), 0xd8d8_d8d8_d8d8_d8d8);
}

#[test]
fn data_and_poison_share_no_byte() {
    let fill = RowFill::new(3, 1, Shape { m: 9, n: 300 }, 1, Tile { m: 8, n: 256 });
    assert!(matrix(&fill, 2).concat().iter().all(|byte| byte & 1 == 0));
    let mut poison = [0; 1000];
    Poison::new(3, 1).write(Rank(2), 5, &mut poison);
    assert!(poison.iter().all(|byte| byte & 1 == 1));
}

#[test]
fn words_are_unique_and_name_their_owner() {
    let shape = Shape { m: 33, n: 129 };
    let fill = RowFill::new(11, 2, shape, 4, Tile { m: 8, n: 64 });
    let mut seen = HashSet::new();
    let mut bytes = Vec::new();
    for rank in 0..MAX_WORLD {
        for row in 0..shape.m {
            fill.row(Rank(rank), row, &mut bytes);
            for (column, word) in bytes.chunks_exact(8).enumerate() {
                let word = u64::from_le_bytes(word.try_into().unwrap());
                assert!(seen.insert(word), "a word repeats");
                let owner = Owner { rank: Rank(rank), call: 2, row, byte: column as u64 * 8 };
                assert_eq!(fill.owner(word, MAX_WORLD), Some(owner));
                assert_eq!(fill.owner(word, rank), None, "there is no such rank");
            }
        }
    }
}

#[test]
fn poison_differs_between_ranks_at_every_byte_and_names_no_owner() {
    let poison = Poison::new(5, 0);
    let fill = RowFill::new(5, 0, Shape { m: 8, n: 64 }, 2, Tile { m: 8, n: 64 });
    let (mut a, mut b) = ([0; 256], [0; 256]);
    poison.write(Rank(1), 64, &mut a);
    poison.write(Rank(4), 64, &mut b);
    assert!(a.iter().zip(&b).all(|(x, y)| x != y));
    assert_eq!(fill.owner(poison.word(Rank(0), 9), MAX_WORLD), None);
}

proptest! {
    #[test]
    fn the_permutation_inverts(key: u64, number in 0..=BLOCK_MASK) {
        let permutation = Permutation::new(key);
        prop_assert_eq!(permutation.invert(permutation.apply(number)), number);
    }

    #[test]
    fn diffusion_is_linear_and_inverts(a in 0..=NAME_MASK, b in 0..=NAME_MASK) {
        prop_assert_eq!(undiffuse(diffuse(a)), a);
        prop_assert_eq!(diffuse(a) ^ diffuse(b), diffuse(a ^ b));
        prop_assert_eq!(name(a) ^ name(b), name(a ^ b));
    }

    #[test]
    fn poison_does_not_depend_on_how_it_is_cut(
        start in 0u64..64, length in 0usize..200, cut in 0usize..200,
    ) {
        let poison = Poison::new(9, 3);
        let mut whole = vec![0; length];
        poison.write(Rank(3), start, &mut whole);
        let cut = cut.min(length);
        let mut parts = vec![0; length];
        poison.write(Rank(3), start, &mut parts[..cut]);
        poison.write(Rank(3), start + cut as u64, &mut parts[cut..]);
        prop_assert_eq!(&whole, &parts);
        prop_assert!(poison.holds(Rank(3), start, &whole));
        if length > 0 {
            whole[cut.min(length - 1)] ^= 0x40;
            prop_assert!(!poison.holds(Rank(3), start, &whole));
        }
    }
}
