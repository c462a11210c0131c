//! Numbers that follow from a seed: the one generator of the whole workspace, so that a seed means the
//! same everywhere. Not for secrets.

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection on 64 bits.
pub const fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A stream of numbers (SplitMix64): the same one for the same seed, on every machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draw {
    state: u64,
}

impl Draw {
    /// The stream of a seed. Seeds that are close together give streams that share nothing visible.
    pub const fn new(seed: u64) -> Draw {
        Draw { state: seed }
    }

    /// The next number, any of the 2^64.
    pub const fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state)
    }

    /// Where the stream stands: a stream of this seed goes on as this one does.
    pub const fn seed(&self) -> u64 {
        self.state
    }

    /// A number below `bound`, which is at least one.
    pub const fn below(&mut self, bound: u64) -> u64 {
        self.number() % bound
    }

    /// A number from `least` to `most`, both included.
    pub const fn within(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    /// True in so many of a hundred draws.
    pub const fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of some values, of which there is at least one.
    pub fn one_of<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[self.number() as usize % values.len()]
    }

    /// Exchanges values until any order of them is as likely as any other (Fisher and Yates).
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_published_generator() {
        // The first outputs of Vigna's splitmix64.c for the state 1234567.
        let mut draw = Draw::new(1_234_567);
        let numbers = [(); 3].map(|()| draw.number());
        let published =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(numbers, published);
        assert_eq!(Draw::new(draw.seed()), draw);
    }

    #[test]
    fn bounds_are_kept_and_reached() {
        let mut draw = Draw::new(7);
        let drawn: Vec<u64> = (0..200).map(|_| draw.within(3, 6)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&3), Some(&6)));
        assert!((0..100).all(|_| draw.percent(100) && !draw.percent(0)));
        let mut values = [0, 1, 2, 3, 4];
        draw.shuffle(&mut values);
        assert_ne!(values, [0, 1, 2, 3, 4]);
        values.sort_unstable();
        assert_eq!(values, [0, 1, 2, 3, 4]);
    }
}
