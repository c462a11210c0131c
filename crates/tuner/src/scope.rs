//! Which communicators a statement is about: all of them, seen through the values that rows name.
//!
//! Rows can only tell communicators apart by the values they name, so one representative for "any
//! other value" stands for all the rest and a finite number of cells covers everything. Equal cells
//! are folded into [`Scope`]s, so that a table has one line for "any number of nodes".

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::csv::{Table, WILDCARD};
use crate::evaluate::Situation;
use crate::names::Collective;

/// Axes of a situation besides the collective.
const AXES: usize = 4;

/// The values of one axis that a scope covers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Values {
    /// Every value.
    Any,
    /// These.
    Only(Vec<i32>),
    /// Every value but these.
    AnyBut(Vec<i32>),
}

/// The communicators and calls that a statement is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Scope {
    /// The operation.
    pub collective: Collective,
    /// Numbers of nodes.
    pub nodes: Values,
    /// Numbers of ranks.
    pub ranks: Values,
    /// Numbers of pipeline operations.
    pub pipe_ops: Values,
    /// Kinds of buffers (0 or 1).
    pub reg_buff: Values,
}

/// The values of one axis that have to be told apart.
#[derive(Debug, Clone)]
struct Axis {
    named: BTreeSet<i32>,
    /// Stands for every value that is not named; `None` where the named ones are all there are.
    other: Option<i32>,
}

impl Axis {
    /// An axis of positive numbers (nodes, ranks, operations).
    fn counted(named: impl Iterator<Item = i32>) -> Self {
        let named: BTreeSet<i32> = named.filter(|&value| value >= 1).collect();
        let other = (1..).find(|value| !named.contains(value));
        Self { named, other }
    }

    fn cells(&self) -> impl Iterator<Item = i32> + Clone {
        self.named.iter().copied().chain(self.other)
    }

    fn values(&self, covered: &BTreeSet<i32>) -> Values {
        let but = || self.named.difference(covered).copied().collect();
        if self.cells().all(|value| covered.contains(&value)) {
            Values::Any
        } else if self.other.is_some_and(|other| covered.contains(&other)) {
            Values::AnyBut(but())
        } else {
            Values::Only(covered.iter().copied().collect())
        }
    }
}

/// All cells that the given tables can tell apart.
#[derive(Debug)]
pub struct Space {
    axes: [Axis; AXES],
    collectives: BTreeSet<Collective>,
}

impl Space {
    /// The space of all rows of all tables.
    pub fn of(tables: &[&Table]) -> Self {
        let rules = || tables.iter().flat_map(|table| &table.rows).map(|row| row.rule);
        let named = |axis: fn(&crate::Rule) -> i32| {
            rules().map(move |rule| axis(&rule)).filter(|&value| value != WILDCARD)
        };
        Self {
            axes: [
                Axis::counted(named(|rule| rule.nodes)),
                Axis::counted(named(|rule| rule.ranks)),
                Axis::counted(named(|rule| rule.pipe_ops)),
                Axis { named: BTreeSet::from([0, 1]), other: None },
            ],
            collectives: rules().map(|rule| rule.collective).collect(),
        }
    }

    /// One situation for each cell.
    pub fn cells(&self) -> Vec<Situation> {
        let [nodes, ranks, pipe_ops, reg_buff] = &self.axes;
        let mut cells = Vec::new();
        for &collective in &self.collectives {
            for nodes in nodes.cells() {
                for ranks in ranks.cells() {
                    for pipe_ops in pipe_ops.cells() {
                        cells.extend(reg_buff.cells().map(|reg_buff| Situation {
                            collective,
                            nodes,
                            ranks,
                            pipe_ops,
                            reg_buff,
                        }));
                    }
                }
            }
        }
        cells
    }

    /// Folds cells about which the same is said, one axis after the other.
    pub fn fold<T: Ord + Clone>(&self, said: Vec<(Situation, T)>) -> Vec<(Scope, T)> {
        type Block = [BTreeSet<i32>; AXES];
        let mut blocks: Vec<(Collective, Block, T)> = said
            .into_iter()
            .map(|(at, what)| {
                let cell = [at.nodes, at.ranks, at.pipe_ops, at.reg_buff];
                (at.collective, cell.map(|value| BTreeSet::from([value])), what)
            })
            .collect();
        for axis in (0..AXES).rev() {
            let mut folded: BTreeMap<(Collective, Block, T), BTreeSet<i32>> = BTreeMap::new();
            for (collective, mut block, what) in blocks {
                let values = std::mem::take(&mut block[axis]);
                folded.entry((collective, block, what)).or_default().extend(values);
            }
            blocks = folded
                .into_iter()
                .map(|((collective, mut block, what), values)| {
                    block[axis] = values;
                    (collective, block, what)
                })
                .collect();
        }
        blocks.sort();
        blocks
            .into_iter()
            .map(|(collective, block, what)| {
                let values = |axis: usize| self.axes[axis].values(&block[axis]);
                let [nodes, ranks, pipe_ops, reg_buff] = [0, 1, 2, 3].map(values);
                (Scope { collective, nodes, ranks, pipe_ops, reg_buff }, what)
            })
            .collect()
    }
}

impl Values {
    /// A value to run with: the first one named, else `default`, moved off the excluded ones.
    pub fn example(&self, default: i32) -> i32 {
        match self {
            Self::Any => default,
            Self::Only(values) => values.first().copied().unwrap_or(default),
            Self::AnyBut(values) => {
                (default..).find(|value| !values.contains(value)).unwrap_or(default)
            }
        }
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list =
            |values: &[i32]| values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        match self {
            Self::Any => f.write_str("any"),
            Self::Only(values) => f.write_str(&list(values)),
            Self::AnyBut(values) => write!(f, "any but {}", list(values)),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, nodes {}, ranks {}", self.collective, self.nodes, self.ranks)?;
        if self.pipe_ops != Values::Any {
            write!(f, ", pipeOps {}", self.pipe_ops)?;
        }
        if self.reg_buff != Values::Any {
            write!(f, ", regBuff {}", self.reg_buff)?;
        }
        Ok(())
    }
}
