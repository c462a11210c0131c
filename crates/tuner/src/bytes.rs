//! Message sizes for people: `33554432 (32 MiB)`, `150994943 (144 MiB - 1)`.

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
