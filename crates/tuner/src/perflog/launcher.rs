//! What launchers and collectors put in front of a line: rank tags, time stamps, colours.

use std::sync::LazyLock;

use regex_lite::Regex;

/// A line without its prefixes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tagged {
    /// Which process it came from, as the launcher names it; empty where it does not say.
    pub(super) tag: String,
    /// The rest.
    pub(super) text: String,
}

/// Prefixes that name a process in their first group.
const TAGS: [&str; 4] = [
    r"^\[([^\]\s]*)\]<std(?:out|err|diag)>:? ?", // mpirun --tag-output
    r"^\[(\d+)\]:? ",                            // mpiexec -prepend-rank
    r"^ *(\d+): ",                               // srun --label
    r"^([A-Za-z0-9][A-Za-z0-9._/-]*) *\| ",      // compose, kubetail
];

/// Prefixes that say nothing about the process.
const MARKS: [&str; 3] = [
    r"^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?:? ",
    r"^(?:stdout|stderr) [FP] ", // container runtimes
    r"^> *",                     // quoted in a report
];

/// `host: `, which only pdsh and the like put before the tool's own lines.
const HOST: &str = r"^([A-Za-z0-9][A-Za-z0-9.-]*): ( *(?:#|\d+ +\d+ +[a-z]))";

/// Terminal colours.
const ESCAPES: &str = "\x1b\\[[0-9;]*[A-Za-z]";

fn compiled(pattern: &str) -> Option<Regex> {
    Regex::new(pattern).ok()
}

static TAG_PATTERNS: LazyLock<Vec<Regex>> =
    LazyLock::new(|| TAGS.iter().filter_map(|pattern| compiled(pattern)).collect());
static MARK_PATTERNS: LazyLock<Vec<Regex>> =
    LazyLock::new(|| MARKS.iter().filter_map(|pattern| compiled(pattern)).collect());
static HOST_PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| compiled(HOST));
static ESCAPE_PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| compiled(ESCAPES));

/// Takes all prefixes off a line.
pub(super) fn untag(line: &str) -> Tagged {
    let plain = match &*ESCAPE_PATTERN {
        Some(escapes) if line.contains('\x1b') => escapes.replace_all(line, ""),
        _ => line.into(),
    };
    let mut text: &str = &plain;
    let mut tag = String::new();
    // Each round takes one prefix off, so this ends with the line.
    while let Some((name, rest)) = prefix(text) {
        if let Some(name) = name {
            tag = format!("{tag}/{name}");
        }
        text = rest;
    }
    Tagged { tag, text: text.to_owned() }
}

/// The first prefix of a line: the process it names, if it names one, and the rest of the line.
fn prefix(text: &str) -> Option<(Option<&str>, &str)> {
    if let Some(found) = MARK_PATTERNS.iter().find_map(|mark| mark.find(head(text))) {
        return Some((None, &text[found.end()..]));
    }
    if let Some(found) = TAG_PATTERNS.iter().find_map(|tag| tag.captures(head(text))) {
        return Some((Some(found.get(1)?.as_str()), &text[found.get(0)?.end()..]));
    }
    let found = HOST_PATTERN.as_ref()?.captures(head(text))?;
    Some((Some(found.get(1)?.as_str()), &text[found.get(2)?.start()..]))
}

/// The part of a line that can hold a prefix; the patterns would walk through all of it.
fn head(text: &str) -> &str {
    const MAX_PREFIX: usize = 160;
    match text.char_indices().nth(MAX_PREFIX) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("[1,0]<stdout>:   8  2 float", "/1,0", "  8  2 float")]
    #[case("[1,0]<stderr>:x", "/1,0", "x")]
    #[case(" 3: # nThread", "/3", "# nThread")]
    #[case("[12] # nThread", "/12", "# nThread")]
    #[case("worker-0  | # x", "/worker-0", "# x")]
    #[case("2026-01-02T03:04:05.678Z # x", "", "# x")]
    #[case("2026-01-02T03:04:05Z stdout F [1,3]<stdout>:# x", "/1,3", "# x")]
    #[case("node1: #  size", "/node1", "#  size")]
    #[case("hostA: Test NCCL failure", "", "hostA: Test NCCL failure")]
    #[case("[hostA:10000] 15 more", "", "[hostA:10000] 15 more")]
    #[case("\x1b[32m# x\x1b[0m", "", "# x")]
    #[case("   1024   256  float", "", "   1024   256  float")]
    fn prefixes_come_off(#[case] line: &str, #[case] tag: &str, #[case] text: &str) {
        assert_eq!(untag(line), Tagged { tag: tag.to_owned(), text: text.to_owned() });
    }

    #[test]
    fn every_pattern_compiles() {
        assert_eq!(TAG_PATTERNS.len(), TAGS.len());
        assert_eq!(MARK_PATTERNS.len(), MARKS.len());
        assert!(HOST_PATTERN.is_some() && ESCAPE_PATTERN.is_some());
    }
}
