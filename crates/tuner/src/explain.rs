//! Why a message is handled as it is: the row that applies, and why the earlier ones do not.

use schemars::JsonSchema;
use serde::Serialize;

use crate::csv::{Row, Table};
use crate::evaluate::{Choice, Mismatch, Query, Unavailable};

/// What one row has to do with a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It does not match, for all these reasons.
    Mismatch(Vec<Mismatch>),
    /// It matches, but its algorithm and protocol are unavailable.
    Unavailable,
    /// It applies.
    Applies,
}

/// One row, looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Step {
    /// The row.
    #[serde(flatten)]
    pub row: Row,
    /// What it has to do with the query.
    pub verdict: Verdict,
}

/// What happens where one more choice is unavailable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Fallback {
    /// The row that then applies.
    pub row: Option<Row>,
    /// Its effect.
    pub choice: Choice,
}

/// The whole story of one query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Explanation {
    /// The question.
    pub query: Query,
    /// The rows up to and including the one that applies; all where none does.
    pub steps: Vec<Step>,
    /// What the library does.
    pub choice: Choice,
    /// What it does where that choice is unavailable too, and so on down to its own default.
    pub fallbacks: Vec<Fallback>,
}

/// Explains one query.
pub fn explain(table: &Table, query: Query, unavailable: Unavailable) -> Explanation {
    let mut steps = Vec::new();
    let mut applied = None;
    for row in &table.rows {
        let reasons = row.rule.mismatches(&query);
        let verdict = match reasons.is_empty() {
            false => Verdict::Mismatch(reasons),
            true if unavailable.contains(row.rule.algorithm, row.rule.protocol) => {
                Verdict::Unavailable
            }
            true => Verdict::Applies,
        };
        let applies = verdict == Verdict::Applies;
        steps.push(Step { row: *row, verdict });
        if applies {
            applied = Some(row.rule);
            break;
        }
    }
    let choice = Choice::of(table.dialect, applied.as_ref());
    let fallbacks = fallbacks(table, &query, unavailable, choice);
    Explanation { query, steps, choice, fallbacks }
}

fn fallbacks(
    table: &Table,
    query: &Query,
    mut unavailable: Unavailable,
    mut choice: Choice,
) -> Vec<Fallback> {
    let mut result = Vec::new();
    while let Some((algorithm, protocol)) = choice.pick {
        unavailable = unavailable.with(algorithm, protocol);
        let row = crate::evaluate(table, query, unavailable).map(|index| table.rows[index]);
        choice = Choice::of(table.dialect, row.as_ref().map(|row| &row.rule));
        result.push(Fallback { row, choice });
    }
    result
}

impl Mismatch {
    /// The reason in words, with both values.
    pub fn describe(self, row: &Row, query: &Query) -> String {
        let (rule, at) = (&row.rule, &query.situation);
        match self {
            Self::Collective => format!("for {}", rule.collective),
            Self::BelowMin => format!("starts at {} bytes", crate::bytes::show(rule.min_bytes)),
            Self::AboveMax => format!("ends at {} bytes", crate::bytes::show(rule.max_bytes)),
            Self::Nodes => format!("for {} nodes, not {}", rule.nodes, at.nodes),
            Self::Ranks => format!("for {} ranks, not {}", rule.ranks, at.ranks),
            Self::PipeOps => format!("for pipeOps {}, not {}", rule.pipe_ops, at.pipe_ops),
            Self::RegBuff => format!("for regBuff {}, not {}", rule.reg_buff, at.reg_buff),
        }
    }
}
