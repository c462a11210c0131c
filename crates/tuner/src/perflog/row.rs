//! One row: fields before the halves, then the halves, with other output possibly in between.
//!
//! The tool writes a row in three pieces (fields, first half, second half), so another process can
//! write between pieces, but not inside one. Noise is taken out only where exactly one reading is
//! left and every half agrees with itself.

use super::half::{element_bytes, half, number};
use super::header::{Column, Header, Lead};
use super::model::{HalfKind, Row};
use crate::names::{Algorithm, Protocol};

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
    complete(Partial { row, text: text.to_owned() }, rest, header)
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
        match exact(&partial.row, tokens, &header.halves[done..], header) {
            Ok(row) => return Reading::Row(row),
            // Other output can have just as many tokens.
            Err(why) if !begins_with_noise(tokens) => return Reading::Unreadable(why),
            Err(_) => {}
        }
    }
    let mut readings = Vec::new();
    place(&partial.row, tokens, header, &mut readings);
    let whole: Vec<&Row> =
        readings.iter().filter(|row| row.halves.len() == header.halves.len()).collect();
    match (whole.as_slice(), readings.len()) {
        ([row], _) => Reading::Row((*row).clone()),
        ([_, ..], _) => Reading::Unreadable("other output inside the row leaves several readings"),
        ([], _) if tokens.is_empty() => Reading::Partial(partial),
        ([], 1) => {
            let row = readings.remove(0);
            Reading::Partial(Partial { row, text: partial.text })
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
        let is_value = |value: &str| number(value).is_some() || value == "N/A" || is_choice(value);
        if half.extra.iter().any(|(_, value)| !is_value(value)) {
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

/// Whether a token is an algorithm or a protocol, in the library's own spelling.
fn is_choice(token: &str) -> bool {
    let plain = token.to_lowercase().replace('_', "");
    let algorithms = Algorithm::ALL.iter().map(|algorithm| algorithm.name());
    let protocols = Protocol::ALL.iter().map(|protocol| protocol.name());
    algorithms.chain(protocols).any(|name| name.replace('_', "") == plain)
}

/// Whether a line can be the rest of a row that was broken: nothing in it but what rows end with.
pub(super) fn is_rest(text: &str) -> bool {
    let tokens = without_time_of_day(text.split_whitespace().collect());
    let belongs = |token: &&str| number(token).is_some() || *token == "N/A" || is_choice(token);
    !tokens.is_empty() && tokens.iter().all(belongs)
}

/// Whether a line is the beginning of a row and nothing else: its fields, then fewer numbers than
/// the header has columns.
pub(super) fn is_beginning(text: &str, header: &Header) -> bool {
    let tokens: Vec<&str> = text.split_whitespace().collect();
    let [_, _, _, rest @ ..] = tokens.as_slice() else {
        return false;
    };
    let word = rest.first().is_some_and(|token| token.chars().all(|c| c.is_ascii_alphabetic()));
    let numbers = if word { &rest[1..] } else { rest };
    let is_number =
        |token: &&str| token.parse::<i64>().is_ok() || number(token).is_some() || *token == "N/A";
    // A number that is cut behind its point or its sign.
    let is_cut = |token: &&str| number(token.trim_end_matches(['.', 'e', '+', '-', '/'])).is_some();
    let (last, whole) = match numbers.split_last() {
        Some((last, whole)) => (Some(last), whole),
        None => (None, numbers),
    };
    find_lead(&tokens) == Some(0)
        && whole.iter().all(is_number)
        && last.is_none_or(|last| is_number(last) || is_cut(last) || "N/A".starts_with(last))
        && tokens.len() < header.lead.len() + header.width_from(0)
}

/// Whether tokens are other output: at least one that no row has.
fn is_noise(tokens: &[&str]) -> bool {
    tokens.iter().any(|token| number(token).is_none() && *token != "N/A")
}

/// Whether other output starts right here: a number could be the row's own.
fn begins_with_noise(tokens: &[&str]) -> bool {
    tokens.first().is_some_and(|token| !token.starts_with(|c: char| c.is_ascii_digit()))
        && is_noise(tokens)
}

/// The value of `0hostA:12:34`, `1e+06hostA` or `N/A[hostA`: a number with foreign text behind.
fn unglue(token: &str) -> Option<&str> {
    let (value, rest) = token.split_at(value_length(token)?);
    let foreign = rest.starts_with(|c: char| c == '[' || c.is_ascii_alphabetic());
    foreign.then_some(value)
}

/// Bytes of the number that a token begins with; none where nobody can say where it ends.
fn value_length(token: &str) -> Option<usize> {
    if token.starts_with("N/A") {
        return Some("N/A".len());
    }
    let sign = usize::from(token.starts_with('-'));
    let whole = digits(&token[sign..]);
    // `04gpu` is a value and a name that starts with a digit.
    if whole == 0 || whole > 1 && token[sign..].starts_with('0') {
        return None;
    }
    let mut end = sign + whole;
    if let Some(fraction) = token[end..].strip_prefix('.') {
        end += 1 + digits(fraction);
    }
    // An exponent as printf writes it: a sign and two digits. With more, a name begins with them.
    if let Some(exponent) = token[end..].strip_prefix('e')
        && exponent.starts_with(['+', '-'])
    {
        match digits(&exponent[1..]) {
            2 => end += 4,
            _ => return None,
        }
    }
    Some(end)
}

fn digits(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())
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
            Lead::Redop if number(token).is_some() || token.parse::<i64>().is_ok() => {
                row.redop = Some(String::new())
            }
            Lead::Root => {
                used += 1;
                let glued = token.parse::<i64>().is_err();
                let root = if glued { unglue(token).filter(|_| is_last)? } else { token };
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
    #[case("0hostA:12:34", Some("0"))]
    #[case("-1hostA", Some("-1"))]
    #[case("N/A[hostA", Some("N/A"))]
    #[case("04gpu", None)]
    #[case("1e+06nodeA:12:34", Some("1e+06"))]
    #[case("2.09715e+06nodeA", Some("2.09715e+06"))]
    #[case("0eth0:", Some("0"))]
    #[case("1e+0612node", None)]
    #[case("1e+hostA", None)]
    #[case("0.18node", Some("0.18"))]
    #[case("0", None)]
    #[case("-host", None)]
    #[case("10.0.0.1:5", None)]
    fn glued_noise(#[case] token: &str, #[case] expected: Option<&str>) {
        assert_eq!(unglue(token), expected);
    }
}
