//! In which order arms run: every block has a drawn permutation of them and then its mirror image, so that
//! a drift that is linear in time falls on all arms alike (A B B A).

use collectives::draw::{Draw, mix};

/// The numbers of a seed at a place, such as a row, launch and block.
pub fn at(seed: u64, place: &[u64]) -> Draw {
    Draw::new(place.iter().fold(mix(seed), |state, part| mix(state ^ mix(*part))))
}

/// The arms of a block, in the order in which they run: each of `arms` arms twice.
pub fn block(arms: usize, draw: &mut Draw) -> Vec<usize> {
    let mut order: Vec<usize> = (0..arms).collect();
    draw.shuffle(&mut order);
    let mirrored: Vec<usize> = order.iter().rev().copied().collect();
    order.extend(mirrored);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_block_is_a_permutation_and_its_mirror_image() {
        for number in 0..50 {
            let order = block(3, &mut at(7, &[number]));
            let mirrored: Vec<usize> = order.iter().rev().copied().collect();
            assert_eq!(order, mirrored);
            let mut half = order[..3].to_vec();
            half.sort_unstable();
            assert_eq!(half, [0, 1, 2]);
        }
    }

    #[test]
    fn every_order_occurs_about_as_often_and_a_seed_gives_the_same_again() {
        let orders = |seed| (0..600).map(move |n| block(3, &mut at(seed, &[n, 1])));
        let mut counts: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        for order in orders(7) {
            *counts.entry(order).or_default() += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|count| (70..130).contains(count)), "{counts:?}");
        assert!(orders(7).eq(orders(7)));
        assert!(!orders(7).eq(orders(8)));
    }
}
