//! Rules that look at one line: its bytes, its fields, its numbers.

use crate::csv::{
    Chunk, Fate, MAX_LINE_BYTES, MAX_TOKENS, MIN_TOKENS, Token, chunks, fate, tokens,
};
use crate::lint::rules::{RuleId, Severity};
use crate::lint::{Finding, effect, values};
use crate::names::{Algorithm, Collective, Dialect, Protocol};

/// UTF-8's byte order mark.
pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// Positions of the names in a row, and what they are.
const NAMES: [(usize, &str); 3] = [(0, "collective"), (3, "algorithm"), (4, "protocol")];

pub(super) fn findings(file: &[u8]) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(line) = file.split(|&byte| byte == b'\n').position(|line| line.ends_with(b"\r")) {
        let count = file.windows(2).filter(|pair| pair == b"\r\n").count();
        findings.push(
            Finding::new(RuleId::Crlf, line + 1, 1, format!("lines that end in CR LF: {count}"))
                .suggest("end lines in LF")
                .fixable(),
        );
    }
    // The permissive dialect sees every byte of the file, also behind a NUL.
    for chunk in chunks(Dialect::NcclExample, file) {
        findings.extend(chunk_findings(&chunk));
    }
    findings
}

/// Fields are looked at without the CR, so that one CR is one finding.
fn chunk_findings(chunk: &Chunk<'_>) -> Vec<Finding> {
    let at = |rule, column: usize, message| {
        Finding::new(rule, chunk.line, chunk.column + column - 1, message)
    };
    let text = chunk.text.strip_suffix(b"\r").unwrap_or(chunk.text);
    let mut found = Vec::new();
    if chunk.column > 1 {
        let message =
            format!("the line goes on past {MAX_LINE_BYTES} bytes: the rest is read as a new line");
        found.push(at(RuleId::LineTooLong, 1, message).suggest("shorten the line"));
    }
    if let Some(index) = text.iter().position(|&byte| byte == 0) {
        found.push(at(RuleId::NulByte, index + 1, "NUL byte".to_owned()).suggest("remove it"));
    }
    let is_start = chunk.line == 1 && chunk.column == 1;
    if is_start && text.starts_with(BOM) {
        found.push(
            at(RuleId::ByteOrderMark, 1, "the file starts with a byte order mark".to_owned())
                .suggest("save as UTF-8 without a byte order mark")
                .fixable(),
        );
    }
    let visible = text.strip_prefix(BOM).filter(|_| is_start).unwrap_or(text).trim_ascii_start();
    let fates = Dialect::ALL.map(|dialect| (dialect, fate(dialect, chunk.text)));
    let row = fates.iter().find_map(|(_, fate)| match fate {
        Fate::Row(rule) => Some(*rule),
        Fate::Blank | Fate::Comment | Fate::Dropped(_) => None,
    });
    let is_comment = visible.starts_with(b"#");
    if is_comment && matches!(text.first(), Some(b' ' | b'\t')) {
        found.push(
            at(
                RuleId::IndentedComment,
                1,
                "the comment does not start in the first column".to_owned(),
            )
            .suggest("start the line with `#`")
            .fixable(),
        );
    }
    if is_header(visible) {
        found.push(
            at(RuleId::HeaderRow, 1, "header row".to_owned())
                .suggest("put `# ` in front")
                .fixable(),
        );
    } else if is_comment {
        if let Some(rule) = row.filter(|rule| !values::never_matches(rule)) {
            let message = format!("one dialect loads this comment as a row: {rule}");
            found.push(at(RuleId::LiveComment, 1, message).suggest("start the line with `#`"));
        }
    } else if !visible.is_empty() {
        found.extend(field_findings(text).into_iter().map(|mut finding| {
            finding.line = chunk.line;
            finding.column += chunk.column - 1;
            finding
        }));
        if let Some(rule) = row {
            let tokens = tokens(text);
            let columns: Vec<_> = tokens.iter().map(|t| t.column + chunk.column - 1).collect();
            let readable =
                |index: usize| tokens.get(index).is_none_or(|token| is_readable(index, token));
            found.extend(values::findings(&rule, chunk.line, &columns, readable));
        }
    }
    for finding in found.iter_mut().filter(|finding| finding.severity != Severity::Info) {
        finding.effects = fates.iter().map(|(dialect, fate)| effect(*dialect, fate)).collect();
    }
    found
}

/// `colltype,minbytes,...` in any spelling.
pub(super) fn is_header(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text).to_lowercase();
    let mut fields = text.split(',').map(|field| field.trim_matches([' ', '\t', '"', '\'']));
    let first =
        fields.next().is_some_and(|field| field.starts_with("coll") || field == "operation");
    first && fields.next().is_some_and(|field| field.contains("min"))
}

/// Whether the number in a numeric field is read as written.
fn is_readable(index: usize, token: &Token<'_>) -> bool {
    let text = String::from_utf8_lossy(token.text);
    match index {
        0 | 3 | 4 => true,
        1 | 2 => text.parse::<u64>().is_ok() && !text.starts_with('+'),
        _ => text.parse::<i32>().is_ok() || number_with_text(&text).is_some(),
    }
}

/// Splits `8 # note` into a number and what is ignored behind it.
fn number_with_text(text: &str) -> Option<(&str, &str)> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let end = digits.find(|c: char| !c.is_ascii_digit())?;
    let split = text.len() - digits.len() + end;
    text[..split].parse::<i32>().is_ok().then(|| text.split_at(split))
}

fn field_findings(text: &[u8]) -> Vec<Finding> {
    let at = |rule, column: usize, message| Finding::new(rule, 0, column, message);
    let mut found = Vec::new();
    if let Some(index) = text.iter().position(|&byte| byte == b'"' || byte == b'\'') {
        let message = "quotes are read as part of the field".to_owned();
        found.push(at(RuleId::Quotes, index + 1, message).suggest("remove them").fixable());
    }
    let tokens = tokens(text);
    let comment = tokens.iter().position(|token| token.text.contains(&b'#'));
    found.extend(empty_field(text, comment.is_some()));
    if tokens.len() < MIN_TOKENS {
        let message = format!("{} fields; a row needs {MIN_TOKENS} to {MAX_TOKENS}", tokens.len());
        found.push(at(RuleId::TooFewFields, 1, message));
        // With names in their places it is a row that was cut; without, it is no row at all.
        if tokens.len() <= NAMES[2].0 {
            return found;
        }
    }
    if let (Some(column), None) = (column_of_surplus(text), comment) {
        let message = format!("only {MAX_TOKENS} fields are read");
        found.push(at(RuleId::TooManyFields, column, message).suggest("remove the rest"));
    }
    for (index, what) in NAMES {
        found.extend(name_finding(index, what, &tokens[index]));
    }
    for (index, token) in tokens.iter().enumerate() {
        let shown = String::from_utf8_lossy(token.text);
        match index {
            0 | 3 | 4 => {}
            1 | 2 => {
                found.extend((!is_readable(index, token)).then(|| bytes_finding(token, &shown)))
            }
            _ => found.extend(integer_finding(token, &shown)),
        }
    }
    found
}

fn empty_field(text: &[u8], has_comment: bool) -> Option<Finding> {
    let mut column = 1;
    for (index, field) in text.split(|&byte| byte == b',').enumerate() {
        if field.trim_ascii().is_empty() && !(has_comment && index >= MIN_TOKENS) {
            let is_last = column + field.len() > text.len();
            let what = if is_last { "is ignored" } else { "later fields move to the left" };
            let message = format!("field {} is empty: {what}", index + 1);
            let finding = Finding::new(RuleId::EmptyField, 0, column, message);
            return Some(
                finding.suggest("write the value; -1 means any where a wildcard is allowed"),
            );
        }
        column += field.len() + 1;
    }
    None
}

/// Column of the first field that is not read.
fn column_of_surplus(text: &[u8]) -> Option<usize> {
    let mut column = 1;
    let mut starts = text.split(|&byte| byte == b',').filter_map(|field| {
        let start = column;
        column += field.len() + 1;
        (!field.is_empty()).then_some(start)
    });
    starts.nth(MAX_TOKENS)
}

/// The known name that a token almost is: other case, quotes, a byte order mark, `_` or `-`.
pub(super) fn known_name(index: usize, token: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(token.strip_prefix(BOM).unwrap_or(token)).to_lowercase();
    let plain = |name: &str| name.replace(['_', '-'], "");
    let wanted = plain(text.trim_matches(['"', '\'', ' ', '\t']));
    let names: Vec<&'static str> = match index {
        0 => Collective::ALL.iter().map(|value| value.name()).collect(),
        3 => Algorithm::ALL.iter().map(|value| value.name()).collect(),
        _ => Protocol::ALL.iter().map(|value| value.name()).collect(),
    };
    names.into_iter().find(|name| plain(name) == wanted)
}

fn name_finding(index: usize, what: &str, token: &Token<'_>) -> Option<Finding> {
    let text = String::from_utf8_lossy(token.text);
    let error = match index {
        0 => text.parse::<Collective>().err(),
        3 => text.parse::<Algorithm>().err(),
        _ => text.parse::<Protocol>().err(),
    }?;
    let default = match index {
        0 => "allreduce",
        3 => "ring",
        _ => "simple",
    };
    let message = format!(
        "unknown {what} `{text}`: nccl-example reads it as {default}, rccl-builtin skips the row"
    );
    let finding = Finding::new(RuleId::UnknownName, 0, token.column, message);
    Some(match known_name(index, token.text) {
        Some(name) => finding.suggest(format!("write `{name}`")).fixable(),
        None => finding.suggest(format!("accepted: {}", error.accepted())),
    })
}

fn bytes_finding(token: &Token<'_>, shown: &str) -> Finding {
    let read = crate::cnum::strtoull(token.text);
    let message = format!(
        "`{shown}` is not a plain number of bytes; it is read as {}",
        crate::bytes::show(read)
    );
    let finding = Finding::new(RuleId::BadBytes, 0, token.column, message);
    match (intended_bytes(shown), shown) {
        (Some(bytes), _) => finding.suggest(format!("write {bytes}, if that is meant")),
        (None, "-1" | "*" | "any") => finding.suggest(format!(
            "bytes have no wildcard: write 0 as a minimum, {} as a maximum",
            u64::MAX
        )),
        (None, _) => finding.suggest("write decimal digits only"),
    }
}

/// What `32M`, `0x100` or `1e6` was probably meant to be, in bytes.
fn intended_bytes(text: &str) -> Option<u64> {
    let text = text.trim_matches(['"', '\'']).to_lowercase();
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok();
    }
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let shift = match suffix {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        _ => {
            let value =
                text.parse::<f64>().ok().filter(|v| v.fract() == 0.0 && (0.0..9e15).contains(v));
            return value.map(|value| value as u64);
        }
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

fn integer_finding(token: &Token<'_>, shown: &str) -> Option<Finding> {
    if shown.parse::<i32>().is_ok() {
        return None;
    }
    if let Some((number, ignored)) = number_with_text(shown) {
        let message = format!("`{}` behind {number} is ignored", ignored.trim());
        let finding = Finding::new(RuleId::TrailingText, 0, token.column + number.len(), message);
        return Some(finding.suggest("put comments on a line of their own"));
    }
    let read = crate::cnum::atoi(token.text);
    let message = format!("`{shown}` is not an integer; it is read as {read}");
    let finding = Finding::new(RuleId::BadInteger, 0, token.column, message);
    Some(finding.suggest("write digits, or -1 for any"))
}
