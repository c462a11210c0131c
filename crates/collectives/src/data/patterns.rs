//! Values that conversions destroy: zeros of both signs, infinities, NaN payloads, subnormals,
//! extremes. Laid over every other element of the keyed fill, so that a pair still names its owner.

use std::collections::HashSet;

use crate::data::draw::mix;
use crate::meaning::dtype::DType;
use crate::meaning::rank::{MAX_WORLD, Rank};

/// The largest world for which the patterns that conversions destroy are enough.
const FEW_RANKS: u32 = 16;

/// The bit patterns of an element type that are laid over inputs, more than `world` of them: those that
/// conversions destroy and, where that many ranks exist, others like them.
pub fn specials(dtype: DType, world: u32) -> Vec<u64> {
    let mut patterns = destroyed(dtype);
    if world > FEW_RANKS {
        let mut known: HashSet<u64> = patterns.iter().copied().collect();
        let missing = MAX_WORLD as usize + 1 - patterns.len();
        let more = more_like_them(dtype).into_iter().filter(|bits| known.insert(*bits));
        patterns.extend(more.take(missing));
    }
    patterns
}

/// More subnormals and NaN payloads of a float, more lone ones and lone zeros of an integer, and more
/// of the few values that eight bits have. Beyond those of [`destroyed`] there are at least as many as
/// are missing for the largest world.
fn more_like_them(dtype: DType) -> Vec<u64> {
    let float = |exponent_bits: u32, mantissa_bits: u32| {
        let sign = 1u64 << (exponent_bits + mantissa_bits);
        let infinity = ((1u64 << exponent_bits) - 1) << mantissa_bits;
        let odd = (3..3 + 4 * u64::from(MAX_WORLD)).step_by(2).take(MAX_WORLD as usize / 2);
        odd.flat_map(|bits| [infinity | bits, infinity | bits | sign, bits, bits | sign]).collect()
    };
    let integer = |bits: u32| {
        let ones = u64::MAX >> (64 - bits);
        (0..bits).flat_map(|bit| [1 << bit, ones ^ 1 << bit, (3 << bit) & ones]).collect()
    };
    match dtype {
        DType::U8
        | DType::I8
        | DType::F8E4M3Fn
        | DType::F8E4M3Fnuz
        | DType::F8E5M2
        | DType::F8E5M2Fnuz => (0..=0xff).map(|number| (number * 37) & 0xff).collect(),
        DType::I32 => integer(32),
        DType::I64 => integer(64),
        DType::F16 => float(5, 10),
        DType::BF16 => float(8, 7),
        DType::F32 => float(8, 23),
        DType::F64 => float(11, 52),
    }
}

/// The values that conversions destroy, more of them than [`FEW_RANKS`].
fn destroyed(dtype: DType) -> Vec<u64> {
    let float = |exponent_bits: u32, mantissa_bits: u32| {
        let sign = 1u64 << (exponent_bits + mantissa_bits);
        let infinity = ((1u64 << exponent_bits) - 1) << mantissa_bits;
        let quiet = 1u64 << (mantissa_bits - 1);
        let positive = [
            0,
            1,
            (1 << mantissa_bits) - 1,
            1 << mantissa_bits,
            infinity - 1,
            infinity,
            infinity | quiet,
            infinity | 1,
            infinity | quiet | 5,
        ];
        positive.into_iter().flat_map(|bits| [bits, bits | sign]).collect()
    };
    let integer = |bits: u32| {
        let ones = u64::MAX >> (64 - bits);
        let sign = 1u64 << (bits - 1);
        let mut values: Vec<u64> = vec![0, ones, sign, sign - 1, ones / 3, ones / 3 * 2];
        values.extend((0..bits.min(13) - 1).map(|bit| 1 << bit));
        values.dedup();
        values
    };
    match dtype {
        DType::U8 | DType::I8 => integer(8).into_iter().chain([3, 12, 48, 0x81, 0xfe]).collect(),
        DType::F8E4M3Fn | DType::F8E4M3Fnuz | DType::F8E5M2 | DType::F8E5M2Fnuz => {
            let more = [0x7c, 0xfc, 0x7d, 0x7e, 0xfe, 0x81, 0x07, 0x87, 0x88, 0x7b];
            integer(8).into_iter().chain(more).collect()
        }
        DType::I32 => integer(32),
        DType::I64 => integer(64),
        DType::F16 => float(5, 10),
        DType::BF16 => float(8, 7),
        DType::F32 => float(8, 23),
        DType::F64 => float(11, 52),
    }
}

/// Lays the specials over the even columns of a row. At one place no two ranks get the same one,
/// nor does a rank in two calls in a row, or in two of few; and in far calls only here and there.
pub fn overlay(dtype: DType, specials: &[u64], rank: Rank, row: u64, call: u64, bytes: &mut [u8]) {
    let size = dtype.bytes() as usize;
    let count = specials.len() as u64;
    for (column, element) in bytes.chunks_exact_mut(size).enumerate().step_by(2) {
        let place = mix(row << 32 ^ column as u64);
        let index = (walked(place, call, count) + u64::from(rank.0)) % count;
        element.copy_from_slice(&specials[index as usize].to_le_bytes()[..size]);
    }
}

/// Which of `count` values a place has in a call. It goes round by a step that comes by all of them; after all
/// but one it begins anew, anywhere else, with another step, so that no distance of calls leads back everywhere.
fn walked(place: u64, call: u64, count: u64) -> u64 {
    let steps = count - 1;
    let mut at = None;
    for round in 0..=call / steps {
        let drawn = mix(place ^ (round + 1));
        let step = (0..).map(|more| 1 + (drawn + more) % steps).find(|step| coprime(*step, count));
        let step = step.expect("one is");
        let start = mix(drawn) % count;
        let start = if at == Some(start) { (start + 1) % count } else { start };
        let gone = if round == call / steps { call % steps } else { steps - 1 };
        at = Some((start + gone * step) % count);
    }
    at.expect("there is a round")
}

fn coprime(a: u64, b: u64) -> bool {
    if b == 0 { a == 1 } else { coprime(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_enough_for_every_rank_and_none_repeats() {
        for (dtype, world) in DType::ALL.into_iter().flat_map(|dtype| [(dtype, 16), (dtype, 64)]) {
            let specials = specials(dtype, world);
            assert!(specials.len() > world as usize, "{dtype}: {}", specials.len());
            assert_eq!(specials.iter().collect::<HashSet<_>>().len(), specials.len(), "{dtype}");
            let ones = u64::MAX >> (64 - 8 * dtype.bytes());
            assert!(
                specials.iter().all(|bits| bits & !ones == 0),
                "{dtype}: wider than an element"
            );
        }
    }

    #[test]
    fn no_two_ranks_and_no_two_calls_in_a_row_get_the_same_at_a_place() {
        for dtype in DType::ALL {
            let specials = specials(dtype, MAX_WORLD);
            let elements = |rank, call| {
                let mut bytes = vec![0; 5 * dtype.bytes() as usize];
                overlay(dtype, &specials, Rank(rank), 3, call, &mut bytes);
                bytes[4 * dtype.bytes() as usize..].to_vec()
            };
            let ranks: HashSet<Vec<u8>> = (0..MAX_WORLD).map(|rank| elements(rank, 0)).collect();
            assert_eq!(ranks.len(), MAX_WORLD as usize, "{dtype}");
            assert!((0..64).all(|call| elements(7, call) != elements(7, call + 1)), "{dtype}");
        }
    }

    #[test]
    fn half_precision_specials_are_the_ones_by_hand() {
        let by_hand = [
            0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x7bff, 0xfbff, 0x7c00,
            0xfc00, 0x7e00, 0xfe00, 0x7c01, 0xfc01, 0x7e05, 0xfe05,
        ];
        assert_eq!(specials(DType::F16, FEW_RANKS), by_hand);
    }

    /// Not by luck of a seed either: there is none.
    #[test]
    fn no_two_of_64_calls_have_the_same_in_a_row() {
        for dtype in DType::ALL {
            let specials = specials(dtype, FEW_RANKS);
            let row = |rank, call| {
                let mut bytes = vec![0; 40 * dtype.bytes() as usize];
                overlay(dtype, &specials, Rank(rank), 3, call, &mut bytes);
                bytes.chunks_exact(dtype.bytes() as usize).step_by(2).map(<[u8]>::to_vec).collect()
            };
            let of_rank = |rank| (0..64).map(|call| row(rank, call)).collect::<Vec<Vec<Vec<u8>>>>();
            let (own, next) = (of_rank(0), of_rank(1));
            let same =
                |a: &[Vec<u8>], b: &[Vec<u8>]| a.iter().zip(b).filter(|(x, y)| x == y).count();
            for (a, b) in (0..64).flat_map(|a| (0..64).map(move |b| (a, b))) {
                assert!(a == b || same(&own[a], &own[b]) <= 10, "{dtype}: calls {a} and {b}");
                assert!(same(&own[a], &next[b]) <= 10, "{dtype}: calls {a} and {b} of two ranks");
            }
        }
    }
}
