//! One thing that is wrong, located and explained.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::judge::region_map::RegionMap;
use crate::meaning::rank::Rank;

/// What kind of fault. The spelling is part of the machine interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each name says it; docs/src/findings.md has a section for each")]
pub enum FindingKind {
    OutputMismatch,
    Unwritten,
    WrittenTwice,
    PaddingOverwritten,
    SlackOverwritten,
    GuardOverwritten,
    InputModified,
    WorkspaceMismatch,
    IdleRankModified,
    ChangedAfterEnd,
    OrderDependent,
    DataRace,
    PacketOverwrite,
    CoarseMemory,
    OutOfBounds,
    MisalignedAccess,
    BarrierDivergence,
    Deadlock,
    Timeout,
    Crashed,
    MissingRank,
    ProtocolError,
    AsymmetricHeap,
    LaunchMismatch,
    KernelDidNotRun,
    CompileFailed,
    NotReproducible,
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = snake_case(self);
        f.write_str(&name)
    }
}

/// `OutputMismatch` -> `output_mismatch`, from the derived `Debug`, so that there is one list.
fn snake_case(kind: &FindingKind) -> String {
    let mut name = String::new();
    for letter in format!("{kind:?}").chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

/// Where in a heap.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// `output`, `input`, `workspace.flags`, `guard behind input`.
    pub region: String,
    /// Bytes from the heap's start.
    pub offset: u64,
    /// Row of the region's matrix.
    pub row: Option<u64>,
    /// Column of the region's matrix; at or beyond N it is padding.
    pub column: Option<u64>,
    /// Tile of the element, in its own rank's part.
    pub tile: Option<[u64; 2]>,
}

/// Which kernel thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Writer {
    /// Source file.
    pub file: String,
    /// Line in it.
    pub line: u32,
    /// The thread's rank.
    pub rank: Rank,
    /// Its block.
    pub block: u32,
    /// Its index in the block.
    pub thread: u32,
}

/// One more line about a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detail {
    /// What the text is about.
    pub label: DetailLabel,
    /// The line, without its label.
    pub text: String,
}

/// What a [`Detail`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DetailLabel {
    /// An atomic access that reads and writes.
    Update,
    /// An access that writes.
    Write,
    /// An access that reads.
    Read,
    /// Where a thread waits.
    WaitsAt,
    /// The flag that is waited for, or that two accesses should have been ordered by.
    Flag,
    /// Why it is wrong.
    Why,
    /// How much of what is wrong was looked at, where it was not all.
    LookedAt,
}

impl DetailLabel {
    /// The one spelling that is printed.
    pub const fn name(self) -> &'static str {
        match self {
            DetailLabel::Update => "update",
            DetailLabel::Write => "write",
            DetailLabel::Read => "read",
            DetailLabel::WaitsAt => "waits at",
            DetailLabel::Flag => "flag",
            DetailLabel::Why => "why",
            DetailLabel::LookedAt => "looked at",
        }
    }
}

impl fmt::Display for DetailLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What kind of fault.
    pub kind: FindingKind,
    /// On whose heap, or whose thread or process. `None` where it is about the case as a whole.
    pub rank: Option<Rank>,
    /// In which call of the case, from 0.
    pub call: Option<usize>,
    /// The first wrong byte. `None` where bytes are not the matter.
    pub place: Option<Place>,
    /// What belongs there.
    pub expected: Option<String>,
    /// What stands there.
    pub actual: Option<String>,
    /// How many bytes are wrong in this way (0 where bytes are not the matter).
    pub count: u64,
    /// Who wrote it, where that is known.
    pub writer: Option<Writer>,
    /// First and last column that is wrong, and how many rows are.
    pub extent: Option<Extent>,
    /// Where in the matrix it is wrong. `None` where it is about no matrix.
    pub region_map: Option<RegionMap>,
    /// What else belongs to it, in the order in which it is told.
    pub details: Vec<Detail>,
    /// A sentence for people.
    pub explanation: String,
    /// A cause that fits, with its evidence.
    pub looks_like: Option<String>,
}

/// How far a fault reaches in its matrix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// First and last wrong column.
    pub columns: [u64; 2],
    /// First and last wrong row.
    pub rows: [u64; 2],
    /// How many rows are wrong somewhere.
    pub row_count: u64,
}

impl Finding {
    /// A finding about the case, a rank or a call rather than about bytes.
    pub fn event(
        kind: FindingKind,
        rank: Option<Rank>,
        call: Option<usize>,
        explanation: impl Into<String>,
    ) -> Finding {
        Finding {
            kind,
            rank,
            call,
            place: None,
            expected: None,
            actual: None,
            count: 0,
            writer: None,
            extent: None,
            region_map: None,
            details: Vec::new(),
            explanation: explanation.into(),
            looks_like: None,
        }
    }

    /// Adds a line about it.
    pub fn detail(&mut self, label: DetailLabel, text: impl Into<String>) {
        self.details.push(Detail { label, text: text.into() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_machine_interface() {
        assert_eq!(FindingKind::OutputMismatch.to_string(), "output_mismatch");
        assert_eq!(FindingKind::IdleRankModified.to_string(), "idle_rank_modified");
        assert_eq!(FindingKind::Deadlock.to_string(), "deadlock");
    }
}
