//! What each library reads from a tuner CSV: lines, tokens, rows.
//!
//! Follows the C sources token by token (`fgets` into 256 bytes, `strtok_r` on commas, blanks
//! trimmed, ten tokens kept, `strtoull` and `atoi`). Refuses nothing: a line that the library
//! drops is kept with the reason, because `lint` and `explain` talk about it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cnum::{atoi, strtoull};
use crate::names::{Algorithm, Collective, Dialect, Protocol};

/// Bytes of a line that one `fgets` into the libraries' 256-byte buffer returns at most.
pub const MAX_LINE_BYTES: usize = 255;
/// Tokens that a row needs (up to `nRanks`).
pub const MIN_TOKENS: usize = 8;
/// Tokens that are read; the rest of the line is ignored without a message.
pub const MAX_TOKENS: usize = 10;
/// In channels, nodes, ranks, pipe operations and registered buffers: any.
pub const WILDCARD: i32 = -1;

/// The content of one row, as the library holds it after loading.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Rule {
    /// The collective that the row is for.
    pub collective: Collective,
    /// Smallest message, in bytes, inclusive.
    pub min_bytes: u64,
    /// Largest message, in bytes, inclusive.
    pub max_bytes: u64,
    /// The algorithm to choose.
    pub algorithm: Algorithm,
    /// The protocol to choose.
    pub protocol: Protocol,
    /// Channels to use; -1 keeps the dialect's default.
    pub channels: i32,
    /// Nodes of the communicator, or -1 for any.
    pub nodes: i32,
    /// Ranks of the communicator, or -1 for any.
    pub ranks: i32,
    /// The library's estimate of operations in the pipeline (1 for a single call), or -1 for any.
    pub pipe_ops: i32,
    /// 1 where both buffers are registered, 0 where not, -1 for any.
    pub reg_buff: i32,
}

/// A row and where it stands.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct Row {
    /// Line in the file, from 1.
    pub line: usize,
    /// What it says.
    #[serde(flatten)]
    pub rule: Rule,
}

/// One comma-separated token, blanks trimmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// Byte column in the file's line, from 1.
    pub column: usize,
    /// Its bytes.
    pub text: &'a [u8],
}

/// Why a line gives no row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dropped {
    /// Fewer than [`MIN_TOKENS`] tokens; no message in either dialect.
    TooFewTokens(usize),
    /// A token of blanks only (`rccl-builtin`: warns "empty field").
    BlankToken,
    /// Names that are in no table (`rccl-builtin`: warns "unknown ... value").
    UnknownNames(Vec<&'static str>),
    /// A row behind the last for which the reader has made room (`rccl-builtin-v1`).
    NoRoom,
}

/// What the library makes of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// An empty line.
    Blank,
    /// A comment.
    Comment,
    /// A row that is loaded.
    Row(Rule),
    /// A line that is dropped.
    Dropped(Dropped),
}

/// One line as the library sees it: at most [`MAX_LINE_BYTES`] of a line of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// Line in the file, from 1.
    pub line: usize,
    /// Byte column in that line at which the chunk starts, from 1; above 1 for the tail of a line
    /// that was too long.
    pub column: usize,
    /// Its bytes, without the line feed.
    pub text: &'a [u8],
    /// What becomes of it.
    pub fate: Fate,
}

/// The rows that one dialect loads from a file, in file order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The reader that was modelled.
    pub dialect: Dialect,
    /// The rows, in the order in which they are tried.
    pub rows: Vec<Row>,
}

impl Table {
    /// Loads a file as the dialect's library would.
    pub fn load(dialect: Dialect, file: &[u8]) -> Self {
        let rows = chunks(dialect, file)
            .into_iter()
            .filter_map(|chunk| match chunk.fate {
                Fate::Row(rule) => Some(Row { line: chunk.line, rule }),
                Fate::Blank | Fate::Comment | Fate::Dropped(_) => None,
            })
            .collect();
        Self { dialect, rows }
    }
}

/// All lines of a file with what the dialect makes of each.
pub fn chunks(dialect: Dialect, file: &[u8]) -> Vec<Chunk<'_>> {
    let file = match dialect {
        // The file is read whole and then handed on as a C string.
        Dialect::RcclBuiltin => before_nul(file),
        Dialect::NcclExample
        | Dialect::RcclExample
        | Dialect::RcclBuiltinV2
        | Dialect::RcclBuiltinV1 => file,
    };
    let body = file.strip_suffix(b"\n").unwrap_or(file);
    let lines = body.split(|&byte| byte == b'\n').enumerate();
    let mut chunks: Vec<_> = lines
        .filter(|_| !file.is_empty())
        .flat_map(|(index, line)| pieces(line).map(move |(column, text)| (index + 1, column, text)))
        .map(|(line, column, text)| Chunk { line, column, text, fate: fate(dialect, text) })
        .collect();
    if dialect == Dialect::RcclBuiltinV1 {
        drop_without_room(&mut chunks);
    }
    chunks
}

/// Rooms are counted in a first pass, which takes every blank off before it looks for `#`; the
/// second pass takes none off, so that an indented comment can fill the room of a later row.
fn drop_without_room(chunks: &mut [Chunk<'_>]) {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let takes_room = |chunk: &&Chunk<'_>| {
        let first = before_nul(chunk.text).iter().find(|byte| !is_space(byte));
        first.is_some_and(|&byte| byte != b'#')
    };
    let room = chunks.iter().filter(takes_room).count();
    let is_row = |chunk: &&mut Chunk<'_>| matches!(chunk.fate, Fate::Row(_));
    for chunk in chunks.iter_mut().filter(is_row).skip(room) {
        chunk.fate = Fate::Dropped(Dropped::NoRoom);
    }
}

/// Cuts a line as repeated `fgets` would; an empty line stays one empty piece.
fn pieces(line: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let count = line.len().div_ceil(MAX_LINE_BYTES).max(1);
    (0..count).map(move |index| {
        let start = index * MAX_LINE_BYTES;
        (start + 1, &line[start..line.len().min(start + MAX_LINE_BYTES)])
    })
}

fn before_nul(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    &text[..end]
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Whether a line is a comment to its author: `#` is the first thing in it.
pub(crate) fn is_comment(line: &[u8]) -> bool {
    line.trim_ascii_start().starts_with(b"#")
}

/// What the dialect makes of one piece of a line (without its line feed).
pub fn fate(dialect: Dialect, piece: &[u8]) -> Fate {
    let text = match dialect {
        Dialect::RcclBuiltin => piece.strip_suffix(b"\r").unwrap_or(piece),
        Dialect::NcclExample
        | Dialect::RcclExample
        | Dialect::RcclBuiltinV2
        | Dialect::RcclBuiltinV1 => before_nul(piece),
    };
    let start = match dialect {
        Dialect::NcclExample | Dialect::RcclExample | Dialect::RcclBuiltinV1 => text.first(),
        Dialect::RcclBuiltin | Dialect::RcclBuiltinV2 => text.iter().find(|&&byte| !is_blank(byte)),
    };
    match start {
        None => Fate::Blank,
        Some(b'#') => Fate::Comment,
        Some(_) => match row(dialect, &tokens(text)) {
            Ok(rule) => Fate::Row(rule),
            Err(reason) => Fate::Dropped(reason),
        },
    }
}

/// `strtok_r(line, ",")` with blanks trimmed: separators collapse, so an empty field is no token;
/// at most [`MAX_TOKENS`] are kept.
pub fn tokens(text: &[u8]) -> Vec<Token<'_>> {
    let mut start = 0;
    text.split(|&byte| byte == b',')
        .map(|field| {
            let column = start + 1;
            start += field.len() + 1;
            (column, field)
        })
        .filter(|(_, field)| !field.is_empty())
        .take(MAX_TOKENS)
        .map(|(column, field)| {
            let lead = field.iter().take_while(|&&byte| is_blank(byte)).count();
            let tail = field[lead..].iter().rev().take_while(|&&byte| is_blank(byte)).count();
            Token { column: column + lead, text: &field[lead..field.len() - tail] }
        })
        .collect()
}

fn row(dialect: Dialect, tokens: &[Token<'_>]) -> Result<Rule, Dropped> {
    let strict = dialect.skips_unknown_names();
    if strict && tokens.iter().any(|token| token.text.is_empty()) {
        return Err(Dropped::BlankToken);
    }
    if tokens.len() < MIN_TOKENS {
        return Err(Dropped::TooFewTokens(tokens.len()));
    }
    let name = |index: usize| std::str::from_utf8(tokens[index].text).unwrap_or_default();
    let collective = name(0).parse().ok();
    let algorithm = name(3).parse().ok();
    let protocol = name(4).parse().ok();
    let unknown: Vec<_> = [
        ("colltype", collective.is_none()),
        ("algorithm", algorithm.is_none()),
        ("protocol", protocol.is_none()),
    ]
    .into_iter()
    .filter_map(|(what, unknown)| unknown.then_some(what))
    .collect();
    if strict && !unknown.is_empty() {
        return Err(Dropped::UnknownNames(unknown));
    }
    let optional = |index: usize| tokens.get(index).map_or(WILDCARD, |token| atoi(token.text));
    Ok(Rule {
        collective: collective.unwrap_or(Collective::AllReduce),
        min_bytes: strtoull(tokens[1].text),
        max_bytes: strtoull(tokens[2].text),
        algorithm: algorithm.unwrap_or(Algorithm::Ring),
        protocol: protocol.unwrap_or(Protocol::Simple),
        channels: atoi(tokens[5].text),
        nodes: atoi(tokens[6].text),
        ranks: atoi(tokens[7].text),
        pipe_ops: optional(8),
        reg_buff: optional(9),
    })
}

impl Rule {
    /// The rule in words, with the channels that `dialect` makes of it.
    pub fn told(&self, dialect: Dialect) -> String {
        let text = self.to_string();
        match (self.channels, dialect.preset_channels()) {
            (WILDCARD, 1) => text.replace("default channels", "1 channel"),
            _ => text,
        }
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let any = |value: i32| match value {
            WILDCARD => "any".to_owned(),
            _ => value.to_string(),
        };
        let range = crate::bytes::range(self.min_bytes, self.max_bytes);
        write!(f, "{} {range} {}/{}", self.collective, self.algorithm, self.protocol)?;
        match self.channels {
            WILDCARD => write!(f, ", default channels")?,
            1 => write!(f, ", 1 channel")?,
            many => write!(f, ", {many} channels")?,
        }
        write!(f, ", nodes {}, ranks {}", any(self.nodes), any(self.ranks))?;
        if (self.pipe_ops, self.reg_buff) != (WILDCARD, WILDCARD) {
            write!(f, ", pipeOps {}, regBuff {}", any(self.pipe_ops), any(self.reg_buff))?;
        }
        Ok(())
    }
}
