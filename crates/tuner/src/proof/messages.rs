//! What the library's tuner says in a log: one [`Message`] for each thing said, with its rank.

use std::fmt;
use std::sync::LazyLock;

use regex_lite::Regex;

use crate::perflog::untag;

/// One thing that a rank says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    /// Line of the log, from 1.
    pub(super) line: usize,
    /// Who says it: host, process and device, or the line where the log does not say.
    pub(super) rank: String,
    /// The reader that speaks: `TUNER/CsvTuner`.
    pub(super) reader: String,
    /// What it says.
    pub(super) event: Event,
}

/// What is said, as far as a proof needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    /// A file has been read.
    Loaded {
        /// Rows that were loaded.
        count: usize,
        /// The file, to the end of the message.
        file: String,
    },
    /// A file is going to be read.
    Using(String),
    /// A file holds no row.
    Empty(String),
    /// A file is not there.
    NotFound(String),
    /// A row was applied.
    Applied(Applied),
    /// One of these, cut or mixed with other output.
    Garbled(String),
}

/// A row that was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Applied {
    /// The reader that speaks.
    pub(super) reader: String,
    pub(super) collective: String,
    pub(super) bytes: u64,
    pub(super) algorithm: String,
    pub(super) protocol: String,
    /// As the row has it; -1 is the default.
    pub(super) channels: i32,
    /// What only the example plugins say.
    pub(super) details: Option<Details>,
}

/// The call, and the communicators that the applied row is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Details {
    pub(super) pipe_ops: i32,
    pub(super) reg_buff: i32,
    pub(super) nodes: i32,
    pub(super) ranks: i32,
}

impl fmt::Display for Applied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}, channels {}", self.algorithm, self.protocol, self.channels)
    }
}

fn compiled(pattern: &str) -> Option<Regex> {
    Regex::new(pattern).ok()
}

/// `host:pid:thread [device] NCCL INFO `, in front of what the library says.
static SPEAKER: LazyLock<Option<Regex>> =
    LazyLock::new(|| compiled(r"([^\s:]+):(\d+):\d+ \[(\d+)\] NCCL [A-Z]+ "));
/// `TUNER/CsvTuner: `.
static READER: LazyLock<Option<Regex>> = LazyLock::new(|| compiled(r"(TUNER/[A-Za-z0-9_]+): "));
/// The tuner line of librccl: it has no reader's name in front.
static USING: LazyLock<Option<Regex>> =
    LazyLock::new(|| compiled(r"Using built-in CSV tuner, config: (.*)$"));
static LOADED: LazyLock<Option<Regex>> =
    LazyLock::new(|| compiled(r"^Loaded (\d+) tuning configurations from (.+)$"));
static BUILTIN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"^Applied config for ([a-z]+), bytes=(\d+): algo=([a-z0-9_]+), proto=([a-z0-9_]+), channels=(-?\d+)$",
    )
});
static EXAMPLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"^Applied config for collType=([a-z]+), bytes=(\d+), pipeOps=(-?\d+), regBuff=(-?\d+): algo=([a-z0-9_]+), proto=([a-z0-9_]+), channels=(default|-?\d+) \(nodes=(-?\d+), ranks=(-?\d+)\)$",
    )
});

/// Everything that tuners say in a log.
pub(super) fn messages(log: &[u8]) -> Vec<Message> {
    let log = String::from_utf8_lossy(log);
    let mut found = Vec::new();
    for (index, line) in log.lines().enumerate() {
        if line.contains("TUNER/") || line.contains("CSV tuner") {
            let line = untag(line);
            read(&line.tag, &line.text, index + 1, &mut found);
        }
    }
    found
}

/// Ranks write without waiting for each other, so a line can hold several messages.
fn read(tag: &str, text: &str, line: usize, found: &mut Vec<Message>) {
    let (Some(speaker), Some(reader)) = (&*SPEAKER, &*READER) else {
        return;
    };
    let mut rest = text;
    let mut rank = format!("line {line}{tag}");
    while let Some(names) = speaker.captures(rest) {
        let whole = names.get(0).map_or(0..0, |all| all.range());
        said(&rest[..whole.start], reader, &rank, line, found);
        rank = format!("{}:{} [{}]", &names[1], &names[2], &names[3]);
        rest = &rest[whole.end..];
    }
    said(rest, reader, &rank, line, found);
}

/// The messages between two speakers.
fn said(text: &str, reader: &Regex, rank: &str, line: usize, found: &mut Vec<Message>) {
    let mut push = |reader: &str, event| {
        let (rank, reader) = (rank.to_owned(), reader.to_owned());
        found.push(Message { line, rank, reader, event });
    };
    let names: Vec<_> = reader.captures_iter(text).collect();
    let start =
        |index: usize| names.get(index).and_then(|n| n.get(0)).map_or(text.len(), |m| m.start());
    if let Some(using) = USING.as_ref().and_then(|using| using.captures(&text[..start(0)])) {
        push("TUNER/CsvTuner", Event::Using(using[1].trim_end().to_owned()));
    }
    for (index, name) in names.iter().enumerate() {
        let from = name.get(0).map_or(0, |all| all.end());
        let body = text[from..start(index + 1)].trim_end();
        if let Some(event) = event(&name[1], body) {
            push(&name[1], event);
        }
    }
}

/// What one message says; none where a proof has no use for it.
fn event(reader: &str, body: &str) -> Option<Event> {
    let garbled = || Some(Event::Garbled(body.to_owned()));
    if let Some(rest) = body.strip_prefix("No valid configurations found in ") {
        return Some(Event::Empty(rest.to_owned()));
    }
    if let Some(rest) = body.strip_prefix("Config file ") {
        let file = rest.split_once(" not found").map_or(rest, |(file, _)| file);
        return Some(Event::NotFound(file.to_owned()));
    }
    if body.starts_with("Loaded ") && !body.starts_with("Loaded config: ") {
        let Some(loaded) = LOADED.as_ref()?.captures(body) else {
            return garbled();
        };
        let Ok(count) = loaded[1].parse() else {
            return garbled();
        };
        return Some(Event::Loaded { count, file: loaded[2].to_owned() });
    }
    if body.starts_with("Applied") {
        return builtin(reader, body)
            .or_else(|| example(reader, body))
            .map(Event::Applied)
            .or_else(garbled);
    }
    None
}

fn builtin(reader: &str, body: &str) -> Option<Applied> {
    let said = BUILTIN.as_ref()?.captures(body)?;
    Some(Applied {
        reader: reader.to_owned(),
        collective: said[1].to_owned(),
        bytes: said[2].parse().ok()?,
        algorithm: said[3].to_owned(),
        protocol: said[4].to_owned(),
        channels: said[5].parse().ok()?,
        details: None,
    })
}

fn example(reader: &str, body: &str) -> Option<Applied> {
    let said = EXAMPLE.as_ref()?.captures(body)?;
    Some(Applied {
        reader: reader.to_owned(),
        collective: said[1].to_owned(),
        bytes: said[2].parse().ok()?,
        algorithm: said[5].to_owned(),
        protocol: said[6].to_owned(),
        channels: if &said[7] == "default" { -1 } else { said[7].parse().ok()? },
        details: Some(Details {
            pipe_ops: said[3].parse().ok()?,
            reg_buff: said[4].parse().ok()?,
            nodes: said[8].parse().ok()?,
            ranks: said[9].parse().ok()?,
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for pattern in [&SPEAKER, &READER, &USING, &LOADED, &BUILTIN, &EXAMPLE] {
            assert!(pattern.is_some());
        }
    }

    #[test]
    fn two_ranks_on_one_line_are_two_messages() {
        let line = "h:1:9 [0] NCCL INFO TUNER/CsvTuner: Loaded 2 tuning configurations from a.csv \
                    h:1:9 [1] NCCL INFO TUNER/CsvTuner: Loaded 2 tuning configurations from b.csv\n";
        let files: Vec<_> = messages(line.as_bytes())
            .into_iter()
            .map(|message| (message.rank, message.event))
            .collect();
        let loaded = |file: &str| Event::Loaded { count: 2, file: file.to_owned() };
        assert_eq!(
            files,
            [("h:1 [0]".to_owned(), loaded("a.csv")), ("h:1 [1]".to_owned(), loaded("b.csv"))]
        );
    }
}
