//! Whether a log proves that the library read the file and applied the expected row, on every rank.
//!
//! The library says so itself (`NCCL_DEBUG=INFO`, `NCCL_DEBUG_SUBSYS=TUNING`): once a rank which
//! file it has loaded and how many rows of it, once a call which row it has applied. Every line of
//! every rank counts, is compared to its end, and a rank that says nothing proves nothing. Rows of
//! the perf tool that show algorithm, protocol and channels are compared, too.

mod messages;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::csv::{Row, Table, WILDCARD};
use crate::evaluate::{Channels, Choice, Query, Unavailable, evaluate};
use crate::perflog;

use messages::{Applied, Event, Message, messages};

/// What a log has to prove.
#[derive(Debug, Clone, Copy)]
pub struct Expectation<'a> {
    /// The file's rows, as the library's reader loads them.
    pub table: &'a Table,
    /// The path of the file, as the library was given it.
    pub file: &'a str,
    /// The call that was made.
    pub query: Query,
    /// Whether the tool was told to show algorithm, protocol and channels of each row.
    pub own_columns: bool,
}

/// What a log proves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Proof {
    /// What the file says that the library does.
    pub choice: Choice,
    /// Line of the row that has to be applied; none where no row may be.
    pub line: Option<usize>,
    /// Ranks that say that they have loaded the file.
    pub loaded_by: usize,
    /// Ranks that say that they have applied the row.
    pub applied_by: usize,
    /// Rows of the perf tool that show the choice themselves.
    pub own_rows: usize,
    /// Why the log proves nothing, each once; empty where it proves the expectation.
    pub problems: Vec<String>,
}

impl Proof {
    /// Whether the log proves the expectation.
    pub fn holds(&self) -> bool {
        self.problems.is_empty()
    }
}

/// Problems of one kind, with the ranks that have it.
#[derive(Default)]
struct Problems(BTreeMap<String, Vec<String>>);

impl Problems {
    fn add(&mut self, what: String, who: &str) {
        let ranks = self.0.entry(what).or_default();
        if !ranks.iter().any(|rank| rank == who) {
            ranks.push(who.to_owned());
        }
    }

    /// One line each, with the first ranks named.
    fn told(self) -> Vec<String> {
        const MAX_NAMED: usize = 3;
        let told = |(what, ranks): (String, Vec<String>)| {
            let named = ranks.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", ");
            match ranks.len().saturating_sub(MAX_NAMED) {
                _ if named.is_empty() => what,
                0 => format!("{named}: {what}"),
                more => format!("{named} and {more} more: {what}"),
            }
        };
        self.0.into_iter().map(told).collect()
    }
}

/// Looks for the proof in a log.
pub fn prove(log: &[u8], expected: &Expectation<'_>) -> Proof {
    let messages = messages(log);
    let row = evaluate(expected.table, &expected.query, Unavailable::default())
        .map(|index| expected.table.rows[index]);
    let choice = Choice::of(expected.table.dialect, row.as_ref().map(|row| &row.rule));
    let mut problems = Problems::default();
    let loaded_by = loaded(&messages, expected, &mut problems);
    let applied_by = applied(&messages, expected, row.as_ref(), &mut problems);
    let own_rows = own_columns(log, expected, &choice, &mut problems);
    Proof {
        choice,
        line: row.map(|row| row.line),
        loaded_by,
        applied_by,
        own_rows,
        problems: problems.told(),
    }
}

/// Who has loaded the file, and nothing but the file.
fn loaded(messages: &[Message], expected: &Expectation<'_>, problems: &mut Problems) -> usize {
    let reader = expected.table.dialect.log_name();
    let rows = expected.table.rows.len();
    let mut ranks = BTreeSet::new();
    for message in messages {
        let place = format!("{} (line {})", message.rank, message.line);
        match &message.event {
            Event::Loaded { .. } | Event::Using(_) | Event::Empty(_) | Event::NotFound(_)
                if message.reader != reader =>
            {
                let dialect = expected.table.dialect;
                problems.add(format!("{} reads the file, not {dialect}", message.reader), &place);
            }
            Event::Loaded { file, .. } | Event::Using(file) | Event::Empty(file)
                if file != expected.file =>
            {
                problems.add(format!("reads {file}, not {}", expected.file), &place);
            }
            Event::Loaded { count, .. } if *count != rows => {
                problems.add(format!("has loaded {count} rows; {rows} are in the file"), &place);
            }
            Event::Empty(_) if rows > 0 => {
                problems.add(format!("has loaded no row; {rows} are in the file"), &place);
            }
            Event::Loaded { .. } | Event::Empty(_) => {
                ranks.insert(message.rank.clone());
            }
            Event::NotFound(file) => problems.add(format!("has not found {file}"), &place),
            Event::Garbled(text) => {
                problems.add(format!("says something that cannot be read: {text}"), &place);
            }
            Event::Using(_) | Event::Applied(_) => {}
        }
    }
    let needed = usize::try_from(expected.query.situation.ranks).unwrap_or(1);
    if ranks.len() < needed {
        let (said, file) = (ranks.len(), expected.file);
        problems.add(format!("{said} of {needed} ranks say that they have loaded {file}"), "");
    }
    ranks.len()
}

/// Who has applied the row, and no other row at this size.
fn applied(
    messages: &[Message],
    expected: &Expectation<'_>,
    row: Option<&Row>,
    problems: &mut Problems,
) -> usize {
    let Query { situation: at, bytes } = expected.query;
    let mut ranks = BTreeSet::new();
    for message in messages {
        let Event::Applied(applied) = &message.event else {
            continue;
        };
        if applied.collective != at.collective.name() || applied.bytes != bytes {
            continue;
        }
        let place = format!("{} (line {})", message.rank, message.line);
        let wrong = match row {
            None => vec![format!("applied {applied}; no row is for {bytes} bytes")],
            Some(row) => differences(applied, row, expected),
        };
        if wrong.is_empty() {
            ranks.insert(message.rank.clone());
        }
        for what in wrong {
            problems.add(what, &place);
        }
    }
    let needed = usize::try_from(at.ranks).unwrap_or(1);
    if let Some(row) = row
        && ranks.len() < needed
    {
        let said = ranks.len();
        problems.add(
            format!(
                "{said} of {needed} ranks say that they have applied line {} ({}) at {bytes} bytes",
                row.line, row.rule
            ),
            "",
        );
    }
    ranks.len()
}

/// Where a message differs from the row that it must be about.
fn differences(applied: &Applied, row: &Row, expected: &Expectation<'_>) -> Vec<String> {
    let at = expected.query.situation;
    let mut found = Vec::new();
    let mut compare = |what: &str, got: String, wanted: String| {
        if got != wanted {
            found.push(format!("applied {what} {got}, not {wanted} (line {})", row.line));
        }
    };
    compare("algorithm", applied.algorithm.clone(), row.rule.algorithm.name().to_owned());
    compare("protocol", applied.protocol.clone(), row.rule.protocol.name().to_owned());
    compare("channels", applied.channels.to_string(), row.rule.channels.to_string());
    if let Some(details) = applied.details {
        compare("pipeOps", details.pipe_ops.to_string(), at.pipe_ops.to_string());
        compare("regBuff", details.reg_buff.to_string(), at.reg_buff.to_string());
        compare("nodes", details.nodes.to_string(), row.rule.nodes.to_string());
        compare("ranks", details.ranks.to_string(), row.rule.ranks.to_string());
    }
    if applied.reader != expected.table.dialect.log_name() {
        let reader = &applied.reader;
        found.push(format!("{reader} applies rows, not {}", expected.table.dialect));
    }
    found
}

/// The rows of the tool at this size, of which there must be one, and what they show of the choice.
fn own_columns(
    log: &[u8],
    expected: &Expectation<'_>,
    choice: &Choice,
    problems: &mut Problems,
) -> usize {
    let bytes = expected.query.bytes;
    let log = perflog::read(log);
    let rows: Vec<_> = log.rows.iter().filter(|row| row.size_bytes == bytes).collect();
    if rows.is_empty() {
        problems.add(format!("the perf tool has no row of {bytes} bytes: nothing ran"), "");
    }
    let mut shown = 0;
    for row in rows {
        let place = format!("row of line {}", row.line);
        let Some(own) = row.own_choice() else {
            if expected.own_columns {
                problems.add("the row does not show algo, proto and nchannels".to_owned(), &place);
            }
            continue;
        };
        shown += 1;
        let plain = |name: &str| name.to_lowercase().replace('_', "");
        if let Some((algorithm, protocol)) = choice.pick {
            let wanted = [
                ("algo", own.algorithm, algorithm.name()),
                ("proto", own.protocol, protocol.name()),
            ];
            for (what, got, name) in wanted {
                if plain(got) != plain(name) {
                    problems.add(format!("the row shows {what} {got}, not {name}"), &place);
                }
            }
        }
        if let Channels::Exactly(count) = choice.channels
            && count != WILDCARD
            && own.channels != count.to_string()
        {
            let got = own.channels;
            problems.add(format!("the row shows {got} channels, not {count}"), &place);
        }
    }
    shown
}
