//! Mechanical repairs: what has one right answer is rewritten, and every edit is returned.
//!
//! Done: byte order mark, CR LF, indented comments, header rows, quotes, the spelling of names.
//! Everything else needs its author; bounds too, even where they only touch: the later row of the
//! two decides at the shared size wherever the earlier one's choice is unavailable.

use schemars::JsonSchema;
use serde::Serialize;

use crate::csv::tokens;
use crate::lint::line::{BOM, is_header, known_name};
use crate::lint::rules::RuleId;

/// One line that was rewritten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Edit {
    /// Line, from 1.
    pub line: usize,
    /// Why.
    pub rule: RuleId,
    /// The line before, with what is invisible escaped.
    pub before: String,
    /// The line after.
    pub after: String,
}

/// Repairs a file.
pub fn fix(file: &[u8]) -> (Vec<u8>, Vec<Edit>) {
    let mut edits = Vec::new();
    let mut lines: Vec<Vec<u8>> = file.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    for (index, line) in lines.iter_mut().enumerate() {
        // One repair can uncover another (a header inside quotes); none undoes one before it.
        let repairs =
            || LINE_REPAIRS.iter().filter(|(rule, _)| *rule != RuleId::ByteOrderMark || index == 0);
        while let Some((rule, after)) =
            repairs().find_map(|(rule, repair)| Some((*rule, repair(line)?)))
        {
            edits.push(edit(index + 1, rule, line, &after));
            *line = after;
        }
    }
    (lines.join(&b'\n'), edits)
}

fn edit(line: usize, rule: RuleId, before: &[u8], after: &[u8]) -> Edit {
    Edit { line, rule, before: shown(before), after: shown(after) }
}

fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(line).replace('\u{feff}', "\\ufeff").replace('\r', "\\r")
}

/// Returns the repaired line, or `None` where there is nothing to repair.
type LineRepair = fn(&[u8]) -> Option<Vec<u8>>;

/// In this order, over and over until none applies.
const LINE_REPAIRS: [(RuleId, LineRepair); 6] = [
    (RuleId::ByteOrderMark, |line| line.strip_prefix(BOM).map(<[u8]>::to_vec)),
    (RuleId::Crlf, |line| line.strip_suffix(b"\r").map(<[u8]>::to_vec)),
    (RuleId::IndentedComment, |line| {
        let text = line.trim_ascii_start();
        (text.starts_with(b"#") && text.len() < line.len()).then(|| text.to_vec())
    }),
    (RuleId::HeaderRow, |line| is_header(line).then(|| [b"# ", line].concat())),
    (RuleId::Quotes, |line| {
        let is_quote = |byte: &u8| matches!(byte, b'"' | b'\'');
        let quoted = !line.starts_with(b"#") && line.iter().any(is_quote);
        quoted.then(|| line.iter().copied().filter(|byte| !is_quote(byte)).collect())
    }),
    (RuleId::UnknownName, |line| {
        let mut after = line.to_vec();
        let tokens = if line.starts_with(b"#") { Vec::new() } else { tokens(line) };
        // From the right, so that columns to the left stay right.
        for index in [4, 3, 0] {
            let Some(token) = tokens.get(index) else {
                continue;
            };
            if let Some(name) = known_name(index, token.text) {
                let start = token.column - 1;
                after.splice(start..start + token.text.len(), name.bytes());
            }
        }
        (after != line).then_some(after)
    }),
];
