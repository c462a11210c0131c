//! One row: fields before the halves, then the halves, with other output possibly in between.
//!
//! The tool writes a row in three pieces (fields, first half, second half), so another process can
//! write between pieces, but not inside one. Noise is taken out only where exactly one reading is
//! left and every half agrees with itself.

use super::header::{Column, Header, Lead};
use super::model::{Check, Half, HalfKind, Row};

/// What the tool writes where it leaves the first half out (`writeBenchMarkLineNullBody`, 32
/// blanks).
const BLANK_HALF: &str = "                              ";
/// Tokens of one line beyond which noise is not searched.
const MAX_TOKENS: usize = 64;

/// A row as far as it has been read.
#[derive(Debug, Clone)]
pub(super) struct Partial {
    pub(super) row: Row,
    /// Line on which it began, for reports.
    pub(super) text: String,
}

/// What a line is, as far as rows are concerned.
pub(super) enum Reading {
    /// A whole row.
    Row(Row),
    /// The beginning of a row: whole pieces, then nothing or noise.
    Partial(Partial),
    /// Part of a row, or a row that does not add up.
    Unreadable(&'static str),
    /// Something else.
    Noise,
}

/// Bytes of an element, by the tools' names; `None` for what is no element type.
fn element_bytes(dtype: &str) -> Option<u64> {
    match dtype {
        "int8" | "uint8" | "char" => Some(1),
        "half" | "bfloat16" => Some(2),
        "int32" | "uint32" | "int" | "float" => Some(4),
        "int64" | "uint64" | "double" => Some(8),
        fp8 if fp8.starts_with("fp8") || fp8.starts_with("f8") => Some(1),
        _ => None,
    }
}

/// Index of the first token of `size count type`.
pub(super) fn find_lead(tokens: &[&str]) -> Option<usize> {
    tokens.windows(3).position(|window| {
        window[0].parse::<u64>().is_ok()
            && window[1].parse::<u64>().is_ok()
            && element_bytes(window[2]).is_some()
    })
}

/// Reads a line that may begin a row.
pub(super) fn read(text: &str, line: usize, section: usize, header: &Header) -> Reading {
    let tokens: Vec<&str> = without_time_of_day(text.split_whitespace().collect());
    let Some(start) = find_lead(&tokens) else {
        return Reading::Noise;
    };
    let Some((mut row, used, glued)) = lead(&tokens[start..], line, section, header) else {
        return Reading::Unreadable("the fields before the times do not fit the header");
    };
    row.had_noise = start > 0 || glued;
    if glued {
        let text = text.to_owned();
        return Reading::Partial(Partial { row, text });
    }
    let rest = &tokens[start + used..];
    if let [_, last] = header.halves.as_slice()
        && rest.len() == last.1.len()
        && text.trim_start().contains(BLANK_HALF)
    {
        return match exact(&row, rest, std::slice::from_ref(last), header) {
            Ok(row) => Reading::Row(row),
            Err(why) => Reading::Unreadable(why),
        };
    }
    complete(
        Partial {
            row,
            text: text.to_owned(),
        },
        rest,
        header,
    )
}

/// Reads a line that may go on where `partial` stopped.
pub(super) fn go_on(partial: &Partial, text: &str, header: &Header) -> Reading {
    let tokens: Vec<&str> = without_time_of_day(text.split_whitespace().collect());
    match tokens.first() {
        Some(first) if number(first).is_some() => {
            let mut partial = partial.clone();
            partial.row.had_noise = true;
            complete(partial, &tokens, header)
        }
        _ => Reading::Noise,
    }
}

/// Puts the halves that are still missing into a row, from the tokens behind it.
fn complete(partial: Partial, tokens: &[&str], header: &Header) -> Reading {
    let done = partial.row.halves.len();
    let missing = header.width_from(done);
    if tokens.len() > MAX_TOKENS {
        return Reading::Unreadable("too much other output inside the row");
    }
    if tokens.len() == missing {
        // The common case, and the one whose faults are worth naming.
        return match exact(&partial.row, tokens, &header.halves[done..], header) {
            Ok(row) => Reading::Row(row),
            Err(why) => Reading::Unreadable(why),
        };
    }
    let mut readings = Vec::new();
    place(&partial.row, tokens, header, &mut readings);
    let whole: Vec<&Row> = readings
        .iter()
        .filter(|row| row.halves.len() == header.halves.len())
        .collect();
    match (whole.as_slice(), readings.len()) {
        ([row], _) => Reading::Row((*row).clone()),
        ([_, ..], _) => Reading::Unreadable("other output inside the row leaves several readings"),
        ([], _) if tokens.is_empty() => Reading::Partial(partial),
        ([], 1) => {
            let row = readings.remove(0);
            Reading::Partial(Partial {
                row,
                text: partial.text,
            })
        }
        ([], 0) if begins_with_noise(tokens) => Reading::Partial(partial),
        ([], _) => Reading::Unreadable("the number of columns does not fit the header"),
    }
}

/// Reads the given halves from exactly their tokens.
fn exact(
    row: &Row,
    mut tokens: &[&str],
    halves: &[(HalfKind, Vec<Column>)],
    header: &Header,
) -> Result<Row, &'static str> {
    let mut row = row.clone();
    for (kind, columns) in halves {
        let (mine, rest) = tokens.split_at(columns.len());
        row.halves.push(half(*kind, columns, mine, &row, header)?);
        tokens = rest;
    }
    Ok(row)
}

/// All ways to find the next halves among the tokens with only noise around them.
fn place(row: &Row, tokens: &[&str], header: &Header, found: &mut Vec<Row>) {
    let Some((kind, columns)) = header.halves.get(row.halves.len()) else {
        if tokens.is_empty() || is_noise(tokens) {
            found.push(row.clone());
        }
        return;
    };
    for start in 0..(tokens.len() + 1).saturating_sub(columns.len()) {
        if start > 0 && !is_noise(&tokens[..start]) {
            continue;
        }
        let (mine, rest) = tokens[start..].split_at(columns.len());
        // Noise that follows without a blank sticks to the check, the last column.
        let unglued = unglue(mine[columns.len() - 1]);
        let mut own = mine.to_vec();
        own[columns.len() - 1] = unglued.unwrap_or(mine[columns.len() - 1]);
        let Ok(half) = half(*kind, columns, &own, row, header) else {
            continue;
        };
        // A column of words could be noise just as well.
        if half
            .extra
            .iter()
            .any(|(_, value)| number(value).is_none() && value != "N/A")
        {
            continue;
        }
        let mut next = row.clone();
        next.had_noise |= start > 0 || unglued.is_some() || !rest.is_empty();
        next.halves.push(half);
        if unglued.is_some() || rest.is_empty() {
            // Nothing more of the row can stand on this line.
            found.push(next);
        } else {
            let before = found.len();
            place(&next, rest, header, found);
            let is_open = next.halves.len() < header.halves.len();
            if found.len() == before && is_open && begins_with_noise(rest) {
                found.push(next);
            }
        }
    }
}

/// Whether tokens are other output: at least one that no row has.
fn is_noise(tokens: &[&str]) -> bool {
    tokens
        .iter()
        .any(|token| number(token).is_none() && *token != "N/A")
}

/// Whether other output starts right here: a number could be the row's own.
fn begins_with_noise(tokens: &[&str]) -> bool {
    tokens
        .first()
        .is_some_and(|token| !token.starts_with(|c: char| c.is_ascii_digit()))
        && is_noise(tokens)
}

/// The value of `0hostA:12:34` or `N/A[hostA`: digits with foreign text behind.
fn unglue(token: &str) -> Option<&str> {
    let end = match token.strip_prefix("N/A") {
        Some(_) => 3,
        None => token.strip_prefix('-').map_or(0, |_| 1) + digits(token.trim_start_matches('-')),
    };
    let (value, rest) = token.split_at(end);
    let foreign = rest.starts_with(|c: char| c == '[' || c.is_ascii_alphabetic());
    // `04gpu` is a value and a name that starts with a digit: nobody can say where.
    let leading_zero = value.len() > 1 && value.starts_with('0');
    (foreign && !value.is_empty() && value != "-" && !leading_zero).then_some(value)
}

fn digits(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len())
}

/// The fields before the halves; how many tokens they took; whether noise stuck to the last one.
fn lead(
    tokens: &[&str],
    line: usize,
    section: usize,
    header: &Header,
) -> Option<(Row, usize, bool)> {
    let mut row = Row {
        line,
        section,
        size_bytes: tokens[0].parse().ok()?,
        count: tokens[1].parse().ok()?,
        dtype: tokens[2].to_owned(),
        redop: None,
        root: None,
        halves: Vec::new(),
        had_noise: false,
    };
    let mut used = 3;
    for (index, column) in header.lead.iter().enumerate().skip(3) {
        let token = *tokens.get(used)?;
        let is_last = index + 1 == header.lead.len();
        match column {
            Lead::Redop if token.chars().all(|c| c.is_ascii_alphabetic()) => {
                row.redop = Some(token.to_owned());
                used += 1;
            }
            // hypercube prints an empty name: the column is there, the token is not.
            Lead::Redop if token.parse::<i64>().is_ok() && !is_last => {
                row.redop = Some(String::new())
            }
            Lead::Root => {
                used += 1;
                let glued = token.parse::<i64>().is_err();
                let root = if glued {
                    unglue(token).filter(|_| is_last)?
                } else {
                    token
                };
                row.root = Some(root.parse().ok().filter(|root| *root >= -1)?);
                if glued {
                    return Some((row, used, true));
                }
            }
            Lead::Redop | Lead::Size | Lead::Count | Lead::Dtype => return None,
        }
    }
    Some((row, used, false))
}

fn half(
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
        busbw_slack: 0.0,
    };
    let mut slack = Slack::default();
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
                slack.time = half_unit(token) * header.time_unit_us;
            }
            Column::AlgBw => {
                half.algbw_gbs = number(token).ok_or("algbw is not a number")?;
                slack.algbw = half_unit(token);
            }
            Column::BusBw => {
                half.busbw_gbs = number(token).ok_or("busbw is not a number")?;
                half.busbw_slack = half_unit(token);
            }
            Column::Other(name) => half.extra.push((name.clone(), (*token).to_owned())),
        }
    }
    agrees_with_itself(&half, &slack, row, header).map(|()| half)
}

/// What the tool derives from what, so that a digit that got lost or stuck to another shows: size
/// is a multiple of count times element; algorithm bandwidth is size by time; bus bandwidth is at
/// most twice that.
fn agrees_with_itself(
    half: &Half,
    slack: &Slack,
    row: &Row,
    header: &Header,
) -> Result<(), &'static str> {
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
    let too_low = half.algbw_gbs + slack.algbw < least * gbs(half.time_us + slack.time);
    let too_high = half.algbw_gbs - slack.algbw > most * gbs(half.time_us - slack.time);
    if header.time_is_wall && (too_low || too_high) {
        return Err("algbw does not follow from size and time");
    }
    if half.busbw_gbs - half.busbw_slack > 2.01 * (half.algbw_gbs + slack.algbw) {
        return Err("busbw is more than twice algbw");
    }
    Ok(())
}

/// Half of the last printed digit of what is checked against each other.
#[derive(Default)]
struct Slack {
    time: f64,
    algbw: f64,
}

/// A number as `printf` writes it, finite and not negative.
pub(super) fn number(token: &str) -> Option<f64> {
    let plain = |c: char| c.is_ascii_digit() || ".eE+-".contains(c);
    let value = token
        .chars()
        .all(plain)
        .then(|| token.parse::<f64>().ok())??;
    (value.is_finite() && value >= 0.0).then_some(value)
}

/// Half of the last printed digit: 0.005 for `12.34`, 0.5 for `12`, 50 for `1.2e+03`.
pub(super) fn half_unit(token: &str) -> f64 {
    let (mantissa, exponent) = token.split_once(['e', 'E']).unwrap_or((token, "0"));
    let decimals = mantissa
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len());
    let exponent = exponent.parse::<i32>().unwrap_or(0);
    0.5 * 10f64.powi(exponent.saturating_sub(i32::try_from(decimals).unwrap_or(i32::MAX)))
}

/// Limits of `DeltaMaxValue` in nccl-tests before 2.12 (bfloat16: rccl-tests).
fn deviation(token: &str, dtype: &str) -> Result<Check, &'static str> {
    let plain = token.trim_end_matches('*');
    if matches!(plain, "nan" | "-nan" | "inf") {
        return Ok(Check::Deviation {
            value: f64::INFINITY,
            exceeds: true,
        });
    }
    let value = number(plain).ok_or("`error` is not a number")?;
    let limit = match dtype {
        "half" => 1e-2,
        "bfloat16" => 1e-1,
        "float" => 1e-5,
        "double" => 1e-12,
        _ => 0.0,
    };
    Ok(Check::Deviation {
        value,
        exceeds: plain != token || value > limit,
    })
}

/// Takes a trailing `YYYY-MM-DD HH:MM:SS` off.
fn without_time_of_day(mut tokens: Vec<&str>) -> Vec<&str> {
    let shape = |token: &str, separator: char, parts: usize| {
        let mut pieces = token.split(separator);
        pieces.clone().count() == parts && pieces.all(|p| p.len() >= 2 && digits(p) == p.len())
    };
    if let [.., date, time] = tokens.as_slice()
        && shape(date, '-', 3)
        && shape(time, ':', 3)
    {
        tokens.truncate(tokens.len() - 2);
    }
    tokens
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
    #[case("0hostA:12:34", Some("0"))]
    #[case("-1hostA", Some("-1"))]
    #[case("N/A[hostA", Some("N/A"))]
    #[case("04gpu", None)]
    #[case("0", None)]
    #[case("-host", None)]
    #[case("10.0.0.1:5", None)]
    fn glued_noise(#[case] token: &str, #[case] expected: Option<&str>) {
        assert_eq!(unglue(token), expected);
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
