//! Message sizes for people: `33554432 (32 MiB)`, `150994943 (144 MiB - 1)`, `32M` on a command line.

use std::str::FromStr;

/// A size as a user writes it: digits, and a binary unit as the perf tools take it (`32M`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

/// A size that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no size (accepted: bytes, or a number with K, M, G or T: 32M is 33554432)")]
pub struct BadSize(String);

impl FromStr for Bytes {
    type Err = BadSize;

    fn from_str(text: &str) -> Result<Self, BadSize> {
        let bad = || BadSize(text.to_owned());
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let shift = match unit.trim().to_lowercase().trim_end_matches("ib").trim_end_matches('b') {
            "" => 0,
            "k" => 10,
            "m" => 20,
            "g" => 30,
            "t" => 40,
            _ => return Err(bad()),
        };
        let number: u64 = number.parse().map_err(|_| bad())?;
        number.checked_mul(1 << shift).map(Self).ok_or_else(bad)
    }
}

/// Binary units, largest first.
const UNITS: [(&str, u64); 4] =
    [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

/// A size in bytes as a multiple of the largest binary unit that divides it, or `None`.
fn whole_units(bytes: u64) -> Option<String> {
    let (name, unit) = UNITS.iter().find(|(_, unit)| bytes > 0 && bytes.is_multiple_of(*unit))?;
    Some(format!("{} {name}", bytes / unit))
}

/// The size in binary units where it is a whole number of them, or one byte off one; else `None`.
pub fn in_units(bytes: u64) -> Option<String> {
    whole_units(bytes)
        .or_else(|| Some(whole_units(bytes.checked_add(1)?)? + " - 1"))
        .or_else(|| Some(whole_units(bytes.checked_sub(1)?)? + " + 1"))
}

/// The exact number of bytes, with its binary units behind it where they are exact.
pub fn show(bytes: u64) -> String {
    match in_units(bytes) {
        _ if bytes == u64::MAX => "unbounded".to_owned(),
        Some(units) => format!("{bytes} ({units})"),
        None => bytes.to_string(),
    }
}

/// A closed interval of sizes in bytes, exact.
pub fn range(from: u64, to: u64) -> String {
    if to == u64::MAX { format!("{from}..") } else { format!("{from}..{to}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("32M", Some(33_554_432))]
    #[case("32MiB", Some(33_554_432))]
    #[case("1 g", Some(1 << 30))]
    #[case("150994943", Some(150_994_943))]
    #[case("0", Some(0))]
    #[case("1.5M", None)]
    #[case("M", None)]
    #[case("-1", None)]
    #[case("32X", None)]
    #[case("18446744073709551615K", None)]
    fn sizes_as_users_write_them(#[case] text: &str, #[case] expected: Option<u64>) {
        assert_eq!(text.parse().ok(), expected.map(Bytes));
    }

    #[rstest]
    #[case(33_554_432, "33554432 (32 MiB)")]
    #[case(150_994_943, "150994943 (144 MiB - 1)")]
    #[case(65_537, "65537 (64 KiB + 1)")]
    #[case(2_097_000, "2097000")]
    #[case(0, "0")]
    #[case(u64::MAX, "unbounded")]
    fn sizes_read_well(#[case] bytes: u64, #[case] expected: &str) {
        assert_eq!(show(bytes), expected);
    }
}
