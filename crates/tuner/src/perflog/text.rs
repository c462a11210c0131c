//! Text logs: lines to streams, streams to runs, runs to rows and footers.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex_lite::Regex;

use super::footer::{average, out_of_bounds};
use super::half;
use super::header::{Header, group};
use super::launcher::untag;
use super::model::{Evidence, Footer, HalfKind, Unreadable};
use super::row::{self, Partial, Reading, find_lead};

/// Lines of other output after which a cut row is given up.
const MAX_NOISE_LINES: usize = 200;
/// Characters of a line that are quoted.
const MAX_QUOTE: usize = 160;

/// What tools, libraries and launchers write when something has died.
const DEATHS: [&str; 22] = [
    "Test NCCL failure",
    "Test CUDA failure",
    "Test HIP failure",
    "Test timeout",
    "Segmentation fault",
    "Caught signal",
    "exited on signal",
    "core dumped",
    "Bus error",
    "Aborted",
    "Killed",
    "MPI_ABORT was invoked",
    "MPI_Abort",
    "BAD TERMINATION",
    "srun: error",
    "slurmstepd: error",
    "DUE TO TIME LIMIT",
    "Memory access fault by GPU",
    "HSA_STATUS_ERROR",
    "terminate called",
    "unhandled cuda error",
    "unhandled system error",
];

static TOOL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"((?:nccl|rccl)-tests(?: version |: Version )\S+)").ok());
static COLLECTIVE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\b([a-z][a-z_]*)_perf\b").ok());
static RANK: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^#\s+Rank\s+(\d+)\s.*\bdevice\b").ok());

fn capture(pattern: &LazyLock<Option<Regex>>, text: &str) -> Option<String> {
    Some(pattern.as_ref()?.captures(text)?[1].to_owned())
}

/// The name in front of `_perf`, wherever it stands.
pub(super) fn collective(text: &str) -> Option<String> {
    if text.contains("_perf") { capture(&COLLECTIVE, text) } else { None }
}

/// Reads a text log.
pub(super) fn read(log: &str) -> Evidence {
    let mut evidence = Evidence::default();
    let mut streams: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
    for (index, line) in log.lines().enumerate() {
        let line = untag(line);
        evidence.note(&line.text);
        streams.entry(line.tag).or_default().push((index + 1, line.text));
    }
    for lines in streams.values() {
        let mut reader = Reader::new(&mut evidence);
        for (number, text) in lines {
            reader.line(*number, text);
        }
        reader.give_up("the log ends inside the row");
    }
    evidence.rows.sort_by_key(|row| row.line);
    evidence.unreadable.sort_by_key(|unreadable| unreadable.line);
    evidence
}

impl Evidence {
    /// What a line tells about the run as a whole.
    fn note(&mut self, text: &str) {
        let text = text.trim();
        let is_preamble = text.trim_start_matches(['#', ' ']).starts_with("nThread ");
        self.preambles += usize::from(is_preamble);
        self.is_perf_tool |= is_preamble
            || text.contains("Collective test starting")
            || text.contains("Out of bounds values")
            || DEATHS[..4].iter().any(|death| text.contains(death));
        if self.tool.is_none() && text.contains("-tests") {
            self.tool = capture(&TOOL, text);
        }
        if self.collective.is_none() {
            self.collective = collective(text);
        }
        if text.starts_with('#')
            && let Some(rank) = capture(&RANK, text).and_then(|rank| rank.parse::<usize>().ok())
        {
            self.ranks = self.ranks.max(rank.checked_add(1));
        }
        if text.contains("Reducing maxBytes") {
            self.notes.push(format!("the tool shortened the sweep: {}", quote(text)));
        }
        if let Some(message) = text.strip_prefix("# error:") {
            // The library's last message, which it also has after a good run.
            self.notes.push(format!("last library message: {}", quote(message)));
        } else if text.contains("Bitwise mismatches") && text.ends_with("FAILED") {
            self.mismatches.push(quote(text));
        } else if DEATHS.iter().any(|death| text.contains(death)) {
            self.deaths.push(quote(text));
        } else if text.contains("Test failure") {
            self.failures.push(quote(text));
        }
    }
}

/// Reads the lines of one process.
struct Reader<'a> {
    evidence: &'a mut Evidence,
    group: Vec<HalfKind>,
    header: Option<Header>,
    /// A row that was cut, and how many lines ago.
    partial: Option<(Partial, usize)>,
    /// Index of the current run's footer.
    section: Option<usize>,
}

impl<'a> Reader<'a> {
    fn new(evidence: &'a mut Evidence) -> Self {
        Self { evidence, group: Vec::new(), header: None, partial: None, section: None }
    }

    fn line(&mut self, number: usize, text: &str) {
        if let Some(header) = header_in(text, &self.group) {
            self.give_up("a header follows inside the row");
            self.begin(header);
        } else if self.footer(number, text) {
            self.give_up("the footer follows inside the row");
        } else if text.trim_start().starts_with('#') {
            let kinds = group(text);
            if !kinds.is_empty() {
                self.group = kinds;
            }
        } else {
            self.row(number, text);
        }
    }

    /// A header begins a run, or is one more world of a run that is under way.
    fn begin(&mut self, header: Header) {
        self.header = Some(header);
        self.evidence.is_perf_tool = true;
        let open = self.section.filter(|&index| !self.evidence.footers[index].is_complete());
        let index = open.unwrap_or_else(|| {
            self.evidence.footers.push(Footer::default());
            self.evidence.footers.len() - 1
        });
        self.section = Some(index);
        self.evidence.footers[index].worlds += 1;
    }

    fn footer(&mut self, number: usize, text: &str) -> bool {
        let (out_of_bounds, average) = (out_of_bounds(text), average(text));
        let is_footer = out_of_bounds.is_some() || average.is_some();
        if matches!(out_of_bounds, Some(Err(()))) || matches!(average, Some(Err(()))) {
            self.unreadable(number, "the footer cannot be read", text);
        }
        // A footer without a header is a piece of a run.
        let index = match (self.section, is_footer) {
            (_, false) => return false,
            (Some(index), true) => index,
            (None, true) => {
                self.evidence.footers.push(Footer::default());
                self.evidence.footers.len() - 1
            }
        };
        self.section = Some(index);
        let footer = &mut self.evidence.footers[index];
        footer.out_of_bounds.extend(out_of_bounds.and_then(Result::ok));
        footer.averages.extend(average.and_then(Result::ok));
        true
    }

    fn row(&mut self, number: usize, text: &str) {
        let Some(header) = self.header.clone() else {
            let tokens: Vec<&str> = text.split_whitespace().collect();
            if find_lead(&tokens).is_some_and(|start| tokens.len() >= start + 7) {
                self.evidence.is_perf_tool = true;
                self.unreadable(number, "no header names the columns", text);
            }
            return;
        };
        let section = self.section.unwrap_or_default();
        match row::read(text, number, section, &header) {
            Reading::Noise => self.not_a_row(number, text, &header),
            reading => {
                self.give_up("another row follows inside the row");
                self.take(reading, number, text);
            }
        }
    }

    /// A line without the fields that begin a row: the rest of a cut one, or other output.
    fn not_a_row(&mut self, number: usize, text: &str, header: &Header) {
        if let Some((partial, age)) = self.partial.take() {
            match row::go_on(&partial, text, header) {
                Reading::Noise if age < MAX_NOISE_LINES => self.partial = Some((partial, age + 1)),
                Reading::Noise => self.lost(&partial, "the rest of the row does not follow"),
                Reading::Unreadable(why) => self.lost(&partial, why),
                reading => self.take(reading, number, text),
            }
            return;
        }
        let numbers =
            text.split_whitespace().all(|token| half::number(token).is_some() || token == "N/A");
        let count = text.split_whitespace().count();
        let widths = [header.width_from(0), header.width_from(header.halves.len() - 1)];
        if numbers && widths.contains(&count) {
            self.unreadable(number, "numbers without the fields that begin a row", text);
        }
    }

    fn take(&mut self, reading: Reading, number: usize, text: &str) {
        match reading {
            Reading::Row(row) => self.evidence.rows.push(row),
            Reading::Partial(partial) => self.partial = Some((partial, 0)),
            Reading::Unreadable(why) => self.unreadable(number, why, text),
            Reading::Noise => {}
        }
    }

    fn give_up(&mut self, why: &str) {
        if let Some((partial, _)) = self.partial.take() {
            self.lost(&partial, why);
        }
    }

    fn lost(&mut self, partial: &Partial, why: &str) {
        self.unreadable(partial.row.line, why, &partial.text);
    }

    fn unreadable(&mut self, line: usize, why: &str, text: &str) {
        let text = quote(text);
        self.evidence.unreadable.push(Unreadable { line, why: why.to_owned(), text });
    }
}

/// A header in a line, with or without `#` and other output before it.
fn header_in(text: &str, group: &[HalfKind]) -> Option<Header> {
    let behind_mark = text.split_once('#').and_then(|(_, rest)| Header::parse(rest, group));
    behind_mark.or_else(|| Header::parse(text, group))
}

pub(super) fn quote(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(MAX_QUOTE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
