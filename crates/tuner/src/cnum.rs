//! Numbers as C reads them: `strtoull(text, NULL, 10)` and `atoi(text)`.
//!
//! Both skip leading white space, take a sign and digits, and ignore the rest. What C leaves
//! undefined (an `int` that does not fit) follows glibc, where `atoi` is `(int)strtol`.

/// Splits into (negative, digits), as both functions do before they convert.
fn sign_and_digits(text: &[u8]) -> (bool, &[u8]) {
    let is_space = |byte: u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let start = text.iter().position(|&byte| !is_space(byte)).unwrap_or(text.len());
    let (negative, digits) = match text.get(start) {
        Some(b'-') => (true, &text[start + 1..]),
        Some(b'+') => (false, &text[start + 1..]),
        _ => (false, &text[start..]),
    };
    let end = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
    (negative, &digits[..end])
}

/// The value of the digits, or `None` where it does not fit in 64 bits.
fn magnitude(digits: &[u8]) -> Option<u64> {
    digits
        .iter()
        .try_fold(0u64, |value, byte| value.checked_mul(10)?.checked_add(u64::from(byte - b'0')))
}

/// `strtoull(text, NULL, 10)`: saturates at 2^64 - 1; a minus sign negates modulo 2^64.
pub fn strtoull(text: &[u8]) -> u64 {
    let (negative, digits) = sign_and_digits(text);
    match magnitude(digits) {
        None => u64::MAX,
        Some(value) if negative => value.wrapping_neg(),
        Some(value) => value,
    }
}

/// `atoi(text)`: glibc's `strtol` (saturating at 64 bits) cut to its low 32 bits.
pub fn atoi(text: &[u8]) -> i32 {
    let (negative, digits) = sign_and_digits(text);
    let long = match (magnitude(digits), negative) {
        (Some(value), false) => i64::try_from(value).unwrap_or(i64::MAX),
        (Some(value), true) => 0i64.checked_sub_unsigned(value).unwrap_or(i64::MIN),
        (None, false) => i64::MAX,
        (None, true) => i64::MIN,
    };
    long as i32
}

/// Whether C reads the whole token: a sign at most, digits, and nothing else.
pub fn is_plain_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    // Expected values were printed by a C program against glibc.
    #[rstest]
    #[case("32M", 32)]
    #[case("1e6", 1)]
    #[case("0x100", 0)]
    #[case("-1", u64::MAX)]
    #[case("-0", 0)]
    #[case(" \t+7", 7)]
    #[case("", 0)]
    #[case("abc", 0)]
    #[case("18446744073709551615", u64::MAX)]
    #[case("18446744073709551616", u64::MAX)]
    #[case("-18446744073709551616", u64::MAX)]
    #[case("-18446744073709551615", 1)]
    #[case("- 5", 0)]
    fn strtoull_follows_c(#[case] text: &str, #[case] expected: u64) {
        assert_eq!(strtoull(text.as_bytes()), expected);
    }

    #[rstest]
    #[case("8", 8)]
    #[case("8 # comment", 8)]
    #[case("-1", -1)]
    #[case("*", 0)]
    #[case("\r", 0)]
    #[case("\r8", 8)]
    #[case("4294967295", -1)]
    #[case("4294967304", 8)]
    #[case("9223372036854775808", -1)]
    #[case("-9223372036854775809", 0)]
    #[case("99999999999", 1215752191)]
    fn atoi_follows_glibc(#[case] text: &str, #[case] expected: i32) {
        assert_eq!(atoi(text.as_bytes()), expected);
    }

    #[rstest]
    #[case("12", true)]
    #[case("-1", true)]
    #[case("", false)]
    #[case("-", false)]
    #[case("1 2", false)]
    #[case("8x", false)]
    fn plain_integers(#[case] text: &str, #[case] expected: bool) {
        assert_eq!(is_plain_integer(text), expected);
    }
}
