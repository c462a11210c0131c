//! One half of a row: its columns, and whether they agree with each other.

use super::header::{Column, Header};
use super::model::{Check, Half, HalfKind, Row, Slack};

/// Bytes of an element, by the tools' names; `None` for what is no element type.
pub(super) fn element_bytes(dtype: &str) -> Option<u64> {
    match dtype {
        "int8" | "uint8" | "char" => Some(1),
        "half" | "bfloat16" => Some(2),
        "int32" | "uint32" | "int" | "float" => Some(4),
        "int64" | "uint64" | "double" => Some(8),
        fp8 if fp8.starts_with("fp8") || fp8.starts_with("f8") => Some(1),
        _ => None,
    }
}

/// Reads one half from exactly its tokens.
pub(super) fn half(
    kind: HalfKind,
    columns: &[Column],
    tokens: &[&str],
    row: &Row,
    header: &Header,
) -> Result<Half, &'static str> {
    let mut half = Half {
        kind,
        time_us: 0.0,
        algbw_gbs: 0.0,
        busbw_gbs: 0.0,
        check: Check::NotChecked,
        extra: Vec::new(),
        slack: Slack::default(),
        time_is_wall: header.time_is_wall,
    };
    for (column, token) in columns.iter().zip(tokens) {
        match column {
            Column::Wrong if *token != "N/A" => {
                half.check = Check::Wrong(number(token).ok_or("`#wrong` is not a count")?);
            }
            Column::Deviation if *token != "N/A" => half.check = deviation(token, &row.dtype)?,
            Column::Wrong | Column::Deviation => half.check = Check::NotChecked,
            Column::Time => {
                half.time_us =
                    number(token).ok_or("the time is not a number")? * header.time_unit_us;
                half.slack.time_us = half_unit(token) * header.time_unit_us;
            }
            Column::AlgBw => {
                half.algbw_gbs = number(token).ok_or("algbw is not a number")?;
                half.slack.algbw_gbs = half_unit(token);
            }
            Column::BusBw => {
                half.busbw_gbs = number(token).ok_or("busbw is not a number")?;
                half.slack.busbw_gbs = half_unit(token);
            }
            Column::Other(name) => half.extra.push((name.clone(), (*token).to_owned())),
        }
    }
    agrees_with_itself(&half, row).map(|()| half)
}

/// What the tool derives from what, so that a digit that got lost or stuck to another shows: size
/// is a multiple of count times element; algorithm bandwidth is size by time; bus bandwidth is at
/// most twice that. Loose, because which collective it is and how many ranks it has is not known
/// here; [`super::factor`] is exact.
pub(super) fn agrees_with_itself(half: &Half, row: &Row) -> Result<(), &'static str> {
    let slack = &half.slack;
    let part = element_bytes(&row.dtype).and_then(|bytes| row.count.checked_mul(bytes));
    if !part
        .is_some_and(|part| row.size_bytes == 0 || part > 0 && row.size_bytes.is_multiple_of(part))
    {
        return Err("the size is no multiple of count times element");
    }
    let (least, most) = match row.redop.as_deref() {
        // hypercube counts the part that moves: at least half.
        Some("") => (0.45, 1.1),
        // alltoallv counts small sizes once a rank.
        Some("none") | None => (0.9, f64::INFINITY),
        Some(_) => (0.9, 1.1),
    };
    let gbs = |time_us: f64| row.size_bytes as f64 / time_us.max(1e-9) / 1000.0;
    let too_low = half.algbw_gbs + slack.algbw_gbs < least * gbs(half.time_us + slack.time_us);
    let too_high = half.algbw_gbs - slack.algbw_gbs > most * gbs(half.time_us - slack.time_us);
    if half.time_is_wall && (too_low || too_high) {
        return Err("algbw does not follow from size and time");
    }
    if half.busbw_gbs - slack.busbw_gbs > 2.01 * (half.algbw_gbs + slack.algbw_gbs) {
        return Err("busbw is more than twice algbw");
    }
    Ok(())
}

/// A number as `printf` writes it, finite and not negative.
pub(super) fn number(token: &str) -> Option<f64> {
    let plain = |c: char| c.is_ascii_digit() || ".eE+-".contains(c);
    let value = token.chars().all(plain).then(|| token.parse::<f64>().ok())??;
    (value.is_finite() && value >= 0.0).then_some(value)
}

/// Half of the last printed digit: 0.005 for `12.34`, 0.5 for `12`, 50 for `1.2e+03`.
pub(super) fn half_unit(token: &str) -> f64 {
    let (mantissa, exponent) = token.split_once(['e', 'E']).unwrap_or((token, "0"));
    let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let exponent = exponent.parse::<i32>().unwrap_or(0);
    0.5 * 10f64.powi(exponent.saturating_sub(i32::try_from(decimals).unwrap_or(i32::MAX)))
}

/// Limits of `DeltaMaxValue` in nccl-tests before 2.12 (bfloat16: rccl-tests).
fn deviation(token: &str, dtype: &str) -> Result<Check, &'static str> {
    let plain = token.trim_end_matches('*');
    if matches!(plain, "nan" | "-nan" | "inf") {
        return Ok(Check::Deviation { value: f64::INFINITY, exceeds: true });
    }
    let value = number(plain).ok_or("`error` is not a number")?;
    let limit = match dtype {
        "half" => 1e-2,
        "bfloat16" => 1e-1,
        "float" => 1e-5,
        "double" => 1e-12,
        _ => 0.0,
    };
    Ok(Check::Deviation { value, exceeds: plain != token || value > limit })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("12.34", 0.005)]
    #[case("12", 0.5)]
    #[case("1.2e+03", 50.0)]
    fn printed_precision(#[case] token: &str, #[case] expected: f64) {
        assert!((half_unit(token) - expected).abs() < 1e-9);
    }

    #[rstest]
    #[case("nan", None)]
    #[case("-3", None)]
    #[case("inf", None)]
    #[case("2.09715e+06", Some(2_097_150.0))]
    #[case("1777718.25", Some(1_777_718.25))]
    fn numbers(#[case] token: &str, #[case] expected: Option<f64>) {
        assert_eq!(number(token), expected);
    }
}
