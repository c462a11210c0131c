//! Element types: their size, names and how one element is shown.

use std::fmt;
use std::str::FromStr;

use half::{bf16, f16};
use serde::{Deserialize, Serialize};

use crate::meaning::float;

/// One element type. Copies care about its size only; reductions about its arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DType {
    /// Unsigned 8-bit integer.
    U8,
    /// Signed 8-bit integer.
    I8,
    /// Signed 32-bit integer.
    I32,
    /// Signed 64-bit integer.
    I64,
    /// IEEE 754 binary16.
    F16,
    /// Upper half of binary32.
    BF16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
    /// OCP 8-bit float: 4 exponent bits, 3 of mantissa, no infinity.
    F8E4M3Fn,
    /// The same with exponent bias 8, one NaN, and no negative zero.
    F8E4M3Fnuz,
    /// OCP 8-bit float: 5 exponent bits, 2 of mantissa.
    F8E5M2,
    /// The same with exponent bias 16, one NaN, no infinity and no negative zero.
    F8E5M2Fnuz,
}

impl DType {
    /// Every element type, in the order in which they are listed to users.
    pub const ALL: [DType; 12] = [
        DType::U8,
        DType::I8,
        DType::I32,
        DType::I64,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
        DType::F8E4M3Fn,
        DType::F8E4M3Fnuz,
        DType::F8E5M2,
        DType::F8E5M2Fnuz,
    ];

    /// Size of an element in bytes.
    pub const fn bytes(self) -> u64 {
        match self {
            DType::U8 | DType::I8 => 1,
            DType::F8E4M3Fn | DType::F8E4M3Fnuz | DType::F8E5M2 | DType::F8E5M2Fnuz => 1,
            DType::F16 | DType::BF16 => 2,
            DType::I32 | DType::F32 => 4,
            DType::I64 | DType::F64 => 8,
        }
    }

    /// The one spelling that is printed.
    pub const fn name(self) -> &'static str {
        match self {
            DType::U8 => "u8",
            DType::I8 => "i8",
            DType::I32 => "i32",
            DType::I64 => "i64",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::F32 => "f32",
            DType::F64 => "f64",
            DType::F8E4M3Fn => "f8e4m3fn",
            DType::F8E4M3Fnuz => "f8e4m3fnuz",
            DType::F8E5M2 => "f8e5m2",
            DType::F8E5M2Fnuz => "f8e5m2fnuz",
        }
    }

    /// The unsigned type of the same size, in which kernels move elements that they only copy. One
    /// word, so that `ELEM(0)` is an expression.
    pub const fn storage(self) -> &'static str {
        match self.bytes() {
            1 => "rc_u8",
            2 => "rc_u16",
            4 => "rc_u32",
            _ => "rc_u64",
        }
    }

    /// The device type in which kernels compute; `rankcheck.h` names those that vendors spell
    /// differently.
    pub const fn device_type(self) -> &'static str {
        match self {
            DType::U8 => "rc_u8",
            DType::I8 => "rc_i8",
            DType::I32 => "int",
            DType::I64 => "rc_i64",
            DType::F16 => "rc_f16",
            DType::BF16 => "rc_bf16",
            DType::F32 => "float",
            DType::F64 => "double",
            DType::F8E4M3Fn => "rc_f8e4m3fn",
            DType::F8E4M3Fnuz => "rc_f8e4m3fnuz",
            DType::F8E5M2 => "rc_f8e5m2",
            DType::F8E5M2Fnuz => "rc_f8e5m2fnuz",
        }
    }

    /// Whether it is a floating-point type.
    pub const fn is_float(self) -> bool {
        !matches!(self, DType::U8 | DType::I8 | DType::I32 | DType::I64)
    }

    /// Integers up to two to this power, of either sign, are elements: bits of the significand of
    /// a float, or of an integer's magnitude.
    pub const fn exact_bits(self) -> u32 {
        match self {
            DType::U8 | DType::BF16 => 8,
            DType::I8 => 7,
            DType::I32 => 31,
            DType::I64 => 63,
            DType::F16 => 11,
            DType::F32 => 24,
            DType::F64 => 53,
            DType::F8E4M3Fn | DType::F8E4M3Fnuz => 4,
            DType::F8E5M2 | DType::F8E5M2Fnuz => 3,
        }
    }

    /// One element, little endian, as bits and value: `0x3c00 (1)`.
    pub fn show(self, bytes: &[u8]) -> String {
        let mut wide = [0u8; 8];
        let size = self.bytes() as usize;
        wide[..size].copy_from_slice(&bytes[..size]);
        let bits = u64::from_le_bytes(wide);
        let value = match self {
            DType::U8 => format!("{}", bits as u8),
            DType::I8 => format!("{}", bits as u8 as i8),
            DType::I32 => format!("{}", bits as u32 as i32),
            DType::I64 => format!("{}", bits as i64),
            DType::F16 => format!("{:e}", f16::from_bits(bits as u16)),
            DType::BF16 => format!("{:e}", bf16::from_bits(bits as u16)),
            DType::F32 => format!("{:e}", f32::from_bits(bits as u32)),
            DType::F64 => format!("{:e}", f64::from_bits(bits)),
            DType::F8E4M3Fn | DType::F8E4M3Fnuz | DType::F8E5M2 | DType::F8E5M2Fnuz => {
                format!("{:e}", float::decode(self, bits))
            }
        };
        format!("0x{bits:0width$x} ({value})", width = size * 2)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let canonical = match text {
            "fp16" | "half" | "float16" => "f16",
            "bfloat16" => "bf16",
            "float" | "fp32" | "float32" => "f32",
            "double" | "fp64" | "float64" => "f64",
            "int8" => "i8",
            "uint8" => "u8",
            "int32" | "int" => "i32",
            "int64" => "i64",
            "fp8_e4m3" | "float8_e4m3fn" => "f8e4m3fn",
            "float8_e4m3fnuz" => "f8e4m3fnuz",
            "fp8_e5m2" | "float8_e5m2" => "f8e5m2",
            "float8_e5m2fnuz" => "f8e5m2fnuz",
            other => other,
        };
        DType::ALL.into_iter().find(|dtype| dtype.name() == canonical).ok_or_else(|| {
            let accepted: Vec<_> = DType::ALL.iter().map(|d| d.name()).collect();
            format!("unknown dtype `{text}`, expected one of {}", accepted.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("fp16", DType::F16)]
    #[case("half", DType::F16)]
    #[case("bfloat16", DType::BF16)]
    #[case("float", DType::F32)]
    #[case("f64", DType::F64)]
    fn aliases_are_read(#[case] text: &str, #[case] dtype: DType) {
        assert_eq!(text.parse(), Ok(dtype));
    }

    #[test]
    fn an_unknown_name_lists_what_is_accepted() {
        let error = "f8".parse::<DType>().unwrap_err();
        assert_eq!(
            error,
            "unknown dtype `f8`, expected one of u8, i8, i32, i64, f16, bf16, f32, f64, \
             f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz"
        );
    }

    #[rstest]
    #[case(DType::F16, &[0x00, 0x3c], "0x3c00 (1e0)")]
    #[case(DType::I8, &[0xff], "0xff (-1)")]
    #[case(DType::F64, &[0, 0, 0, 0, 0, 0, 0, 0x80], "0x8000000000000000 (-0e0)")]
    fn elements_are_shown_as_bits_and_value(
        #[case] dtype: DType,
        #[case] bytes: &[u8],
        #[case] shown: &str,
    ) {
        assert_eq!(dtype.show(bytes), shown);
    }
}
