//! Text logs: lines to streams, streams to runs, runs to rows and footers.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex_lite::Regex;

use super::footer::{average, out_of_bounds};
use super::half;
use super::header::{Header, group};
use super::launcher::pieces;
use super::model::{Evidence, Footer, HalfKind, Unreadable};
use super::row::{self, Partial, Reading, find_lead};
use super::runs::{Announced, concluded};
use super::wrapped::{Broken, Joined};

/// Lines of other output after which a cut row is given up.
const MAX_NOISE_LINES: usize = 200;
/// Characters of a line that are quoted.
const MAX_QUOTE: usize = 160;

/// Why a row without its end is unreadable.
const BROKEN: &str = "the number of columns does not fit the header";

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
fn capture(pattern: &LazyLock<Option<Regex>>, text: &str) -> Option<String> {
    Some(pattern.as_ref()?.captures(text)?[1].to_owned())
}

/// Reads a text log.
pub(super) fn read(log: &str) -> Evidence {
    let mut evidence = Evidence::default();
    let mut streams: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
    let mut announcements = Vec::new();
    for (index, line) in without_numbers(log).into_iter().enumerate() {
        for piece in pieces(line) {
            evidence.note(&piece.text);
            let text = without_label(&piece.text, &piece.label);
            if text.contains("_perf") || text.trim_start().starts_with("#  Rank") {
                announcements.push((index + 1, text.clone()));
            }
            streams.entry(piece.tag).or_default().push((index + 1, text));
        }
    }
    for lines in streams.values() {
        let mut reader = Reader::new(&mut evidence, &announcements);
        for (number, text) in lines {
            reader.line(*number, text);
        }
        reader.give_up("the log ends inside the row");
    }
    evidence.rows.sort_by_key(|row| row.line);
    evidence.unreadable.sort_by_key(|unreadable| unreadable.line);
    evidence
}

/// The lines of a log without the numbers that an editor or `grep -n` has put in front of all.
fn without_numbers(log: &str) -> Vec<&str> {
    /// Fewer lines could count up by chance.
    const MIN_LINES: usize = 5;
    let split = |line| -> Option<(u64, &str)> {
        let line: &str = line;
        let text = line.trim_start();
        let end = text.find(|c: char| !c.is_ascii_digit())?;
        let rest = text[end..].strip_prefix([':', '\t'])?;
        Some((text[..end].parse().ok()?, rest))
    };
    let lines: Vec<&str> = log.lines().collect();
    let numbered: Option<Vec<_>> =
        lines.iter().filter(|line| !line.trim().is_empty()).map(|line| split(line)).collect();
    let counts_up = |numbered: &[(u64, &str)]| {
        numbered.len() >= MIN_LINES && numbered.windows(2).all(|pair| pair[0].0 < pair[1].0)
    };
    match numbered {
        Some(numbered) if counts_up(&numbered) => {
            lines.iter().map(|line| split(line).map_or(*line, |(_, rest)| rest)).collect()
        }
        _ => lines,
    }
}

/// A row without the label of its own line inside, which a launcher puts in front of every write.
fn without_label(text: &str, label: &str) -> String {
    let is_row = || find_lead(&text.split_whitespace().collect::<Vec<_>>()).is_some();
    let is_plain = label.chars().all(|c| c.is_ascii_alphanumeric());
    if is_plain || !text.contains(label) || !is_row() {
        return text.to_owned();
    }
    text.replace(label, "")
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
    /// Lines of all processes that name tools or list ranks.
    announcements: &'a [(usize, String)],
    /// What this process has said since its last header.
    announced: Announced,
    /// Line of its last header.
    last_header: usize,
    group: Vec<HalfKind>,
    header: Option<Header>,
    broken_header: Option<Broken>,
    /// A row that was cut between its pieces, and how many lines ago.
    partial: Option<(Partial, usize)>,
    /// A row that goes on in the next line.
    broken: Option<Broken>,
    /// Index of the current run's footer.
    section: Option<usize>,
}

impl<'a> Reader<'a> {
    fn new(evidence: &'a mut Evidence, announcements: &'a [(usize, String)]) -> Self {
        Self {
            evidence,
            announcements,
            announced: Announced::default(),
            last_header: 0,
            group: Vec::new(),
            header: None,
            broken_header: None,
            partial: None,
            broken: None,
            section: None,
        }
    }

    fn line(&mut self, number: usize, text: &str) {
        if let Some(header) = self.header_in(number, text) {
            self.give_up("a header follows inside the row");
            self.begin(number, header);
        } else if self.footer(number, text) {
            self.give_up("the footer follows inside the row");
        } else if text.trim_start().starts_with('#') {
            self.announced.note(text);
            self.concluded(text);
            let kinds = group(text);
            if !kinds.is_empty() {
                self.group = kinds;
            }
        } else if text.trim() == "in-place" && self.group == [HalfKind::OutOfPlace] {
            // The end of a line that was broken.
            self.group.push(HalfKind::InPlace);
        } else {
            self.announced.note(text);
            self.row(number, text);
        }
    }

    /// A header in a line, or one that ends in it.
    fn header_in(&mut self, number: usize, text: &str) -> Option<Header> {
        if let Some(header) = header_in(text, &self.group) {
            self.broken_header = None;
            return Some(header);
        }
        if let Some(broken) = self.broken_header.take() {
            let (whole, still) = broken.with_header_rest(text, &self.group);
            self.broken_header = still;
            if whole.is_some() {
                return whole;
            }
        }
        if let Some(broken) = Broken::header(number, text) {
            self.broken_header = Some(broken);
        }
        None
    }

    /// A header begins a run, or is one more world of a run that is under way.
    fn begin(&mut self, number: usize, header: Header) {
        self.header = Some(header);
        self.broken_header = None;
        self.evidence.is_perf_tool = true;
        let own = std::mem::take(&mut self.announced);
        let mut all = Announced::default();
        let between = |line: usize| (self.last_header + 1..=number).contains(&line);
        for (_, text) in self.announcements.iter().filter(|(line, _)| between(*line)) {
            all.note(text);
        }
        self.last_header = number;
        let open = self.section.filter(|&index| !self.evidence.footers[index].is_complete());
        let index = open.unwrap_or_else(|| {
            self.evidence.footers.push(Footer {
                collective: own.collective().or_else(|| all.collective()),
                ranks: own.ranks().or_else(|| all.ranks()),
                ..Footer::default()
            });
            self.evidence.footers.len() - 1
        });
        self.section = Some(index);
        self.evidence.footers[index].worlds += 1;
    }

    /// The tool says at its end, too, which one it is.
    fn concluded(&mut self, text: &str) {
        let (Some(name), Some(index)) = (concluded(text), self.section) else {
            return;
        };
        let run = &mut self.evidence.footers[index];
        match &run.collective {
            None => run.collective = Some(name),
            Some(first) if *first != name => {
                let why = format!("a run begins as {first}_perf and ends as {name}_perf");
                self.evidence.missing.push(why);
            }
            Some(_) => {}
        }
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
        if let Some(broken) = self.broken.take() {
            match broken.clone().with_rest(text, section, &header) {
                Joined::Row(row) => return self.evidence.rows.push(row),
                Joined::Still(longer) => {
                    self.broken = Some(longer);
                    return;
                }
                Joined::Not => self.unreadable(broken.line, BROKEN, &broken.first),
            }
        }
        match row::read(text, number, section, &header) {
            Reading::Unreadable(_) if Broken::row(number, text, &header).is_some() => {
                self.give_up("another row follows inside the row");
                self.broken = Broken::row(number, text, &header);
            }
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
                // Numbers of other output can be as many as the row's own: its own may still follow.
                Reading::Noise | Reading::Unreadable(_) if age < MAX_NOISE_LINES => {
                    self.partial = Some((partial, age + 1));
                }
                Reading::Noise | Reading::Unreadable(_) => {
                    self.lost(&partial, "the rest of the row does not follow");
                }
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
        if let Some(broken) = self.broken.take() {
            self.unreadable(broken.line, BROKEN, &broken.first);
        }
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
