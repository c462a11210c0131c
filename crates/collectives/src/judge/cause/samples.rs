//! Some of what is wrong: enough to test a claim on, however much there is.

use crate::heap::image::Source;
use crate::meaning::rank::Rank;

/// At most this many of one kind are kept, spread over all there are.
const MOST: usize = 256;

/// A wrong element, or a wrong byte where no element belongs.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    /// On whose heap.
    pub rank: Rank,
    /// Bytes from the heap's start.
    pub offset: u64,
    /// What belongs there; its column is that of this element.
    pub source: Source,
    /// Whether it is a whole element.
    pub is_element: bool,
    bytes: [u8; 8],
    length: usize,
}

impl Sample {
    /// `actual` is what stands there, at most eight bytes.
    pub(crate) fn new(
        rank: Rank,
        offset: u64,
        source: Source,
        is_element: bool,
        actual: &[u8],
    ) -> Sample {
        let mut bytes = [0; 8];
        bytes[..actual.len()].copy_from_slice(actual);
        Sample { rank, offset, source, is_element, bytes, length: actual.len() }
    }

    /// What stands there.
    pub(crate) fn actual(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// The first one, the last one, and some between at equal distances.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    seen: usize,
    every: usize,
    kept: Vec<Sample>,
    last: Option<Sample>,
}

impl Samples {
    /// Adds one, in order of place.
    pub(crate) fn add(&mut self, sample: Sample) {
        self.every = self.every.max(1);
        if self.kept.len() == MOST {
            let mut index = 0;
            self.kept.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.every *= 2;
        }
        if self.seen.is_multiple_of(self.every) {
            self.kept.push(sample.clone());
        }
        self.seen += 1;
        self.last = Some(sample);
    }

    /// Them, in order of place.
    pub(crate) fn all(&self) -> Vec<Sample> {
        let mut all = self.kept.clone();
        let ends = all.last().map(|sample| sample.offset);
        all.extend(self.last.clone().filter(|last| Some(last.offset) != ends));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(count: u64) -> Vec<u64> {
        let mut samples = Samples::default();
        for offset in 0..count {
            samples.add(Sample::new(Rank(0), offset, Source::Poison, false, &[0]));
        }
        samples.all().iter().map(|sample| sample.offset).collect()
    }

    #[test]
    fn few_are_all_kept_and_many_are_spread() {
        assert_eq!(of(3), [0, 1, 2]);
        assert_eq!(of(256), Vec::from_iter(0..256));
        let many = of(100_000);
        assert!((100..=257).contains(&many.len()), "{}", many.len());
        assert_eq!((many[0], many[many.len() - 1]), (0, 99_999));
        let distances = many.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(distances.max().unwrap() < 2000);
    }
}
