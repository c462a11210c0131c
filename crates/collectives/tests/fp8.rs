//! The fp8 codec against tables that ml_dtypes made (`ci/fp8_tables.py`), every code of four
//! formats; f16 and bf16 against the `half` crate.

use collectives::op::Overflow;
use collectives::{DType, float};
use rstest::rstest;

const STEP: u64 = 2_654_435_761;

fn fnv(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |value: u64, byte| {
        (value ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

fn encoded(dtype: DType, value: f64) -> u8 {
    let code = float::encode(dtype, value, Overflow::Nan);
    if float::decode(dtype, code).is_nan() { 0xaa } else { code as u8 }
}

#[rstest]
#[case(
    DType::F8E4M3Fn,
    [0xdad1d9c50f749ca5, 0x32ec846358c66e25, 0x85bf3d5bb2d194f5, 0xec94fd791241c833]
)]
#[case(
    DType::F8E4M3Fnuz,
    [0xf51851cb11c63018, 0x46fec722e16fcba5, 0xfda41c088d1b8f65, 0xc7f48b385c1c5b9d]
)]
#[case(
    DType::F8E5M2,
    [0x6c1e56b6fb09c905, 0x1bac555d822683a5, 0x5ad16cda15dca1a5, 0x7d193e03164ad45f]
)]
#[case(
    DType::F8E5M2Fnuz,
    [0x94ae6fc493d49818, 0x3221a2ef2763a1a5, 0xc467a512a84ce1a5, 0x40e1c079ce61f9b5]
)]
fn fp8_as_ml_dtypes(#[case] dtype: DType, #[case] expected: [u64; 4]) {
    let decoded = (0..256).flat_map(|code| {
        let value = float::decode(dtype, code) as f32;
        if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() }.to_le_bytes()
    });
    let halves = (0..1 << 16).map(|bits| encoded(dtype, float::decode(DType::F16, bits)));
    let brains = (0..1 << 16).map(|bits| encoded(dtype, float::decode(DType::BF16, bits)));
    let singles = (0..1_000_000u64).map(|i| {
        let value = f32::from_bits((i * STEP + 12345) as u32);
        encoded(dtype, value.into())
    });
    assert_eq!([fnv(decoded), fnv(halves), fnv(brains), fnv(singles)], expected, "{dtype}");
}

#[rstest]
#[case(DType::F8E4M3Fn, 448.0, 464.0, 465.0)]
#[case(DType::F8E4M3Fnuz, 240.0, 247.0, 248.0)]
#[case(DType::F8E5M2, 57344.0, 61439.0, 61440.0)]
#[case(DType::F8E5M2Fnuz, 57344.0, 61439.0, 61440.0)]
fn overflow_saturates_or_not(
    #[case] dtype: DType,
    #[case] largest: f64,
    #[case] last_that_fits: f64,
    #[case] first_beyond: f64,
) {
    for sign in [1.0, -1.0] {
        let round = |value: f64, overflow| float::round(dtype, sign * value, overflow);
        assert_eq!(round(last_that_fits, Overflow::Nan), sign * largest);
        assert!(!round(first_beyond, Overflow::Nan).is_finite());
        assert_eq!(round(first_beyond, Overflow::Saturate), sign * largest);
        assert_eq!(round(f64::INFINITY, Overflow::Saturate), sign * largest);
    }
}

#[test]
fn sixteen_bits_as_the_half_crate() {
    for bits in 0..=u16::MAX {
        let (f16, bf16) = (half::f16::from_bits(bits), half::bf16::from_bits(bits));
        let ours = |dtype| float::decode(dtype, bits.into());
        assert!(f64::from(f16).to_bits() == ours(DType::F16).to_bits() || f16.is_nan());
        assert!(f64::from(bf16).to_bits() == ours(DType::BF16).to_bits() || bf16.is_nan());
    }
    for i in 0..4_000_000u64 {
        let value = f32::from_bits((i * STEP + 12345) as u32);
        if value.is_nan() {
            continue;
        }
        let ours = |dtype| float::encode(dtype, value.into(), Overflow::Nan);
        assert_eq!(ours(DType::F16), u64::from(half::f16::from_f32(value).to_bits()), "{value:e}");
        assert_eq!(
            ours(DType::BF16),
            u64::from(half::bf16::from_f32(value).to_bits()),
            "{value:e}"
        );
    }
    // Beyond the middle by less than an f32 shows: half's own f64 conversion drops these bits.
    let above = 1.0 + 2f64.powi(-11) + 2f64.powi(-50);
    assert_eq!(float::encode(DType::F16, above, Overflow::Nan), 0x3c01);
}
