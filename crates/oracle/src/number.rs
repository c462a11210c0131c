//! Numbers that MPI adds up, and how elements of a problem become such numbers.
//!
//! MPI has no half precision: its elements travel as f32, converted by the crate `half`. That is
//! exact, because the data are such that every partial result fits in the element itself.

use collectives::DType;
use half::{bf16, f16};
use mpi::traits::Equivalence;

/// A type that MPI can reduce.
pub(crate) trait Number: Equivalence + Copy + Default {
    /// Times a factor of a premultiplied sum.
    fn times(self, factor: i32) -> Self;
    /// Divided by a group's size; integers towards zero.
    fn over(self, members: u32) -> Self;
}

macro_rules! numbers {
    ($($number:ty, $times:expr;)*) => {$(
        impl Number for $number {
            fn times(self, factor: i32) -> Self {
                let times: fn($number, $number) -> $number = $times;
                times(self, factor as $number)
            }
            fn over(self, members: u32) -> Self {
                self / members as $number
            }
        }
    )*};
}
// Integers wrap in their type, as MPI's own sums and products do.
numbers! {
    u8, u8::wrapping_mul;
    i8, i8::wrapping_mul;
    i32, i32::wrapping_mul;
    i64, i64::wrapping_mul;
    f32, |value, factor| value * factor;
    f64, |value, factor| value * factor;
}

/// How an element type is reduced by MPI.
#[derive(Clone, Copy)]
pub(crate) struct Codec<T> {
    pub(crate) decode: fn(&[u8]) -> T,
    pub(crate) encode: fn(T) -> Vec<u8>,
}

macro_rules! codec {
    ($number:ty) => {
        Codec {
            decode: |bytes| <$number>::from_le_bytes(bytes.try_into().expect("one element")),
            encode: |value: $number| value.to_le_bytes().to_vec(),
        }
    };
}

pub(crate) const U8: Codec<u8> = codec!(u8);
pub(crate) const I8: Codec<i8> = codec!(i8);
pub(crate) const I32: Codec<i32> = codec!(i32);
pub(crate) const I64: Codec<i64> = codec!(i64);
pub(crate) const F32: Codec<f32> = codec!(f32);
pub(crate) const F64: Codec<f64> = codec!(f64);
pub(crate) const F16: Codec<f32> = Codec {
    decode: |bytes| f16::from_le_bytes(bytes.try_into().expect("one element")).to_f32(),
    encode: |value| f16::from_f32(value).to_le_bytes().to_vec(),
};
pub(crate) const BF16: Codec<f32> = Codec {
    decode: |bytes| bf16::from_le_bytes(bytes.try_into().expect("one element")).to_f32(),
    encode: |value| bf16::from_f32(value).to_le_bytes().to_vec(),
};

/// Whether MPI can reduce elements of this type; it has no 8-bit floats.
pub(crate) fn reduces(dtype: DType) -> bool {
    dtype.bytes() > 1 || !dtype.is_float()
}
