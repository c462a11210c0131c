//! A run's results as they come: a file that gains a line with every finished case, so that whatever ends
//! the run, the results of finished cases are on disk.
//!
//! Each line is a JSON value. The first says what ran; then comes one a case; the last one is there only
//! where the run came to its end. A line is written by one call, so a killed writer leaves at most one part
//! of a line at the end, which readers skip and mention.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use verdict::{CaseResult, Environment, Event, Summary, Verdict};

/// The name of the format.
const SCHEMA: &str = "rankcheck.journal/1";

/// A line of a journal.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    /// What ran; the first line.
    Run(Box<Header>),
    /// A finished case.
    Case {
        /// A hash of everything that the result rests on: the resolved case and the kernel's files. Zero
        /// for a host program's case.
        fingerprint: u64,
        /// Its result.
        result: Box<CaseResult>,
    },
    /// The run came to its end; the last line.
    Finished(Summary),
}

/// What ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Header {
    /// The name of the format.
    pub schema: String,
    /// The SHA-256 of the binary that ran.
    pub binary: String,
    /// The arguments that decide what cases run and how.
    pub arguments: Vec<String>,
    /// Where it ran.
    pub environment: Environment,
    /// How many cases were selected.
    pub selected: usize,
}

impl Header {
    /// The header of a run of this binary.
    pub(crate) fn of(
        arguments: Vec<String>,
        environment: Environment,
        selected: usize,
    ) -> anyhow::Result<Header> {
        let binary = std::fs::read("/proc/self/exe").context("reading this binary")?;
        let binary = kernels::compile::hash(&binary);
        Ok(Header { schema: SCHEMA.into(), binary, arguments, environment, selected })
    }

    /// How a run with header `now` differs from this one in what results rest on.
    pub(crate) fn differences(&self, now: &Header) -> Vec<String> {
        let mut differences = Vec::new();
        if self.binary != now.binary {
            differences.push(format!(
                "it was written by another build of rankcheck ({:.12}, this is {:.12})",
                self.binary, now.binary
            ));
        }
        if self.arguments != now.arguments {
            differences.push(format!(
                "it was run with `{}`, this is `{}`",
                self.arguments.join(" "),
                now.arguments.join(" ")
            ));
        }
        differences
    }
}

/// Writes a journal.
#[derive(Debug)]
pub(crate) struct Writer {
    file: File,
    path: PathBuf,
    fingerprints: HashMap<String, u64>,
    /// Names of cases that the file has already.
    written: HashSet<String>,
}

impl Writer {
    /// Starts a journal at `path`; `fingerprints` are those of the selected cases, by name.
    pub(crate) fn create(
        path: &Path,
        header: &Header,
        fingerprints: HashMap<String, u64>,
    ) -> anyhow::Result<Writer> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.with_context(|| format!("journal {}", path.display()))?;
        file.set_len(0).with_context(|| format!("journal {}", path.display()))?;
        let written = HashSet::new();
        let mut writer = Writer { file, path: path.to_owned(), fingerprints, written };
        writer.line(&Line::Run(Box::new(header.clone())))?;
        Ok(writer)
    }

    /// Goes on with a journal of which the first `whole_bytes` bytes are whole lines; results in `kept` are
    /// not written again.
    pub(crate) fn go_on(
        path: &Path,
        whole_bytes: u64,
        fingerprints: HashMap<String, u64>,
        kept: &[CaseResult],
    ) -> anyhow::Result<Writer> {
        let at = || format!("journal {}", path.display());
        let file = OpenOptions::new().append(true).open(path).with_context(at)?;
        file.set_len(whole_bytes).with_context(at)?;
        let written = kept.iter().map(CaseResult::name).collect();
        Ok(Writer { file, path: path.to_owned(), fingerprints, written })
    }

    /// Takes an event of the run.
    pub(crate) fn event(&mut self, event: &Event) -> anyhow::Result<()> {
        match event {
            Event::RunStarted { .. } => Ok(()),
            Event::CaseFinished(result) if self.written.contains(&result.name()) => Ok(()),
            Event::CaseFinished(result) => {
                let fingerprint = self.fingerprints.get(&result.name()).copied().unwrap_or(0);
                self.line(&Line::Case { fingerprint, result: result.clone() })
            }
            Event::RunFinished(summary) => self.line(&Line::Finished(summary.clone())),
        }
    }

    fn line(&mut self, line: &Line) -> anyhow::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.file.write_all(&text).with_context(|| format!("journal {}", self.path.display()))
    }

    /// Takes the journal away: everything in it stands in complete reports.
    pub(crate) fn remove(self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }
}

/// A journal that was read.
#[derive(Debug)]
pub(crate) struct Journal {
    /// What ran.
    pub header: Header,
    /// The finished cases in the order in which they finished, each with its fingerprint. Of a case that ran
    /// again after a resumption the later result is here.
    pub cases: Vec<(u64, CaseResult)>,
    /// How the run ended; absent where it was killed.
    pub summary: Option<Summary>,
    /// The number of the line that is not whole, where there is one.
    pub torn: Option<usize>,
    /// Bytes of the file up to the end of its last whole line.
    pub whole_bytes: u64,
}

impl Journal {
    /// Reads a journal.
    ///
    /// # Errors
    /// The file cannot be read, or a line but the last one is not a journal's.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Journal> {
        let at = |number: usize| format!("{}:{number}", path.display());
        let text = std::fs::read(path).with_context(|| path.display().to_string())?;
        let (mut header, mut summary, mut torn) = (None, None, None);
        let mut cases: Vec<(u64, CaseResult)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut whole_bytes = 0;
        for (index, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let number = index + 1;
            if !line.ends_with(b"\n") {
                torn = Some(number);
                break;
            }
            whole_bytes += line.len() as u64;
            match serde_json::from_slice(line) {
                Ok(Line::Run(run)) if index == 0 => header = Some(*run),
                Ok(Line::Case { fingerprint, result }) => {
                    // A run that was resumed had not come to its end after all.
                    summary = None;
                    match places.insert(result.name(), cases.len()) {
                        Some(place) => {
                            places.insert(result.name(), place);
                            cases[place] = (fingerprint, *result);
                        }
                        None => cases.push((fingerprint, *result)),
                    }
                }
                Ok(Line::Finished(finished)) => summary = Some(finished),
                Ok(Line::Run(_)) => anyhow::bail!("{}: a second run in one journal", at(number)),
                Err(error) => {
                    anyhow::bail!("{}: this is no line of a journal ({error})", at(number))
                }
            }
        }
        let header = header
            .with_context(|| format!("{}: an empty journal: nothing had begun", path.display()))?;
        if header.schema != SCHEMA {
            anyhow::bail!("{}: the format is {}, not {SCHEMA}", path.display(), header.schema);
        }
        Ok(Journal { header, cases, summary, torn, whole_bytes })
    }

    /// The run as events, as reporters take them. Cases that had not finished count as not run.
    pub(crate) fn events(&self) -> (Vec<Event>, Summary) {
        let environment = self.header.environment.clone();
        // A host program may choose its cases as it goes.
        let selected = self.header.selected.max(self.cases.len());
        let mut events = vec![Event::RunStarted { environment, selected }];
        let mut counted = Summary { selected, ..Summary::default() };
        for (_, result) in &self.cases {
            counted.add(result);
            counted.duration_s += result.duration_s;
            events.push(Event::CaseFinished(Box::new(result.clone())));
        }
        counted.not_run += selected.saturating_sub(self.cases.len());
        counted.interrupted = true;
        let summary = self.summary.clone().unwrap_or(counted);
        events.push(Event::RunFinished(summary.clone()));
        (events, summary)
    }

    /// The results that still hold: of cases that were judged to their end and whose fingerprint is the same
    /// now. Also the names of those that have changed since.
    pub(crate) fn still_true(self, now: &HashMap<String, u64>) -> (Vec<CaseResult>, Vec<String>) {
        let (mut kept, mut changed) = (Vec::new(), Vec::new());
        for (fingerprint, result) in self.cases {
            match now.get(&result.name()) {
                Some(_) if result.verdict == Verdict::NotRun => {}
                Some(current) if *current == fingerprint => kept.push(result),
                Some(_) => changed.push(result.name()),
                None => {}
            }
        }
        (kept, changed)
    }
}
