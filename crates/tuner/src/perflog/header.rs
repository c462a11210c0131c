//! The header line: which columns a row has, and where its halves begin.

use super::model::HalfKind;

/// Columns before the halves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lead {
    Size,
    Count,
    Dtype,
    Redop,
    Root,
}

/// Columns of a half.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Column {
    Time,
    AlgBw,
    BusBw,
    /// `#wrong`: a count.
    Wrong,
    /// `error` or `res`: a deviation.
    Deviation,
    Other(String),
}

/// The columns of a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Header {
    pub(super) lead: Vec<Lead>,
    pub(super) halves: Vec<(HalfKind, Vec<Column>)>,
    /// Microseconds of one unit of the time column: 1, or 1000 in the first versions.
    pub(super) time_unit_us: f64,
    /// Whether bandwidth follows from the time column: not where that is CPU time.
    pub(super) time_is_wall: bool,
}

impl Header {
    /// Reads a header line (without its `#`). Halves take their kinds from `group`, the line above;
    /// two halves without one are out-of-place and in-place, as every version writes them.
    pub(super) fn parse(line: &str, group: &[HalfKind]) -> Option<Self> {
        let tokens: Vec<&str> = line.split_whitespace().collect();
        let is_time = |token: &str| matches!(token, "time" | "cputime");
        let first = tokens.iter().position(|token| is_time(token))?;
        let lead = tokens[..first].iter().map(|token| lead(token)).collect::<Option<Vec<_>>>()?;
        if lead.get(..3) != Some(&[Lead::Size, Lead::Count, Lead::Dtype]) {
            return None;
        }
        let mut columns: Vec<Vec<Column>> = Vec::new();
        for token in &tokens[first..] {
            match (is_time(token), columns.last_mut()) {
                (false, Some(half)) => half.push(column(token)),
                _ => columns.push(vec![Column::Time]),
            }
        }
        // A column for the time of day is the row's tail, not part of a half.
        let is_tail = |c: &Column| matches!(c, Column::Other(name) if name.contains("stamp") || name.contains("date"));
        columns.iter_mut().for_each(|half| half.retain(|column| !is_tail(column)));
        let needed = [Column::AlgBw, Column::BusBw];
        if !columns.iter().all(|half| needed.iter().all(|column| half.contains(column))) {
            return None;
        }
        let kinds = match (columns.len(), group) {
            (count, kinds) if count == kinds.len() => kinds.to_vec(),
            (2, _) => vec![HalfKind::OutOfPlace, HalfKind::InPlace],
            _ => return None,
        };
        Some(Self {
            lead,
            halves: kinds.into_iter().zip(columns).collect(),
            time_unit_us: if tokens[0] == "bytes" { 1000.0 } else { 1.0 },
            time_is_wall: tokens[first] == "time",
        })
    }

    /// Tokens of all halves from `first` on.
    pub(super) fn width_from(&self, first: usize) -> usize {
        self.halves[first..].iter().map(|(_, columns)| columns.len()).sum()
    }
}

/// The halves that the line above the header names, in its order.
pub(super) fn group(line: &str) -> Vec<HalfKind> {
    let kind = |word| match word {
        "out-of-place" => Some(HalfKind::OutOfPlace),
        "in-place" => Some(HalfKind::InPlace),
        _ => None,
    };
    line.split_whitespace().filter_map(kind).collect()
}

fn lead(token: &str) -> Option<Lead> {
    match token {
        "size" | "bytes" => Some(Lead::Size),
        "count" | "N" => Some(Lead::Count),
        "type" => Some(Lead::Dtype),
        "redop" | "op" => Some(Lead::Redop),
        "root" => Some(Lead::Root),
        _ => None,
    }
}

fn column(token: &str) -> Column {
    match token {
        "algbw" => Column::AlgBw,
        "busbw" => Column::BusBw,
        "#wrong" => Column::Wrong,
        "error" | "res" => Column::Deviation,
        other => Column::Other(other.to_owned()),
    }
}
