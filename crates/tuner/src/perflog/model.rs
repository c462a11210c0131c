//! What a log holds: rows, footers, what could not be read, and the judgement.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The judgement on a log, worst reason first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Complete, every row read, every row checked by the tool, nothing wrong.
    Ok,
    /// A row or a footer says that elements were wrong.
    Wrong,
    /// Complete, but for some row the tool checked neither half.
    Unchecked,
    /// Complete, but a run had one rank only, so that nothing was communicated.
    NoCommunication,
    /// Parts are missing: no footer, rows cut off, lost or unreadable.
    Truncated,
    /// The tool or its launcher says that it died.
    Crashed,
    /// Nothing in it comes from a perf tool.
    NotACollective,
}

impl Status {
    /// The spelling in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Wrong => "wrong",
            Self::Unchecked => "unchecked",
            Self::NoCommunication => "no-communication",
            Self::Truncated => "truncated",
            Self::Crashed => "crashed",
            Self::NotACollective => "not-a-collective",
        }
    }
}

/// Whether send and receive buffer were the same.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum HalfKind {
    /// Separate buffers.
    OutOfPlace,
    /// One buffer.
    InPlace,
}

impl HalfKind {
    /// The spelling in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OutOfPlace => "out_of_place",
            Self::InPlace => "in_place",
        }
    }
}

/// What the tool's own check said of one half of a row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// `N/A`: not checked.
    NotChecked,
    /// `#wrong`: elements that differ, summed over ranks; printed with six digits at most.
    Wrong(f64),
    /// `error` of older versions: largest relative deviation, and whether it exceeds what the tool
    /// allows (marked with an asterisk, not a number, or above the limit for the type).
    Deviation {
        /// As printed; null where that is not a number.
        #[schemars(with = "Option<f64>")]
        value: f64,
        /// Above the limit.
        exceeds: bool,
    },
}

impl Check {
    /// Whether the tool found something wrong.
    pub fn is_wrong(self) -> bool {
        match self {
            Self::NotChecked => false,
            Self::Wrong(elements) => elements > 0.0,
            Self::Deviation { exceeds, .. } => exceeds,
        }
    }
}

/// One half of a row.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Half {
    /// Which half.
    pub kind: HalfKind,
    /// Microseconds an operation, averaged by the tool.
    pub time_us: f64,
    /// Bytes of the operation by time, in 1e9 bytes a second.
    pub algbw_gbs: f64,
    /// `algbw_gbs` times the collective's factor.
    pub busbw_gbs: f64,
    /// The tool's check.
    pub check: Check,
    /// Further columns, by the header's names (`hipevt`, `i_p99`, `proto`, ...), as printed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extra: Vec<(String, String)>,
    /// Half of the last printed digits.
    #[serde(skip)]
    pub(super) slack: Slack,
    /// Whether bandwidth follows from `time_us`: not where that is CPU time.
    #[serde(skip)]
    pub(super) time_is_wall: bool,
}

/// Half of the last printed digit of each number that is checked against the others.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Slack {
    pub(super) time_us: f64,
    pub(super) algbw_gbs: f64,
    pub(super) busbw_gbs: f64,
}

/// What a row shows of the library's choice (`-A 1` or `-M 1` of rccl-tests), as printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnChoice<'a> {
    /// The algorithm.
    pub algorithm: &'a str,
    /// The protocol.
    pub protocol: &'a str,
    /// The channels.
    pub channels: &'a str,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// Line of the log, from 1, on which the row begins; in a JSON log its number among the results.
    pub line: usize,
    /// Index of the run in the log, from 0.
    pub section: usize,
    /// Bytes of the whole operation.
    pub size_bytes: u64,
    /// Elements.
    pub count: u64,
    /// Element type, as printed.
    pub dtype: String,
    /// Reduction, as printed; `None` where the log has no such column.
    pub redop: Option<String>,
    /// Root; -1 for none; `None` where the log has no such column.
    pub root: Option<i64>,
    /// One or two halves.
    pub halves: Vec<Half>,
    /// Whether other output stood inside the row and was taken out.
    pub had_noise: bool,
}

impl Row {
    /// A column that the header names and that has no field of its own, as printed.
    pub fn extra(&self, name: &str) -> Option<&str> {
        let all = self.halves.iter().flat_map(|half| &half.extra);
        all.filter(|(column, _)| column == name).map(|(_, value)| value.as_str()).next()
    }

    /// The library's choice, where the row shows it.
    pub fn own_choice(&self) -> Option<OwnChoice<'_>> {
        Some(OwnChoice {
            algorithm: self.extra("algo")?,
            protocol: self.extra("proto")?,
            channels: self.extra("nchannels")?,
        })
    }
}

/// Something that is a row, or part of one, and cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unreadable {
    /// Line of the log, from 1.
    pub line: usize,
    /// What is missing or wrong.
    pub why: String,
    /// The line, shortened.
    pub text: String,
}

/// `# Out of bounds values : K OK|FAILED`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OutOfBounds {
    /// Threads and processes that saw a wrong element, summed over halves; not elements.
    pub count: u64,
    /// Whether the tool said `OK`.
    pub ok: bool,
}

/// `# Avg bus bandwidth : X [OK|FAILED]`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Average {
    /// Mean of all halves' bus bandwidth, in 1e9 bytes a second.
    pub busbw_gbs: f64,
    /// Whether it passed `NCCL_TESTS_MIN_BW`; `None` where that was not set.
    pub ok: Option<bool>,
    /// Half of the last printed digit.
    #[serde(skip)]
    pub(super) slack: f64,
}

/// What a log says of one run besides its rows; in a log of several worlds one footer a world.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Footer {
    /// The tool's name, without `_perf`; `None` where the log does not say which tool it was.
    pub collective: Option<String>,
    /// Ranks of one world; `None` where the log does not list all of them.
    pub ranks: Option<usize>,
    /// Worlds that printed a header: more than one where the tool was built without MPI.
    pub worlds: usize,
    /// Verdicts on the data.
    pub out_of_bounds: Vec<OutOfBounds>,
    /// Mean bandwidths.
    pub averages: Vec<Average>,
}

impl Footer {
    /// Whether every world has finished.
    pub fn is_complete(&self) -> bool {
        self.out_of_bounds.len() >= self.worlds && self.averages.len() >= self.worlds
    }
}

/// How a log is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// What the tool prints.
    #[default]
    Text,
    /// What `-J` writes.
    Json,
    /// The JSON of rccl-tests' `-Z json`: no footer.
    ReportJson,
    /// The CSV of rccl-tests' `-Z csv`: no footer.
    ReportCsv,
}

impl Format {
    /// Whether a complete log of this format has a footer.
    pub(super) const fn has_footer(self) -> bool {
        match self {
            Self::Text | Self::Json => true,
            Self::ReportJson | Self::ReportCsv => false,
        }
    }
}

/// Everything that was found in a log, before it is judged.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    pub(super) format: Format,
    pub(super) tool: Option<String>,
    pub(super) rows: Vec<Row>,
    pub(super) unreadable: Vec<Unreadable>,
    /// One a section.
    pub(super) footers: Vec<Footer>,
    /// Lines that say that something died.
    pub(super) deaths: Vec<String>,
    /// `Test failure` lines, which also follow wrong results.
    pub(super) failures: Vec<String>,
    /// Summaries that say that repeated runs of one size differ.
    pub(super) mismatches: Vec<String>,
    pub(super) notes: Vec<String>,
    /// `# nThread ...` lines: one a world.
    pub(super) preambles: usize,
    /// Whether anything came from a perf tool.
    pub(super) is_perf_tool: bool,
    /// What is missing from a JSON log.
    pub(super) missing: Vec<String>,
}

/// A log, read and judged.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Log {
    /// The judgement.
    pub status: Status,
    /// Why it is not `ok`, worst first.
    pub reasons: Vec<String>,
    /// What else a reader should know.
    pub notes: Vec<String>,
    /// The tool and its version, as it says.
    pub tool: Option<String>,
    /// How it is written.
    pub format: Format,
    /// The tool's name, without `_perf`, where all runs are of one tool; each run's own is in its
    /// footer.
    pub collective: Option<String>,
    /// Ranks of one world, where all runs have as many.
    pub ranks: Option<usize>,
    /// Whether the tool found its bandwidth below `NCCL_TESTS_MIN_BW`.
    pub below_min_bandwidth: bool,
    /// Rows in order.
    pub rows: Vec<Row>,
    /// What could not be read.
    pub unreadable: Vec<Unreadable>,
    /// One footer a run.
    pub footers: Vec<Footer>,
}

impl Log {
    /// The run that a row belongs to: its collective, its ranks, its footer.
    pub fn run_of(&self, row: &Row) -> Option<&Footer> {
        self.footers.get(row.section)
    }
}
