//! Law 2: what every known confusion would put in a place differs from what belongs there.

use std::collections::HashSet;

use proptest::prelude::*;
use rstest::rstest;

use super::*;

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
    for other in (0..16).filter(|rank| *rank != 5) {
        assert!(differ(&own, &matrix(&now, other), 0, 0, size), "rank {other}");
    }
    for call in [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11] {
        let then = RowFill::new(seed, call, shape, element, tile);
        let stale = matrix(&then, 5);
        // Beyond the seventh call the permutation changes with the colour, and a byte may repeat.
        if call < 8 {
            assert!(differ(&own, &stale, 0, 0, size), "call {call}");
        } else {
            assert_ne!(own, stale);
        }
    }
    for column in [1, 16 / size, tile.n as usize] {
        assert!(differ(&own, &own, 0, column, size), "{column} columns off");
    }
    for row in [1, tile.m as usize] {
        assert!(differ(&own, &own, row, 0, size), "{row} rows off");
    }
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
    for rank in 0..16 {
        for row in 0..shape.m {
            fill.row(Rank(rank), row, &mut bytes);
            for (column, word) in bytes.chunks_exact(8).enumerate() {
                let word = u64::from_le_bytes(word.try_into().unwrap());
                assert!(seen.insert(word), "a word repeats");
                let owner = Owner { rank: Rank(rank), call: 2, row, byte: column as u64 * 8 };
                assert_eq!(fill.owner(word, 16), Some(owner));
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
    assert_eq!(fill.owner(poison.word(Rank(0), 9), 16), None);
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
