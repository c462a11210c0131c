//! What launchers and collectors put in front of a line: rank tags, time stamps, colours.

use std::sync::LazyLock;

use regex_lite::Regex;

/// A line without its prefixes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tagged {
    /// Which process it came from, as the launcher names it; empty where it does not say.
    pub(crate) tag: String,
    /// The rest.
    pub(crate) text: String,
    /// The prefix that names the process, as it stands in the line; empty where there is none.
    pub(crate) label: String,
}

/// Prefixes that name a process in their first group.
const TAGS: [&str; 6] = [
    r"^\[([^\]\s]*)\]<std(?:out|err|diag)>:? ?", // mpirun --tag-output
    r"^\[(\d+)\]:? ",                            // mpiexec -prepend-rank
    r"^ *(\d+): ",                               // srun --label
    r"^\[((?:rank|default)\d+)\]:? ?",           // torchrun
    r"^\(([^()]*\bpid=\d+[^()]*)\) ",            // ray
    r"^([A-Za-z0-9][A-Za-z0-9._/-]*) *\| ",      // compose, kubetail
];

/// Prefixes that say nothing about the process.
const MARKS: [&str; 7] = [
    r"^\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?\]?:? ",
    r"^\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?:? ",
    r"^\[?(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d(?: \d{4})?\]? (?:[\w.-]+ [\w./-]+(?:\[\d+\])?: )?",
    r"^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [\w./-]+:\d+\] ",
    r"^(?:\[(?:INFO|DEBUG|WARN|WARNING|ERROR)\]:? |(?:INFO|DEBUG|WARNING|ERROR):[\w.]*:? ?)",
    r"^(?:stdout|stderr) [FP] ", // container runtimes
    r"^> *",                     // quoted in a report
];

/// `host: `, which only pdsh and the like put before the tool's own lines.
const HOST: &str = r"^([A-Za-z0-9][A-Za-z0-9.-]*): ( *(?:#|\d+ +\d+ +[a-z]))";

/// Terminal colours and cursor commands, also where a paste has lost the escape character.
const ESCAPES: &str = "\x1b\\[[0-9;?]*[A-Za-z]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|(?:\\^\\[|␛)?\\[[0-9]+(?:;[0-9]+)*m";

/// A label of `mpirun --tag-output`, anywhere in a line.
const INNER: &str = r"\[[^\]\s\[]*\]<std(?:out|err|diag)>:";

fn compiled(pattern: &str) -> Option<Regex> {
    Regex::new(pattern).ok()
}

static TAG_PATTERNS: LazyLock<Vec<Regex>> =
    LazyLock::new(|| TAGS.iter().filter_map(|pattern| compiled(pattern)).collect());
static MARK_PATTERNS: LazyLock<Vec<Regex>> =
    LazyLock::new(|| MARKS.iter().filter_map(|pattern| compiled(pattern)).collect());
static HOST_PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| compiled(HOST));
static INNER_PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| compiled(INNER));
static ESCAPE_PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| compiled(ESCAPES));

/// A line as its processes wrote it: a launcher that labels every write can put several labels into
/// one line. What one process wrote is put together again.
pub(super) fn pieces(line: &str) -> Vec<Tagged> {
    let Some(inner) = INNER_PATTERN.as_ref().filter(|_| line.contains("]<std")) else {
        return vec![untag(line)];
    };
    let mut starts: Vec<usize> = inner.find_iter(line).map(|found| found.start()).collect();
    // What stands before the first label belongs to it: a time, a host.
    if let Some(first) = starts.first_mut() {
        *first = 0;
    }
    let ends = starts.iter().skip(1).copied().chain([line.len()]);
    let mut found: Vec<Tagged> = Vec::new();
    for (&start, end) in starts.iter().zip(ends) {
        let piece = untag(&line[start..end]);
        let name = |tag: &str| tag.rsplit('/').next().unwrap_or_default().to_owned();
        match found.iter_mut().find(|other| name(&other.tag) == name(&piece.tag)) {
            Some(same) => same.text += &piece.text,
            None => found.push(piece),
        }
    }
    if found.is_empty() { vec![untag(line)] } else { found }
}

/// Takes all prefixes off a line.
pub(crate) fn untag(line: &str) -> Tagged {
    let plain = match &*ESCAPE_PATTERN {
        Some(escapes) if line.contains('[') => escapes.replace_all(line, ""),
        _ => line.into(),
    };
    let mut text: &str = &plain;
    let (mut tag, mut label) = (String::new(), String::new());
    // Each round takes one prefix off, so this ends with the line.
    while let Some((name, rest)) = prefix(text) {
        if let Some(name) = name {
            tag = format!("{tag}/{name}");
            label = text[..text.len() - rest.len()].trim().to_owned();
        }
        text = rest;
    }
    Tagged { tag, text: text.to_owned(), label }
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
    #[case("[2026-05-04 03:02:01] # x", "", "# x")]
    #[case("03:02:01.250 # x", "", "# x")]
    #[case("May  4 03:02:01 node7 run[4711]: # x", "", "# x")]
    #[case("[Mon May  4 03:02:01 2026] # x", "", "# x")]
    #[case("I0504 03:02:01.123456 4711 run.cc:12] # x", "", "# x")]
    #[case("[INFO] # x", "", "# x")]
    #[case("[rank3]: # x", "/rank3", "# x")]
    #[case("(Worker pid=12, ip=10.0.0.1) # x", "/Worker pid=12, ip=10.0.0.1", "# x")]
    #[case("[32m# x[0m", "", "# x")]
    #[case("> > # x", "", "# x")]
    fn prefixes_come_off(#[case] line: &str, #[case] tag: &str, #[case] text: &str) {
        let found = untag(line);
        assert_eq!((found.tag.as_str(), found.text.as_str()), (tag, text));
    }

    #[test]
    fn every_pattern_compiles() {
        assert_eq!(TAG_PATTERNS.len(), TAGS.len());
        assert_eq!(MARK_PATTERNS.len(), MARKS.len());
        assert!(HOST_PATTERN.is_some() && ESCAPE_PATTERN.is_some() && INNER_PATTERN.is_some());
    }

    #[test]
    fn labels_inside_a_line_come_off() {
        let texts = |line: &str| {
            pieces(line).into_iter().map(|piece| (piece.tag, piece.text)).collect::<Vec<_>>()
        };
        let said = |tag: &str, text: &str| (tag.to_owned(), text.to_owned());
        assert_eq!(
            texts("[1,0]<stdout>:  8  2 float -1[1,0]<stdout>:  10.24"),
            [said("/1,0", " 8  2 float -1 10.24")]
        );
        assert_eq!(
            texts("[1,0]<stdout>:  8  2[1,3]<stderr>:WARN x[1,0]<stdout>:  float"),
            [said("/1,0", " 8  2 float"), said("/1,3", "WARN x")]
        );
    }
}
